//! Copies, casts, and views of the real and imaginary parts.

use dappled::view;
use dappled::{Array, EagerSource, OtherOperand, Temporary, cast_in_c_order, eager_buffer};
use dappled_kernels::{Axes, Casting, DTypeKind, Op, View, can_cast};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyEllipsis, PyFloat, PyInt, PyTuple};

use super::class::{ArrayValue, NdArray, read_element};
use super::ufunc::submit;
use super::views::{new_ndarray, reversed_axes};
use crate::interop::buffer_export::export_to_numpy;
use crate::interop::{dtypes, scalars};
use crate::runtime::fallback;
use crate::runtime::lock::{run_attached, run_locked};

/// An argument that is true or false by Python's rules, such as 0 or 1.
struct Truthy(bool);

impl FromPyObject<'_, '_> for Truthy {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        object.is_truthy().map(Truthy)
    }
}

/// Returns whether an object is an instance of a Python number class.
fn is_number_instance(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyComplex>()
}

/// Copies an array so that its axes have this order in memory.
fn copy_with_axis_order(py: Python<'_>, array: &Array, order: &[usize]) -> PyResult<Array> {
    if order.is_sorted() {
        return run_locked(py, array.view().len(), || array.copy());
    }
    let transposed = array.transposed(order);
    let copy = run_locked(py, transposed.view().len(), || transposed.copy())?;
    Ok(copy.transposed(&view::inverse_permutation(order)))
}

/// Returns the axis order that `order='C'`, `'F'`, `'A'` or `'K'` means for a copy of a view.
pub fn axis_order_for(view: &View, letter: char) -> PyResult<Axes<usize>> {
    let ndim = view.shape.len();
    let is_f = || view.transposed().is_contiguous() && !view.is_contiguous();
    match letter {
        'C' | 'c' => Ok((0..ndim).collect()),
        'F' | 'f' => Ok(reversed_axes(ndim)),
        'A' | 'a' => Ok(if is_f() { reversed_axes(ndim) } else { (0..ndim).collect() }),
        'K' | 'k' => Ok(view::copy_order(view).into()),
        _ => Err(PyValueError::new_err(format!(
            "order must be one of 'C', 'F', 'A', or 'K' (got '{letter}')"
        ))),
    }
}

/// Copies an array in the memory order of NumPy's letter.
pub fn copy_array<'py>(slf: &Bound<'py, NdArray>, order: char) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let Some(array) = slf.get().array() else {
        return fallback::function(py, "method")?.call1((slf, "copy", (order,)));
    };
    new_ndarray(py, copy_with_axis_order(py, array, &axis_order_for(array.view(), order)?)?)
}

