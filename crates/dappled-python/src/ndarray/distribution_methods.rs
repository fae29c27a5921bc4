//! Distributions and local pieces of arrays: what NumPy does not have.

use dappled::Array;
use dappled::protocol;
use dappled::protocol::exchange::LabelsError;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::class::NdArray;
use crate::errors::Raise;
use crate::interop::buffer_export::{
    ExportedMemory, OpaqueDType, borrow_bytes, borrow_elements, numpy_array,
};
use crate::interop::opaque::bytes_and_dtype;
use crate::protocol::distribution::PyDistribution;
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

#[pymethods]
impl NdArray {
    /// The distribution of the elements over the ranks.
    ///
    /// >>> import dappled as np
    /// >>> np.zeros((4, 6)).distribution
    /// Distribution((4, 6), 'nn', grid_shape=(1, 1))
    #[getter]
    fn distribution(&self, py: Python<'_>) -> PyResult<PyDistribution> {
        let Some((array, item)) = self.memory() else {
            let shape: Vec<usize> = self.numpy_array(py)?.getattr("shape")?.extract()?;
            return Ok(session(py)?.replicated_distribution(&shape).into());
        };
        let distribution = match item {
            Some(_) => array.item_distribution(),
            None => array.distribution(),
        };
        distribution.map(PyDistribution::from).map_err(Raise::raise)
    }

    /// This rank's local piece as a NumPy array without a copy, padding included. Collective.
    #[getter]
    fn local<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Some((array, item)) = slf.get().memory() else { return slf.getattr("_held") };
        let are_items = item.is_some();
        let piece = run_locked(py, usize::MAX, || match are_items {
            true => array.item_piece(),
            false => array.local_piece(),
        })?;
        numpy_array(
            py,
            ExportedMemory::Loan(piece.loan),
            &piece.view,
            item,
            slf.get().is_writeable(),
        )
    }

    /// Return a copy in another distribution over the same ranks. Collective.
    ///
    /// `distribution` is a `Distribution`, or a letter for each axis ('b', 'c', 'n'). The elements are
    /// moved in rounds that need at most `DAPPLED_BUDGET` bytes beside the two arrays on each rank.
    ///
    /// >>> import dappled as np
    /// >>> a = np.arange(6.0)
    /// >>> b = a.redistribute('c')
    /// >>> b.local          # on one rank, all of it
    /// array([0., 1., 2., 3., 4., 5.])
    fn redistribute<'py>(
        &self,
        py: Python<'py>,
        distribution: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, NdArray>> {
        if let Some((array, item)) = self.memory() {
            let ndim = array.shape().len() - usize::from(item.is_some());
            let shape = PyTuple::new(py, &array.shape()[..ndim])?.into_any();
            let target = parse_dist(distribution, &shape)?.inner;
            return Bound::new(
                py,
                owned_array(py, redistribute_memory(py, array, item, &target)?, item),
            );
        }
        let held = self.numpy_array(py)?.cast::<PyUntypedArray>()?;
        let target = parse_dist(distribution, &held.getattr("shape")?)?.inner;
        let (memory, view) = borrow_bytes(held).ok_or_else(not_movable)?;
        let (array, item) =
            (Array::from_foreign(session(py)?, memory, view), held.dtype().unbind());
        Bound::new(
            py,
            NdArray::opaque(redistribute_memory(py, &array, Some(&item), &target)?, item),
        )
    }

    /// Exchange halos: update the padding of every piece, corners included. Collective.
    fn update_padding(&self, py: Python<'_>) -> PyResult<()> {
        match self.memory() {
            Some((array, _)) => run_locked(py, usize::MAX, || array.update_padding()),
            None => Ok(()),
        }
    }

    /// Explains how pending operations would be evaluated, by this rank or for a number of ranks.
    #[pyo3(signature = (ranks=None))]
    fn _explain(&self, py: Python<'_>, ranks: Option<u64>) -> PyResult<String> {
        let (array, _) = self.memory().ok_or_else(not_movable)?;
        run_locked(py, usize::MAX, || match ranks {
            Some(ranks) => array.explain_on(ranks),
            None => array.explain(),
        })
    }
}

/// The error for labels that the protocol allows but that are no indices of an array.
fn invalid_labels(labels: &LabelsError) -> protocol::ProtocolError {
    let expected = format!("exactly 0 to {}, each once, to make an array of it", labels.last);
    let error = protocol::ProtocolError::new(&protocol::rules::C07, expected);
    error.with_dimension(labels.axis).with_key("indices").with_value("other labels")
}

/// Redistributes an array. Collective.
pub fn redistribute_memory(
    py: Python<'_>,
    array: &Array,
    item: OpaqueDType<'_>,
    target: &protocol::Distribution,
) -> PyResult<Array> {
    let are_items = item.is_some();
    run_locked(py, usize::MAX, || match are_items {
        true => array.redistribute_items(target),
        false => array.redistribute(target),
    })
}

/// Creates an array that owns its memory, of a native or an opaque dtype.
pub fn owned_array(py: Python<'_>, array: Array, item: OpaqueDType<'_>) -> NdArray {
    match item {
        Some(descr) => NdArray::opaque(array, descr.clone_ref(py)),
        None => NdArray::owned(array),
    }
}

