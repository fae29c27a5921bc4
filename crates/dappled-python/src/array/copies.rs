//! Copies, casts, and the parts of complex numbers.

use dappled::graph::{Array, Beside, Fresh, Own, cast_in_c_order, quick_alike};
use dappled::view;
use dappled_kernels::{Axes, Casting, Kind, Op, View, can_cast};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyEllipsis, PyFloat, PyInt, PyTuple};

use super::class::{NdArray, element};
use super::exclusive::{exclusive, quickly};
use super::lending::lent;
use super::shapes::{owned, reversed};
use super::ufunc::asked;
use super::{dtypes, scalars, slow};

/// What Python takes for true or not: 0 and 1, as many programs say it.
struct Truth(bool);

impl FromPyObject<'_, '_> for Truth {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        object.is_truthy().map(Truth)
    }
}

/// Is it one of Python's numbers?
fn is_number(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyComplex>()
}

/// A copy whose axes lie in this order in memory.
fn copied_in(py: Python<'_>, array: &Array, order: &[usize]) -> PyResult<Array> {
    if order.is_sorted() {
        return exclusive(py, array.view().len(), || array.copied());
    }
    let turned = array.transposed(order);
    let copy = exclusive(py, turned.view().len(), || turned.copied())?;
    Ok(copy.transposed(&view::moved(order)))
}

/// The order of axes that NumPy's letter means for a copy of this view.
pub fn order_of(view: &View, letter: char) -> PyResult<Axes<usize>> {
    let ndim = view.shape.len();
    let is_f = || view.transposed().is_contiguous() && !view.is_contiguous();
    match letter {
        'C' | 'c' => Ok((0..ndim).collect()),
        'F' | 'f' => Ok(reversed(ndim)),
        'A' | 'a' => Ok(if is_f() { reversed(ndim) } else { (0..ndim).collect() }),
        'K' | 'k' => Ok(view::kept_order(view).into()),
        _ => Err(PyValueError::new_err(format!(
            "order must be one of 'C', 'F', 'A', or 'K' (got '{letter}')"
        ))),
    }
}

/// A copy in an order that NumPy's letter means.
pub fn copied<'py>(slf: &Bound<'py, NdArray>, order: char) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let Some(array) = slf.get().array() else {
        return slow::function(py, "method")?.call1((slf, "copy", (order,)));
    };
    owned(py, copied_in(py, array, &order_of(array.view(), order)?)?)
}

