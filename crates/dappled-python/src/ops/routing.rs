//! Rows that are sent to the ranks that own them, and halos of rows.

use std::sync::Mutex;

use dappled::Routing;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::internal_error;
use crate::ndarray::class::{NdArray, not_native};
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

/// Sends rows to the ranks that own them, and replies back.
#[pyclass(frozen, module = "dappled")]
pub struct RowExchange {
    routing: Routing,
    /// The number of rows that each rank has sent here.
    received: Mutex<Vec<usize>>,
}

#[pymethods]
impl RowExchange {
    /// Groups this rank's rows by the ranks that own them.
    #[new]
    fn new(py: Python<'_>, name: &str, owners: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let owners: Vec<usize> = owners.as_slice()?.iter().map(|&owner| owner as usize).collect();
        let ranks = session(py)?.fabric().size() as usize;
        let received = Mutex::new(vec![0; ranks]);
        Ok(Self { routing: Routing::new(name, &owners, ranks), received })
    }

    /// Sends rows of `width` bytes; returns those that arrive here, by rank and position.
    /// Collective.
    fn send<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray1<'py, u8>,
        width: usize,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let (session, rows) = (session(py)?, rows.as_slice()?);
        let parts = run_locked(py, usize::MAX, || self.routing.send(session, rows, width))?;
        let counts = parts.iter().map(|part| part.len() / width.max(1)).collect();
        *self.received.lock().expect("no holder panics") = counts;
        Ok(PyArray1::from_vec(py, parts.concat()))
    }

    /// Replies to each row with `width` bytes; returns the replies in the order of the sent rows.
    /// Collective.
    fn reply<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray1<'py, u8>,
        width: usize,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let (session, mut rest) = (session(py)?, rows.as_slice()?);
        let counts = self.received.lock().expect("no holder panics").clone();
        if counts.iter().sum::<usize>() * width != rest.len() {
            return Err(internal_error("a row exchange has a reply for each row"));
        }
        let part = |count: usize| {
            let (part, after) = rest.split_at(count * width);
            rest = after;
            part.to_vec()
        };
        let replies = counts.into_iter().map(part).collect();
        let output = run_locked(py, usize::MAX, || self.routing.reply(session, replies, width))?;
        Ok(PyArray1::from_vec(py, output))
    }
}

/// Returns the bytes of this rank's block of a row, preceded by up to `halo` elements before it.
///
/// Collective.
#[pyfunction]
pub fn block_with_halo<'py>(
    array: &Bound<'py, NdArray>,
    halo: usize,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let (py, (memory, _)) = (array.py(), array.get().memory().ok_or_else(not_native)?);
    let rows = run_locked(py, usize::MAX, || memory.block_with_halo(halo))?;
    Ok(PyArray1::from_vec(py, rows))
}