fn not_movable() -> PyErr {
    PyTypeError::new_err(
        "elements of dtype object cannot be moved between ranks: such an array is replicated",
    )
}

/// Parses `dist=` for an array of this shape: a `Distribution`, or a letter for each axis.
#[pyfunction(name = "placed")]
pub fn parse_dist<'py>(
    dist: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
) -> PyResult<PyDistribution> {
    let py = dist.py();
    if let Ok(distribution) = dist.cast::<PyDistribution>() {
        return Ok(distribution.get().inner.clone().into());
    }
    if !dist.is_instance_of::<PyString>() {
        let class = dist.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "dist must be a Distribution or a letter for each axis, such as 'bn', not '{class}'"
        )));
    }
    let ranks = session(py)?.fabric().size().into_pyobject(py)?.into_any();
    let class = py.get_type::<PyDistribution>();
    let options = PyDict::new(py);
    options.set_item("nprocs", ranks)?;
    let distribution = class.call((shape, dist), Some(&options))?;
    Ok(distribution.cast::<PyDistribution>()?.get().inner.clone().into())
}

/// Creates an array from the local piece of each rank, without a copy.
///
/// With `fresh`, nothing else refers to the memory, so the array owns it.
#[pyfunction]
#[pyo3(signature = (distribution, memory, fresh=false))]
pub fn from_piece<'py>(
    distribution: &Bound<'py, PyDistribution>,
    memory: &Bound<'py, PyUntypedArray>,
    fresh: bool,
) -> PyResult<Bound<'py, NdArray>> {
    let (py, target) = (memory.py(), &distribution.get().inner);
    check_ranks(target, session(py)?.fabric().size())?;
    target.check_labels().map_err(|error| invalid_labels(&error).raise())?;
    let (buffer, local, item) = match borrow_elements(memory) {
        Some((buffer, local)) => (buffer, local, None),
        None => {
            let (buffer, local) = borrow_bytes(memory).ok_or_else(not_movable)?;
            (buffer, local, Some(memory.dtype().unbind()))
        }
    };
    let bytes = local.shape[memory.ndim()..].iter();
    let target = bytes.fold(target.clone(), |target, &item| target.with_trailing(item as u64));
    let session = session(py)?;
    if fresh {
        let array = Array::from_owned_piece(session, target, buffer, local);
        return Bound::new(py, owned_array(py, array, item.as_ref()));
    }
    let writeable: bool = memory.getattr("flags")?.getattr("writeable")?.extract()?;
    let base = Some(memory.clone().into_any().unbind());
    let array = Array::from_piece(session, target, buffer, local).map_err(Raise::raise)?;
    Bound::new(py, NdArray::foreign(array, item, base, writeable))
}

fn check_ranks(target: &protocol::Distribution, ranks: u64) -> PyResult<()> {
    match target.nprocs() == ranks {
        true => Ok(()),
        false => {
            let nprocs = target.nprocs();
            let text = format!(
                "the distribution has {nprocs} processes, but the program runs on {ranks} ranks"
            );
            Err(PyValueError::new_err(text))
        }
    }
}

/// Returns this rank's block of an array broadcast to a shape, and the distribution of the blocks.
///
/// The blocks are those of a default-distributed array of that shape unless `blocks` is given. The
/// NumPy array is a read-only snapshot for the duration of a computation. Collective.
#[pyfunction(name = "part")]
#[pyo3(signature = (array, shape, blocks=None))]
pub fn local_block<'py>(
    array: &Bound<'py, NdArray>,
    shape: Vec<usize>,
    blocks: Option<&Bound<'py, PyDistribution>>,
) -> PyResult<(Bound<'py, PyAny>, PyDistribution)> {
    let py = array.py();
    let (memory, item) = bytes_and_dtype(array.get(), py)?.ok_or_else(not_movable)?;
    let item = item.as_ref();
    let usual = || session(py).map(|session| session.block_distribution(&shape));
    let blocks = blocks.map_or_else(usual, |blocks| Ok(blocks.get().inner.clone()))?;
    let bytes = &memory.shape()[memory.shape().len() - usize::from(item.is_some())..];
    let repeated = memory.broadcast_to(&[&shape[..], bytes].concat());
    let repeated = repeated.ok_or_else(|| {
        PyValueError::new_err("operands could not be broadcast to the shape of the block")
    })?;
    let target =
        bytes.iter().fold(blocks.clone(), |target, &item| target.with_trailing(item as u64));
    let (buffer, view) = run_locked(py, usize::MAX, || repeated.local_part(&target))?;
    Ok((numpy_array(py, ExportedMemory::Buffer(buffer), &view, item, false)?, blocks.into()))
}

/// Returns the default distribution of an array of this shape; None if it is replicated.
#[pyfunction(name = "blocks")]
pub fn default_blocks(
    py: Python<'_>,
    shape: Vec<usize>,
    itemsize: usize,
) -> PyResult<Option<PyDistribution>> {
    let session = session(py)?;
    Ok((!session.should_replicate(&shape, itemsize))
        .then(|| session.block_distribution(&shape).into()))
}
