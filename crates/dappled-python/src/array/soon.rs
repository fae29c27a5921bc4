//! Operations on small arrays whose results are operands of the next one and nothing else: put together,
//! and computed with the last of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use dappled::graph::{Array, Origin, Soon, Term};
use dappled_kernels::{DType, Op};
use pyo3::prelude::*;

use super::class::NdArray;
use super::commonest::number;
use super::exclusive::quickly;
use super::origin::{must_report_now, policy};
use super::session::{config, session};
use super::shapes::owned;
use super::sites;

/// From so many elements on: to put fewer together costs more than it saves. A test sets it to 1.
static LEAST: LazyLock<usize> =
    LazyLock::new(|| config().as_ref().map_or(usize::MAX, |config| config.fuse_from));

/// The mark of what is computed as it is asked for.
const NOW: u32 = u32::MAX;

/// What may never be an array, as it is an operand of the next operation; and the array, if it had to be.
pub struct Unfinished {
    soon: Box<Soon>,
    array: OnceLock<Array>,
    /// Has the next operation taken it, and is computed with it?
    is_taken: AtomicBool,
}

impl Unfinished {
    fn new(soon: Box<Soon>) -> Self {
        Self { soon, array: OnceLock::new(), is_taken: AtomicBool::new(false) }
    }

    /// The array, as somebody needs it.
    pub fn array(&self) -> &Array {
        if let Some(array) = self.array.get() {
            return array;
        }
        // Computed before it is set: another thread that waits for this one could have the GIL.
        let computed = Python::attach(|py| quickly(py, || self.soon.computed(origin)));
        self.array.get_or_init(|| computed.expect("an operation that is known to be native"))
    }

    /// What was put together, if it is no array yet.
    fn soon(&self) -> Option<&Soon> {
        self.array.get().is_none().then_some(&self.soon)
    }
}

impl Drop for Unfinished {
    /// What nobody took, because something raised before, has been asked for all the same: what it
    /// signals is told.
    fn drop(&mut self) {
        if self.array.get().is_none() && !*self.is_taken.get_mut() {
            Python::attach(|py| told(py, &self.soon));
        }
    }
}

/// Computes what is not needed any more, for what it signals, while an error is on its way.
fn told(py: Python<'_>, soon: &Soon) {
    let raised = PyErr::take(py);
    if let Err(error) = quickly(py, || soon.computed(origin)) {
        error.write_unraisable(py, None);
    }
    if let Some(raised) = raised {
        raised.restore(py);
    }
}

/// May operations on this be put together? What has too few elements is not looked at any longer.
#[inline]
pub fn concerns(object: &Bound<'_, PyAny>) -> bool {
    object.cast_exact::<NdArray>().is_ok_and(|own| {
        let own = own.get();
        own.as_unfinished().is_some() || own.own().is_some_and(|own| own.len() >= *LEAST)
    })
}

/// An operation whose result is an operand of the next, or which has such an operand; None if it is
/// neither, or not so simple.
pub fn asked<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some((dtype, is_unfinished)) = known_of(py, objects)? else { return Ok(None) };
    let site = sites::here(py)?;
    // Where a signal is to be reported it must be known before other code runs. (To look at names alone
    // is no other code: to ask each time would cost a tenth of the shortest expressions.)
    let waits = match site {
        Some(site) => !(site.is_far && must_report_now(py)?),
        None => false,
    };
    if !waits && !is_unfinished {
        return Ok(None);
    }
    let Some(terms) = terms(op, dtype, objects) else { return Ok(None) };
    let mark = site.filter(|_| waits).map_or(NOW, |site| site.mark);
    let Some(soon) = Soon::new(op, &terms[..objects.len()], mark) else { return Ok(None) };
    take(objects);
    Ok(Some(match waits {
        true => Bound::new(py, NdArray::unfinished(Unfinished::new(soon)))?.into_any(),
        false => owned(py, quickly(py, || soon.computed(origin))?)?,
    }))
}

/// The dtype of the first array, and whether one of them is unfinished; None if none is, and they are too
/// few or too many elements to be put together.
fn known_of(py: Python<'_>, objects: &[&Bound<'_, PyAny>]) -> PyResult<Option<(DType, bool)>> {
    let mut ours = objects.iter().filter_map(|object| object.cast_exact::<NdArray>().ok());
    let Some(own) = ours.next().map(Bound::get) else { return Ok(None) };
    if let Some(soon) = soon_of(own) {
        return Ok(Some((soon.dtype(), true)));
    }
    let Some(own) = own.own() else { return Ok(None) };
    if ours.any(|other| soon_of(other.get()).is_some()) {
        return Ok(Some((own.dtype(), true)));
    }
    let most = session(py)?.limits().at_once;
    let fits = (*LEAST..=most).contains(&own.len()) && !own.shape().is_empty();
    Ok(fits.then(|| (own.dtype(), false)))
}

/// Those that are unfinished are a part of what is put together now.
fn take(objects: &[&Bound<'_, PyAny>]) {
    let ours = objects.iter().filter_map(|object| object.cast_exact::<NdArray>().ok());
    for unfinished in ours.filter_map(|own| own.get().as_unfinished()) {
        unfinished.is_taken.store(true, Ordering::Relaxed);
    }
}

fn soon_of(own: &NdArray) -> Option<&Soon> {
    own.as_unfinished()?.soon()
}

/// The terms of an operation on one object, or on two; None if one is neither an array of ours nor a number.
fn terms<'a>(op: Op, dtype: DType, objects: &[&'a Bound<'_, PyAny>]) -> Option<[Term<'a>; 2]> {
    match *objects {
        [only] => term(op, dtype, only).map(|term| [term; 2]),
        [left, right] => Some([term(op, dtype, left)?, term(op, dtype, right)?]),
        _ => None,
    }
}

fn term<'a>(op: Op, dtype: DType, object: &'a Bound<'_, PyAny>) -> Option<Term<'a>> {
    match object.cast_exact::<NdArray>() {
        Ok(own) => match soon_of(own.get()) {
            Some(soon) => Some(Term::Soon(soon)),
            None => own.get().array().map(Term::Array),
        },
        Err(_) => number(op, dtype, object).map(Term::Number),
    }
}

fn origin(mark: u32) -> Option<Arc<Origin>> {
    let place = sites::place(mark)?;
    let policy = Python::attach(policy).ok()?;
    Some(Arc::new(Origin { policy, place: Some(place) }))
}
