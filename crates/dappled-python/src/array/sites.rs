//! Places in the user's program where operations are asked for: known by a mark, and with it whether what
//! is computed there is an operand of an operator, and nothing else.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::c_int;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libloading::os::unix::Library;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{ffi, intern};

use super::origin::{Place, is_ours};
use super::slow;

/// So many are remembered; then all are forgotten, and looked at again.
const MOST: usize = 4096;

/// What is known of instructions, by the code that they are in and where they are in it.
#[derive(Default)]
struct Sites {
    known: HashMap<Key, Known, BuildHasherDefault<Numbers>>,
    places: Vec<Arc<Place>>,
    /// How many marks were given before the first of these places.
    forgotten: u32,
}

struct Known {
    /// The code lives as long as its address is known.
    _code: Py<PyAny>,
    site: Option<Site>,
}

/// Where what is computed is an operand of an operator in the same expression and nothing else.
#[derive(Clone, Copy)]
pub struct Site {
    pub mark: u32,
    /// May other code run before the operator does?
    pub is_far: bool,
}

static SITES: Mutex<Option<Sites>> = Mutex::new(None);

fn sites() -> MutexGuard<'static, Option<Sites>> {
    SITES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known of the instruction that runs now; None if what it computes may become known to others.
pub fn here(py: Python<'_>) -> PyResult<Option<Site>> {
    let Some((frame, code, at)) = running(py) else { return Ok(None) };
    let key = (code.as_ptr().addr(), at);
    if let Some(known) = sites().get_or_insert_default().known.get(&key) {
        return Ok(known.site);
    }
    // SAFETY: the frame is running, and so alive.
    let frame = unsafe { Bound::from_borrowed_ptr(py, frame.cast()) };
    look(&frame, code, at)
}

/// The instruction that runs now, by its code and place in it.
pub fn instruction(py: Python<'_>) -> Option<(Bound<'_, PyAny>, c_int)> {
    running(py).map(|(_, code, at)| (code, at))
}

/// The frame that runs now, its code, and where in it.
fn running(py: Python<'_>) -> Option<(*mut ffi::PyFrameObject, Bound<'_, PyAny>, c_int)> {
    let instruction_of = frames(py)?;
    // SAFETY: a borrowed reference to the running frame, or null where there is none.
    let frame = unsafe { ffi::PyEval_GetFrame() };
    if frame.is_null() {
        return None;
    }
    // SAFETY: the frame is alive; a new reference to its code.
    let code = unsafe { Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(frame).cast()) };
    // SAFETY: as above; it only looks at the frame.
    let at = unsafe { instruction_of(frame) };
    Some((frame, code, at))
}

/// The place of a mark, unless it is forgotten.
pub fn place(mark: u32) -> Option<Arc<dyn Any + Send + Sync>> {
    let sites = sites();
    let sites = sites.as_ref()?;
    let place = sites.places.get(mark.checked_sub(sites.forgotten)? as usize)?;
    Some(place.clone())
}

/// Looks at an instruction for the first time.
fn look<'py>(
    frame: &Bound<'py, PyAny>,
    code: Bound<'py, PyAny>,
    at: c_int,
) -> PyResult<Option<Site>> {
    let py = frame.py();
    let globals = frame.getattr(intern!(py, "f_globals"))?;
    let is_far: Option<bool> = match is_ours(&globals)? {
        true => None,
        false => slow::function(py, "is_far_operand")?.call1((&code, at))?.extract()?,
    };
    let place = is_far.map(|_| Place::new(globals, &code, at)).transpose()?;
    let key = (code.as_ptr().addr(), at);
    let mut sites = sites();
    let sites = sites.get_or_insert_default();
    let gone = (sites.known.len() >= MOST).then(|| sites.forget());
    let mark = place.map(|place| sites.add(place));
    let site = mark.zip(is_far).map(|(mark, is_far)| Site { mark, is_far });
    sites.known.insert(key, Known { _code: code.unbind(), site });
    drop(gone);
    Ok(site)
}

impl Sites {
    fn add(&mut self, place: Place) -> u32 {
        self.places.push(Arc::new(place));
        self.forgotten + self.places.len() as u32 - 1
    }

    /// What was known: freeing it may run Python code, so it is not done here.
    fn forget(&mut self) -> Self {
        let forgotten = self.forgotten + self.places.len() as u32;
        std::mem::replace(self, Self { forgotten, ..Self::default() })
    }
}

/// The address of some code, and a place in it.
type Key = (usize, c_int);

/// Hashes numbers, soon.
#[derive(Default)]
struct Numbers(u64);

impl Hasher for Numbers {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(byte.into()));
    }

    fn write_i32(&mut self, number: i32) {
        self.write_usize(number as usize);
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// `PyFrame_GetLasti`, which every CPython from 3.11 on has, though not in its stable interface.
type InstructionOf = unsafe extern "C" fn(*mut ffi::PyFrameObject) -> c_int;

fn frames(py: Python<'_>) -> Option<InstructionOf> {
    static FOUND: PyOnceLock<Option<InstructionOf>> = PyOnceLock::new();
    // SAFETY: the function of this name has this type.
    let find = || unsafe { Library::this().get(b"PyFrame_GetLasti\0").ok().map(|found| *found) };
    *FOUND.get_or_init(py, find)
}
