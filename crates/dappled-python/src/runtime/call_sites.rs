//! Cache of call sites whose result is an operand of an operator and nothing else.
//!
//! Python code (`is_far_operand`) analyses the bytecode of a site once. A site has an id, by which
//! a deferred operation finds its source line when it reports a warning.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::c_int;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;

use super::errstate::{PyCallSite, is_library_module};
use super::fallback;
use super::frames::running_instruction;
use crate::config::MAX_CACHED_CALL_SITES;

/// Analysed instructions by code address and offset, and the call sites by id.
#[derive(Default)]
struct CallSiteCache {
    entries: HashMap<InstructionKey, CallSiteEntry, BuildHasherDefault<InstructionHasher>>,
    sites: Vec<Arc<PyCallSite>>,
    /// Number of ids before the first of `sites`.
    evicted: u32,
}

struct CallSiteEntry {
    /// Keeps the code alive, and with it its address unique.
    _code: Py<PyAny>,
    site: Option<OperandSite>,
}

/// A call site whose result is only an operand of an operator in the same expression.
#[derive(Clone, Copy)]
pub struct OperandSite {
    pub id: u32,
    /// Whether other code may run before the operator.
    pub is_far: bool,
}

static CACHE: Mutex<Option<CallSiteCache>> = Mutex::new(None);

fn cache() -> MutexGuard<'static, Option<CallSiteCache>> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the running call site; `None` if its result may be stored or seen elsewhere.
pub fn current_operand_site(py: Python<'_>) -> PyResult<Option<OperandSite>> {
    let Some(running) = running_instruction(py) else { return Ok(None) };
    let key = (running.code.as_ptr().addr(), running.offset);
    if let Some(entry) = cache().get_or_insert_default().entries.get(&key) {
        return Ok(entry.site);
    }
    analyze(&running.frame(), running.code, running.offset)
}

/// Returns the call site of an id, unless it was evicted.
pub fn call_site(id: u32) -> Option<Arc<dyn Any + Send + Sync>> {
    let guard = cache();
    let cache = guard.as_ref()?;
    let site = cache.sites.get(id.checked_sub(cache.evicted)? as usize)?;
    Some(site.clone())
}

/// Analyses an instruction, and caches the result.
fn analyze<'py>(
    frame: &Bound<'py, PyAny>,
    code: Bound<'py, PyAny>,
    offset: c_int,
) -> PyResult<Option<OperandSite>> {
    let py = frame.py();
    let globals = frame.getattr(intern!(py, "f_globals"))?;
    let is_far: Option<bool> = match is_library_module(&globals)? {
        true => None,
        false => {
            fallback::function(py, "may_run_code_before_use")?.call1((&code, offset))?.extract()?
        }
    };
    let site = match is_far {
        Some(_) => Some(PyCallSite::new(&globals, &code, offset.into_pyobject(py)?.into_any())?),
        None => None,
    };
    let key = (code.as_ptr().addr(), offset);
    let mut guard = cache();
    let cache = guard.get_or_insert_default();
    let evicted = (cache.entries.len() >= MAX_CACHED_CALL_SITES).then(|| cache.evict());
    let id = site.map(|site| cache.add(site));
    let operand_site = id.zip(is_far).map(|(id, is_far)| OperandSite { id, is_far });
    cache.entries.insert(key, CallSiteEntry { _code: code.unbind(), site: operand_site });
    drop(evicted);
    Ok(operand_site)
}

impl CallSiteCache {
    fn add(&mut self, site: PyCallSite) -> u32 {
        self.sites.push(Arc::new(site));
        self.evicted + self.sites.len() as u32 - 1
    }

    /// Empties the cache. The caller drops the contents, as that may run Python code.
    fn evict(&mut self) -> Self {
        let evicted = self.evicted + self.sites.len() as u32;
        std::mem::replace(self, Self { evicted, ..Self::default() })
    }
}

/// The address of a code object, and the offset of an instruction in it.
type InstructionKey = (usize, c_int);

/// Multiplicative hasher for small integer keys.
#[derive(Default)]
struct InstructionHasher(u64);

impl Hasher for InstructionHasher {
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