#[pymethods]
impl NdArray {
    /// A copy, in C order unless another is asked for. No memory is copied until one is written.
    #[pyo3(signature = (order=None), text_signature = "($self, order='C')")]
    fn copy<'py>(slf: &Bound<'py, Self>, order: Option<char>) -> PyResult<Bound<'py, PyAny>> {
        copied(slf, order.unwrap_or('C'))
    }

    /// A copy in another dtype; its values are computed when they are needed.
    #[pyo3(
        signature = (dtype, order=None, casting="unsafe", subok=Truth(true), copy=Truth(true)),
        text_signature = "($self, dtype, order='K', casting='unsafe', subok=True, copy=True)"
    )]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyAny>,
        order: Option<char>,
        casting: &str,
        subok: Truth,
        copy: Truth,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, order) = (slf.py(), order.unwrap_or('K'));
        let by_numpy = || -> PyResult<Bound<'py, PyAny>> {
            let options = PyDict::new(py);
            options.set_item("order", order)?;
            options.set_item("casting", casting)?;
            options.set_item("subok", subok.0)?;
            options.set_item("copy", copy.0)?;
            slow::function(py, "method")?.call1((slf, "astype", (dtype,), options))
        };
        let (Some(array), Some(to)) = (slf.get().array(), dtypes::from_any(dtype)?) else {
            return by_numpy();
        };
        let rule = match casting {
            "no" | "equiv" => Casting::No,
            "safe" => Casting::Safe,
            "same_kind" => Casting::SameKind,
            "unsafe" => Casting::Unsafe,
            _ => return by_numpy(),
        };
        let warns = array.dtype().kind() == Kind::Complex
            && !matches!(to.kind(), Kind::Complex | Kind::Bool);
        if warns || !can_cast(array.dtype(), to, rule) {
            return by_numpy();
        }
        let wanted = order_of(array.view(), order)?;
        if to == array.dtype() {
            let same_order =
                view::permuted(array.view(), &wanted).is_contiguous() || matches!(order, 'K' | 'k');
            return match !copy.0 && same_order {
                true => Ok(slf.clone().into_any()),
                false => owned(py, copied_in(py, array, &wanted)?),
            };
        }
        let (op, own) = (Op::Cast(to), Own::Array(array));
        if array.view().is_contiguous()
            && wanted.is_sorted()
            && let Some(memory) = quickly(py, || quick_alike(op, own, Beside::Nothing))?
        {
            return Ok(Bound::new(py, NdArray::fresh(Fresh::new(op, own, memory)))?.into_any());
        }
        let (from, turned) = (array.dtype(), array.transposed(&wanted));
        let ask = |request| cast_in_c_order(&turned, request);
        let cast = asked(py, Op::Cast(to), from, turned.view().len(), ask)?;
        owned(py, cast.transposed(&view::moved(&wanted)))
    }

    /// Writes one value everywhere.
    fn fill<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        slf.get().check_writeable()?;
        match slf.get().held_array(slf.py()) {
            // Of objects any one is one, a list too.
            Ok(held) if !value.is_instance_of::<NdArray>() => {
                held.call_method1(intern!(slf.py(), "fill"), (value,)).map(drop)
            }
            Err(_) if !is_number(value) => {
                slow::function(slf.py(), "fill")?.call1((slf, value)).map(drop)
            }
            _ => slf.as_any().set_item(PyEllipsis::get(slf.py()), value),
        }
    }

    /// One element as Python's number.
    #[pyo3(signature = (*args))]
    fn item<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().array() {
            Some(array) if args.is_empty() && array.view().len() == 1 => {
                scalars::to_python(py, element(py, array, array.view().offset)?)
            }
            Some(array) if array.is_whole() => {
                match lent(py, array, None, false)?.call_method1(intern!(py, "item"), args) {
                    Ok(found) => Ok(found),
                    Err(_) => slow::function(py, "item")?.call1((slf, args)),
                }
            }
            _ => slow::function(py, "item")?.call1((slf, args)),
        }
    }

    /// The real part: a view.
    #[getter]
    fn real<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().array() {
            Some(array) if array.dtype().kind() == Kind::Complex => {
                NdArray::view_of(slf, part_of_complex(array.view(), 0))
            }
            Some(_) => Ok(slf.clone().into_any()),
            None => slow::function(slf.py(), "attribute")?.call1((slf, "real")),
        }
    }

    #[setter]
    fn set_real<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        set_part(slf, "real", value)
    }

    /// The imaginary part: a view, or zeros that may not be written.
    #[getter]
    fn imag<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().array() {
            Some(array) if array.dtype().kind() == Kind::Complex => {
                let half = array.dtype().itemsize() / 2;
                NdArray::view_of(slf, part_of_complex(array.view(), half))
            }
            Some(_) => slow::function(py, "no_imaginary_part")?.call1((slf,)),
            None => slow::function(py, "attribute")?.call1((slf, "imag")),
        }
    }

    #[setter]
    fn set_imag<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        set_part(slf, "imag", value)
    }
}

fn set_part<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    slow::function(array.py(), "set_attribute")?.call1((array, name, value)).map(drop)
}

fn part_of_complex(view: &View, at: usize) -> View {
    View {
        dtype: view.dtype.real(),
        // Of no elements the base may have no bytes at all.
        offset: if view.is_empty() { view.offset } else { view.offset + at },
        shape: view.shape.clone(),
        strides: view.strides.clone(),
    }
}
