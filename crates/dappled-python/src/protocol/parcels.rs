//! Messages between ranks as Python lists: `[(peer, [box, …]), …]`.

use dappled_protocol::exchange::Parcel;
use dappled_protocol::{CellRuns, Span, Transfer};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Converts parcels to a list of `(peer, boxes)`.
pub fn parcels<'py>(
    py: Python<'py>,
    parcels: impl Iterator<Item = Parcel>,
) -> PyResult<Bound<'py, PyList>> {
    let entry = |parcel: Parcel| -> PyResult<Bound<'py, PyTuple>> {
        let mut boxes = Vec::new();
        for axes in parcel.boxes() {
            add_boxes(py, &axes, &mut boxes)?;
        }
        (parcel.peer, PyList::new(py, boxes)?).into_pyobject(py)
    };
    PyList::new(py, parcels.map(entry).collect::<PyResult<Vec<_>>>()?)
}

/// Adds the product of the spans of all axes as boxes.
fn add_boxes<'py>(
    py: Python<'py>,
    axes: &[Transfer],
    boxes: &mut Vec<Bound<'py, PyTuple>>,
) -> PyResult<()> {
    let mut products: Vec<Vec<Bound<'py, PyAny>>> = vec![Vec::with_capacity(axes.len())];
    for axis in axes {
        let spans = axis
            .spans()
            .iter()
            .map(|part| span_or_positions(py, &part.own))
            .collect::<PyResult<Vec<_>>>()?;
        products = match &spans[..] {
            [one] => products
                .into_iter()
                .map(|mut head| {
                    head.push(one.clone());
                    head
                })
                .collect(),
            _ => products
                .iter()
                .flat_map(|head| {
                    spans.iter().map(|span| [&head[..], std::slice::from_ref(span)].concat())
                })
                .collect(),
        };
    }
    for product in products {
        boxes.push(PyTuple::new(py, product)?);
    }
    Ok(())
}

/// Converts a run to `(start, stop, step)`, or to its positions if it has no constant step.
fn span_or_positions<'py>(py: Python<'py>, runs: &CellRuns) -> PyResult<Bound<'py, PyAny>> {
    match runs.span() {
        Some(Span { start, stop, step }) => Ok((start, stop, step).into_pyobject(py)?.into_any()),
        None => {
            let cells: Vec<i64> = runs.iter().map(|cell| cell as i64).collect();
            Ok(PyArray1::from_vec(py, cells).into_any())
        }
    }
}
