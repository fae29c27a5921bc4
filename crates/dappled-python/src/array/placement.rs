//! Where an array lies: what NumPy does not have.

use dappled::graph::Array;
use dappled::protocol;
use dappled::protocol::exchange::LabelsError;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::class::NdArray;
use super::exclusive::exclusive;
use super::items::as_bytes;
use super::lending::{Item, Kept, borrowed, borrowed_items, numpy_array};
use super::session::session;
use crate::distribution::Distribution;
use crate::errors::Raise;

#[pymethods]
impl NdArray {
    /// How the elements are shared among the ranks.
    ///
    /// >>> import dappled as np
    /// >>> np.zeros((4, 6)).distribution
    /// Distribution((4, 6), 'nn', grid_shape=(1, 1))
    #[getter]
    fn distribution(&self, py: Python<'_>) -> PyResult<Distribution> {
        let Some((array, item)) = self.memory() else {
            let shape: Vec<usize> = self.held_array(py)?.getattr("shape")?.extract()?;
            return Ok(session(py)?.everywhere(&shape).into());
        };
        let found = match item {
            Some(_) => array.item_distribution(),
            None => array.distribution(),
        };
        found.map(Distribution::from).map_err(Raise::raise)
    }

    /// This rank's piece as NumPy's array, padding included: the memory itself. Collective.
    #[getter]
    fn local<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Some((array, item)) = slf.get().memory() else { return slf.getattr("_held") };
        let are_items = item.is_some();
        let piece = exclusive(py, usize::MAX, || match are_items {
            true => array.item_piece(),
            false => array.piece(),
        })?;
        numpy_array(py, Kept::Loan(piece.loan), &piece.view, item, slf.get().is_writeable())
    }

    /// A copy with the same values in another distribution over the same ranks: a `Distribution`, or
    /// a letter for each axis ('b', 'c', 'n'). It is moved in as many rounds as `DAPPLED_BUDGET` asks
    /// for, the bytes that may be used beside the two arrays on each rank. Collective.
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
            let target = placed(distribution, &shape)?.inner;
            return Bound::new(py, made(py, moved(py, array, item, &target)?, item));
        }
        let held = self.held_array(py)?.cast::<PyUntypedArray>()?;
        let target = placed(distribution, &held.getattr("shape")?)?.inner;
        let (memory, view) = borrowed_items(held).ok_or_else(not_native)?;
        let (array, item) = (Array::foreign(session(py)?, memory, view), held.dtype().unbind());
        Bound::new(py, NdArray::items(moved(py, &array, Some(&item), &target)?, item))
    }

    /// Brings the padding of every piece up to date, corners included. Collective.
    fn update_padding(&self, py: Python<'_>) -> PyResult<()> {
        match self.memory() {
            Some((array, _)) => exclusive(py, usize::MAX, || array.update_padding()),
            None => Ok(()),
        }
    }

    /// What would be done to compute what is pending: by this rank, or by one of so many.
    #[pyo3(signature = (ranks=None))]
    fn _explain(&self, py: Python<'_>, ranks: Option<u64>) -> PyResult<String> {
        let (array, _) = self.memory().ok_or_else(not_native)?;
        exclusive(py, usize::MAX, || match ranks {
            Some(ranks) => array.explain_on(ranks),
            None => array.explain(),
        })
    }
}

/// Labels that the protocol allows, and that name no elements of an array.
fn not_indices(wrong: &LabelsError) -> protocol::ProtocolError {
    let expected = format!("exactly 0 to {}, each once, to make an array of it", wrong.last);
    let error = protocol::ProtocolError::new(&protocol::rules::C07, expected);
    error.with_dimension(wrong.axis).with_key("indices").with_value("other labels")
}

/// An array in another distribution.
pub fn moved(
    py: Python<'_>,
    array: &Array,
    item: Item<'_>,
    target: &protocol::Distribution,
) -> PyResult<Array> {
    let are_items = item.is_some();
    exclusive(py, usize::MAX, || match are_items {
        true => array.redistributed_items(target),
        false => array.redistributed(target),
    })
}

/// An array that owns its memory, of items or of ours.
pub fn made(py: Python<'_>, array: Array, item: Item<'_>) -> NdArray {
    match item {
        Some(descr) => NdArray::items(array, descr.clone_ref(py)),
        None => NdArray::owned(array),
    }
}