#[pymethods]
impl NdArray {
    /// Return a copy, in C order by default. The memory is copied on the first write to either
    /// array.
    #[pyo3(signature = (order=None), text_signature = "($self, order='C')")]
    fn copy<'py>(slf: &Bound<'py, Self>, order: Option<char>) -> PyResult<Bound<'py, PyAny>> {
        copy_array(slf, order.unwrap_or('C'))
    }

    /// Return a copy cast to another dtype; the cast may be deferred.
    #[pyo3(
        signature = (dtype, order=None, casting="unsafe", subok=Truthy(true), copy=Truthy(true)),
        text_signature = "($self, dtype, order='K', casting='unsafe', subok=True, copy=True)"
    )]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyAny>,
        order: Option<char>,
        casting: &str,
        subok: Truthy,
        copy: Truthy,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, order) = (slf.py(), order.unwrap_or('K'));
        let by_numpy = || -> PyResult<Bound<'py, PyAny>> {
            let options = PyDict::new(py);
            options.set_item("order", order)?;
            options.set_item("casting", casting)?;
            options.set_item("subok", subok.0)?;
            options.set_item("copy", copy.0)?;
            fallback::function(py, "method")?.call1((slf, "astype", (dtype,), options))
        };
        let (Some(array), Some(to)) = (slf.get().array(), dtypes::from_object(dtype)?) else {
            return by_numpy();
        };
        let rule = match casting {
            "no" | "equiv" => Casting::No,
            "safe" => Casting::Safe,
            "same_kind" => Casting::SameKind,
            "unsafe" => Casting::Unsafe,
            _ => return by_numpy(),
        };
        let warns = array.dtype().kind() == DTypeKind::Complex
            && !matches!(to.kind(), DTypeKind::Complex | DTypeKind::Bool);
        if warns || !can_cast(array.dtype(), to, rule) {
            return by_numpy();
        }
        let axis_order = axis_order_for(array.view(), order)?;
        if to == array.dtype() {
            let same_order = view::permute_axes(array.view(), &axis_order).is_contiguous()
                || matches!(order, 'K' | 'k');
            return match !copy.0 && same_order {
                true => Ok(slf.clone().into_any()),
                false => new_ndarray(py, copy_with_axis_order(py, array, &axis_order)?),
            };
        }
        let (op, own) = (Op::Cast(to), EagerSource::Array(array));
        if array.view().is_contiguous()
            && axis_order.is_sorted()
            && let Some(memory) = run_attached(py, || eager_buffer(op, own, OtherOperand::None))?
        {
            return Ok(
                Bound::new(py, NdArray::temporary(Temporary::new(op, own, memory)))?.into_any()
            );
        }
        let transposed = array.transposed(&axis_order);
        let ask = |request| cast_in_c_order(&transposed, request);
        let cast = submit(py, Op::Cast(to), transposed.view().len(), ask)?;
        new_ndarray(py, cast.transposed(&view::inverse_permutation(&axis_order)))
    }

    /// Assign one value to all elements.
    fn fill<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        slf.get().check_writeable()?;
        match slf.get().value() {
            // An element of dtype object may be anything, also a list.
            ArrayValue::NumPy(held) if !value.is_instance_of::<NdArray>() => {
                held.bind(slf.py()).call_method1(intern!(slf.py(), "fill"), (value,)).map(drop)
            }
            ArrayValue::Native(_) | ArrayValue::Opaque(..) if !is_number_instance(value) => {
                fallback::function(slf.py(), "fill")?.call1((slf, value)).map(drop)
            }
            _ => slf.as_any().set_item(PyEllipsis::get(slf.py()), value),
        }
    }

    /// Return an element as a Python number.
    #[pyo3(signature = (*args))]
    fn item<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().array() {
            Some(array) if args.is_empty() && array.view().len() == 1 => {
                scalars::to_python(py, read_element(py, array, array.view().offset)?)
            }
            Some(array) if array.is_replicated() => {
                match export_to_numpy(py, array, None, false)?
                    .call_method1(intern!(py, "item"), args)
                {
                    Ok(item) => Ok(item),
                    Err(_) => fallback::function(py, "item")?.call1((slf, args)),
                }
            }
            _ => fallback::function(py, "item")?.call1((slf, args)),
        }
    }

    /// The real part: a view.
    #[getter]
    fn real<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().array() {
            Some(array) if array.dtype().kind() == DTypeKind::Complex => {
                NdArray::view_of(slf, complex_part_view(array.view(), 0))
            }
            Some(_) => Ok(slf.clone().into_any()),
            None => fallback::function(slf.py(), "attribute")?.call1((slf, "real")),
        }
    }

    #[setter]
    fn set_real<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        set_complex_part(slf, "real", value)
    }

    /// The imaginary part: a view, or read-only zeros for a real array.
    #[getter]
    fn imag<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().array() {
            Some(array) if array.dtype().kind() == DTypeKind::Complex => {
                let half = array.dtype().itemsize() / 2;
                NdArray::view_of(slf, complex_part_view(array.view(), half))
            }
            Some(_) => fallback::function(py, "zero_imaginary_part")?.call1((slf,)),
            None => fallback::function(py, "attribute")?.call1((slf, "imag")),
        }
    }

    #[setter]
    fn set_imag<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        set_complex_part(slf, "imag", value)
    }
}

fn set_complex_part<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    fallback::function(array.py(), "set_attribute")?.call1((array, name, value)).map(drop)
}

fn complex_part_view(view: &View, byte_offset: usize) -> View {
    View {
        dtype: view.dtype.real(),
        // The memory of an array without elements may have no bytes.
        offset: if view.is_empty() { view.offset } else { view.offset + byte_offset },
        shape: view.shape.clone(),
        strides: view.strides.clone(),
    }
}
