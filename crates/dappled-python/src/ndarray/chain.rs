//! Fusion of operations on small arrays whose results are only operands of the next one.
//!
//! An intermediate result is a [`DeferredOperand`]; the last operation of the expression evaluates
//! the whole chain. The call site decides whether a result is used by an operator and nothing else
//! (see [`call_sites`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use dappled::{Array, ChainOperand, OpChain, RequestContext};
use dappled_kernels::{DType, Op};
use pyo3::prelude::*;

use super::class::NdArray;
use super::fast_path::exact_scalar;
use super::views::new_ndarray;
use crate::runtime::call_sites;
use crate::runtime::errstate::{policy, requires_eager_now};
use crate::runtime::lock::run_attached;
use crate::runtime::session::{config, session};

/// Elements from which chaining pays (`config.fuse_from`). Tests set it to 1.
static MIN_CHAIN_ELEMENTS: LazyLock<usize> =
    LazyLock::new(|| config().as_ref().map_or(usize::MAX, |config| config.fuse_from));

/// Id for operations that are evaluated immediately and therefore need no call site.
const NO_CALL_SITE: u32 = u32::MAX;

/// An intermediate result, and the array if one had to be materialised.
pub struct DeferredOperand {
    chain: Box<OpChain>,
    array: OnceLock<Array>,
    /// Whether the next operation includes this one.
    is_consumed: AtomicBool,
}

impl DeferredOperand {
    fn new(chain: Box<OpChain>) -> Self {
        Self { chain, array: OnceLock::new(), is_consumed: AtomicBool::new(false) }
    }

    /// Returns the array; the first call evaluates the chain.
    pub fn array(&self) -> &Array {
        if let Some(array) = self.array.get() {
            return array;
        }
        // Evaluated before the cell is set: another thread, which waits for the cell, could hold
        // the GIL.
        let computed =
            Python::attach(|py| run_attached(py, || self.chain.evaluate(origin_of_site)));
        self.array.get_or_init(|| computed.expect("an operation that is known to be native"))
    }

    /// Returns the chain if it has not been evaluated.
    fn pending(&self) -> Option<&OpChain> {
        self.array.get().is_none().then_some(&self.chain)
    }
}

impl Drop for DeferredOperand {
    /// Reports the floating-point warnings of an operand that an exception has orphaned.
    fn drop(&mut self) {
        if self.array.get().is_none() && !*self.is_consumed.get_mut() {
            Python::attach(|py| report_abandoned(py, &self.chain));
        }
    }
}

/// Evaluates an abandoned operand for its floating-point warnings; keeps the exception in flight.
fn report_abandoned(py: Python<'_>, chain: &OpChain) {
    let in_flight = PyErr::take(py);
    if let Err(error) = run_attached(py, || chain.evaluate(origin_of_site)) {
        error.write_unraisable(py, None);
    }
    if let Some(in_flight) = in_flight {
        in_flight.restore(py);
    }
}

/// Returns whether an operand is an intermediate result of a chain.
#[inline]
pub fn is_deferred(object: &Bound<'_, PyAny>) -> bool {
    object.cast_exact::<NdArray>().is_ok_and(|array| array.get().as_deferred().is_some())
}

/// Returns whether an operation on this many elements may start a chain.
#[inline]
pub fn may_chain(elements: usize) -> bool {
    elements >= *MIN_CHAIN_ELEMENTS
}

/// Appends an operation to a chain, or evaluates the chain with this operation as its last one.
///
/// Returns `None` if no operand is deferred and the result may not be, or if an operand is not
/// native.
pub fn chain_operation<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some((dtype, is_deferred)) = chain_dtype(py, objects)? else { return Ok(None) };
    let site = call_sites::current_operand_site(py)?;
    // If errstate asks for immediate reports, they must come before any other code runs. Loading a
    // name is no other code: the check would cost a tenth of the shortest expressions.
    let may_defer = match site {
        Some(site) => !(site.is_far && requires_eager_now(py)?),
        None => false,
    };
    if !may_defer && !is_deferred {
        return Ok(None);
    }
    let Some(terms) = terms(op, dtype, objects) else { return Ok(None) };
    let site_id = site.filter(|_| may_defer).map_or(NO_CALL_SITE, |site| site.id);
    let Some(chain) = OpChain::try_new(op, &terms[..objects.len()], site_id) else {
        return Ok(None);
    };
    mark_consumed(objects);
    Ok(Some(match may_defer {
        true => Bound::new(py, NdArray::deferred(DeferredOperand::new(chain)))?.into_any(),
        false => new_ndarray(py, run_attached(py, || chain.evaluate(origin_of_site))?)?,
    }))
}

/// Returns the dtype of the first array, and whether an operand is deferred.
///
/// Returns `None` if no operand is deferred and the number of elements is not in the range for
/// chains.
fn chain_dtype(py: Python<'_>, objects: &[&Bound<'_, PyAny>]) -> PyResult<Option<(DType, bool)>> {
    let mut arrays = objects.iter().filter_map(|object| object.cast_exact::<NdArray>().ok());
    let Some(array) = arrays.next().map(Bound::get) else { return Ok(None) };
    if let Some(chain) = pending_chain(array) {
        return Ok(Some((chain.dtype(), true)));
    }
    let Some(array) = array.elements() else { return Ok(None) };
    if arrays.any(|other| pending_chain(other.get()).is_some()) {
        return Ok(Some((array.dtype(), true)));
    }
    let most = session(py)?.limits().eager_max;
    let fits = (*MIN_CHAIN_ELEMENTS..=most).contains(&array.len()) && !array.shape().is_empty();
    Ok(fits.then(|| (array.dtype(), false)))
}

/// Marks deferred operands as part of the new chain.
fn mark_consumed(objects: &[&Bound<'_, PyAny>]) {
    let arrays = objects.iter().filter_map(|object| object.cast_exact::<NdArray>().ok());
    for operand in arrays.filter_map(|array| array.get().as_deferred()) {
        operand.is_consumed.store(true, Ordering::Relaxed);
    }
}

fn pending_chain(array: &NdArray) -> Option<&OpChain> {
    array.as_deferred()?.pending()
}

/// Returns the terms of one or two operands; `None` if one is neither an array nor a number.
fn terms<'a>(
    op: Op,
    dtype: DType,
    objects: &[&'a Bound<'_, PyAny>],
) -> Option<[ChainOperand<'a>; 2]> {
    match *objects {
        [only] => term(op, dtype, only).map(|term| [term; 2]),
        [left, right] => Some([term(op, dtype, left)?, term(op, dtype, right)?]),
        _ => None,
    }
}

fn term<'a>(op: Op, dtype: DType, object: &'a Bound<'_, PyAny>) -> Option<ChainOperand<'a>> {
    match object.cast_exact::<NdArray>() {
        Ok(array) => match pending_chain(array.get()) {
            Some(chain) => Some(ChainOperand::Chain(chain)),
            None => array.get().array().map(ChainOperand::Array),
        },
        Err(_) => exact_scalar(op, dtype, object).map(ChainOperand::Scalar),
    }
}

fn origin_of_site(site_id: u32) -> Option<Arc<RequestContext>> {
    let site = call_sites::call_site(site_id)?;
    let policy = Python::attach(policy).ok()?;
    Some(Arc::new(RequestContext { errstate: policy, call_site: Some(site) }))
}