fn not_native() -> PyErr {
    PyTypeError::new_err("objects can't be moved: an array of them is whole on every rank")
}

/// What `dist=` says of an array of this shape: a `Distribution`, or a letter for each axis.
#[pyfunction]
pub fn placed<'py>(dist: &Bound<'py, PyAny>, shape: &Bound<'py, PyAny>) -> PyResult<Distribution> {
    let py = dist.py();
    if let Ok(distribution) = dist.cast::<Distribution>() {
        return Ok(distribution.get().inner.clone().into());
    }
    if !dist.is_instance_of::<PyString>() {
        let class = dist.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a distribution is a Distribution or a letter for each axis, such as 'bn', not '{class}'"
        )));
    }
    let ranks = session(py)?.fabric().size().into_pyobject(py)?.into_any();
    let class = py.get_type::<Distribution>();
    let options = PyDict::new(py);
    options.set_item("nprocs", ranks)?;
    let made = class.call((shape, dist), Some(&options))?;
    Ok(made.cast::<Distribution>()?.get().inner.clone().into())
}

/// An array of pieces that lie in memory of NumPy's, one on each rank. No copy. `fresh` says that
/// nobody else has the memory.
#[pyfunction]
#[pyo3(signature = (distribution, memory, fresh=false))]
pub fn from_piece<'py>(
    distribution: &Bound<'py, Distribution>,
    memory: &Bound<'py, PyUntypedArray>,
    fresh: bool,
) -> PyResult<Bound<'py, NdArray>> {
    let (py, target) = (memory.py(), &distribution.get().inner);
    check_ranks(target, session(py)?.fabric().size())?;
    target.check_labels().map_err(|wrong| not_indices(&wrong).raise())?;
    let (buffer, local, item) = match borrowed(memory) {
        Some((buffer, local)) => (buffer, local, None),
        None => {
            let (buffer, local) = borrowed_items(memory).ok_or_else(not_native)?;
            (buffer, local, Some(memory.dtype().unbind()))
        }
    };
    let bytes = local.shape[memory.ndim()..].iter();
    let target = bytes.fold(target.clone(), |target, &item| target.with_trailing(item as u64));
    let session = session(py)?;
    if fresh {
        let array = Array::adopted_piece(session, target, buffer, local);
        return Bound::new(py, made(py, array, item.as_ref()));
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
            let over = target.nprocs();
            let text = format!("a distribution over {over} processes, in a program of {ranks}");
            Err(PyValueError::new_err(text))
        }
    }
}

/// This rank's part of an array repeated to a shape, in the blocks that an array of that shape has:
/// what an operation on elements needs; or in others. For NumPy to compute with, and to be dropped
/// then; and those blocks.
#[pyfunction]
#[pyo3(signature = (array, shape, blocks=None))]
pub fn part<'py>(
    array: &Bound<'py, NdArray>,
    shape: Vec<usize>,
    blocks: Option<&Bound<'py, Distribution>>,
) -> PyResult<(Bound<'py, PyAny>, Distribution)> {
    let py = array.py();
    let (memory, item) = as_bytes(array.get(), py)?.ok_or_else(not_native)?;
    let item = item.as_ref();
    let usual = || session(py).map(|session| session.blocks(&shape));
    let blocks = blocks.map_or_else(usual, |blocks| Ok(blocks.get().inner.clone()))?;
    let bytes = &memory.shape()[memory.shape().len() - usize::from(item.is_some())..];
    let repeated = memory.broadcast(&[&shape[..], bytes].concat());
    let repeated = repeated.ok_or_else(|| PyValueError::new_err("a shape that does not fit"))?;
    let target =
        bytes.iter().fold(blocks.clone(), |target, &item| target.with_trailing(item as u64));
    let (buffer, view) = exclusive(py, usize::MAX, || repeated.part_of_rank(&target))?;
    Ok((numpy_array(py, Kept::Buffer(buffer), &view, item, false)?, blocks.into()))
}

/// The blocks that an array of this shape has if nobody says; None where it is whole.
#[pyfunction]
pub fn blocks(
    py: Python<'_>,
    shape: Vec<usize>,
    itemsize: usize,
) -> PyResult<Option<Distribution>> {
    let session = session(py)?;
    Ok((!session.replicates(&shape, itemsize)).then(|| session.blocks(&shape).into()))
}
