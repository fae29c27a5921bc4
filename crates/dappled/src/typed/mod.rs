//! Typed arrays: the API for Rust programs, re-exported by [`prelude`](crate::prelude).
//!
//! Input: Rust values, slices and operators. Output: calls of the dynamic array, which the Python
//! binding uses too. [`Array<T>`] holds no data of its own: each method converts its arguments and
//! calls a function that is compiled once for all element types.
//!
//! Guarantees: element types are checked by the compiler; shapes, indices and axes when an
//! operation is requested, with NumPy's texts.
//!
//! ```text
//! context    connection to the ranks
//! element    element types and the types of results
//! slice      the `s!` macro
//! operators  + - * / and the others
//! functions  element-wise functions, by the operation table
//! reduce     sums, means, extrema, cumulative sums
//! order      medians, quantiles, histograms, searches
//! shape      reshape, transpose, concatenate, redistribute
//! select     elements by mask and by index
//! sort       sort, argsort, unique
//! random     random arrays
//! linalg     matrix products and linear algebra
//! fft        Fourier transforms
//! local      this rank's piece
//! ndarray    conversions (feature `ndarray`)
//! ```

pub mod context;
pub mod element;
pub mod fft;
pub mod functions;
pub mod io;
pub mod linalg;
pub mod local;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub mod operators;
pub mod order;
pub mod random;
pub mod reduce;
pub mod select;
pub mod shape;
pub mod slice;
pub mod sort;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use dappled_base::memory;
use dappled_kernels::element::f16;
use dappled_kernels::{Bool, Buffer, DType, Scalar, View};
use dappled_protocol::AxisMap;
use dappled_protocol::slice::KeyItem;

use crate::array::Array as DynArray;
use crate::array::node::{Node, NodeState};
use crate::array::placement::Placement;
use crate::error::{Error, Result};
use crate::graph::operand::ElementwiseOperand;
use crate::graph::operand::UfuncOperand;
use crate::session::Session;
use context::Context;
use element::ArrayElement;
use operators::Operand;

/// An array of elements of type `T` over the ranks of a [`Context`].
///
/// An array is a handle: clones and [slices](Array::slice) share the elements, and
/// [`assign`](Array::assign) through one of them is visible through all; [`copy`](Array::copy)
/// separates them. Large arrays are distributed over the ranks, small ones are replicated.
///
/// Operations are deferred and fused; values are computed when they are needed. Every method is
/// collective unless it says otherwise: all ranks call it, in the same order.
///
/// ```
/// use dappled::prelude::*;
///
/// let cx = Context::init()?;
/// let a = Array::<f64>::ones(&cx, [3, 4]);
/// let b = 2.0 * &a + 1.0;
/// a.slice(s![0, ..]).assign(0.5)?;
/// assert_eq!(b.sum()?, 36.0);
/// assert_eq!(a.sum_axis(0)?.to_vec()?, [2.5; 4]);
/// # Ok::<(), dappled::Error>(())
/// ```
pub struct Array<T: ArrayElement> {
    pub(crate) dynamic: DynArray,
    element: PhantomData<fn() -> T>,
}

/// An array of truth values: the result of a comparison.
pub type Mask = Array<Bool>;

/// Returns the result of a request; panics with the text of the error.
#[track_caller]
fn expect_valid<R>(result: Result<R>) -> R {
    result.unwrap_or_else(|error| panic!("{error}"))
}

impl<T: ArrayElement> Clone for Array<T> {
    /// Returns another handle of the same elements.
    fn clone(&self) -> Self {
        Self::from_dynamic(self.dynamic.clone())
    }
}

/// Writes the type and shape. Local.
impl<T: ArrayElement> fmt::Debug for Array<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Array<{}> of shape {:?}", T::DTYPE, self.shape())
    }
}

/// Creation.
impl<T: ArrayElement> Array<T> {
    /// Wraps a dynamic array with elements of this type.
    #[doc(hidden)]
    pub fn from_dynamic(dynamic: DynArray) -> Self {
        assert_eq!(dynamic.dtype(), T::DTYPE, "the dtype of a typed array");
        Self { dynamic, element: PhantomData }
    }

    /// The dynamic array.
    #[doc(hidden)]
    pub fn dynamic(&self) -> &DynArray {
        &self.dynamic
    }

    /// Creates an array filled with one value.
    pub fn full(cx: &Context, shape: impl AsRef<[usize]>, value: T) -> Self {
        Self::from_dynamic(DynArray::full(cx.session(), shape.as_ref(), value))
    }

    /// Creates an array filled with zeros.
    pub fn zeros(cx: &Context, shape: impl AsRef<[usize]>) -> Self {
        Self::full(cx, shape, T::default())
    }

    /// Creates an array filled with ones.
    pub fn ones(cx: &Context, shape: impl AsRef<[usize]>) -> Self {
        Self::full(cx, shape, cast_scalar(Scalar::new(1u8)))
    }

    /// Creates an array from elements in C order, which must be equal on all ranks.
    ///
    /// Fails if the number of elements does not match the shape.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [2, 2], &[1, 2, 3, 4])?;
    /// assert_eq!(a.t().to_vec()?, [1, 3, 2, 4]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn from_slice(cx: &Context, shape: impl AsRef<[usize]>, elements: &[T]) -> Result<Self> {
        let (session, shape) = (cx.session(), shape.as_ref());
        let expected = shape.iter().try_fold(1usize, |count, &length| count.checked_mul(length));
        if expected != Some(elements.len()) {
            let shape = shape.iter().map(|&length| length as i64).collect();
            return Err(crate::error::ViewError::Size { size: elements.len(), shape }.into());
        }
        let array = DynArray::from_slice(session, shape, elements);
        let array = match session.should_replicate(shape, T::DTYPE.itemsize()) {
            true => array,
            false => array.redistribute(&session.block_distribution(shape))?,
        };
        Ok(Self::from_dynamic(array))
    }

    /// Creates an array from a function of the index. Each rank calls it for its own elements.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let table = Array::from_fn(&cx, [10, 10], |index| (index[0] * index[1]) as i64);
    /// assert_eq!(table.get([7, 8])?, 56);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn from_fn(
        cx: &Context,
        shape: impl AsRef<[usize]>,
        value: impl FnMut(&[usize]) -> T,
    ) -> Self {
        Self::from_fn_in(cx.session(), shape.as_ref(), value)
    }

    fn from_fn_in(
        session: &Session,
        shape: &[usize],
        mut value: impl FnMut(&[usize]) -> T,
    ) -> Self {
        session.check_capacity(T::DTYPE, shape);
        let mut elements = Vec::new();
        let placed = for_each_local_index(session, T::DTYPE, shape, &mut |index| {
            if elements.len() == elements.capacity() {
                let more = elements.len().max(64);
                memory::reserve(&mut elements, more);
            }
            elements.push(value(index));
        });
        Self::from_dynamic(placed.into_array(session, Buffer::from_slice(&elements)))
    }

    /// Creates the one-dimensional array of `start`, `start + step`, … below `stop`:
    /// `numpy.arange`.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// assert_eq!(Array::arange(&cx, 0.0, 1.0, 0.25).to_vec()?, [0.0, 0.25, 0.5, 0.75]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn arange(cx: &Context, start: T, stop: T, step: T) -> Self
    where
        T: Countable,
    {
        Self::from_fn(cx, [T::count(start, stop, step)], |index| T::at(start, step, index[0]))
    }
}

impl Array<f64> {
    /// Creates `count` numbers from `start` to `stop`, both included: `numpy.linspace`.
    pub fn linspace(cx: &Context, start: f64, stop: f64, count: usize) -> Self {
        let step = (stop - start) / (count.max(2) - 1) as f64;
        Self::from_fn(cx, [count], |index| match index[0] {
            last if last > 0 && last == count - 1 => stop,
            at => start + at as f64 * step,
        })
    }
}

impl Mask {
    /// Creates a mask from truth values in C order, which must be equal on all ranks.
    pub fn from_bools(cx: &Context, shape: impl AsRef<[usize]>, values: &[bool]) -> Result<Self> {
        Self::from_slice(cx, shape, &memory::collect(values.iter().map(|&value| Bool::from(value))))
    }

    /// Gathers all truth values in C order on every rank. Collective.
    pub fn to_bools(&self) -> Result<Vec<bool>> {
        Ok(memory::collect(self.to_vec()?.into_iter().map(Bool::is_true)))
    }
}

/// Properties and access.
impl<T: ArrayElement> Array<T> {
    /// The lengths of the axes. Local.
    pub fn shape(&self) -> &[usize] {
        self.dynamic.shape()
    }

    /// The number of axes. Local.
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// The number of elements. Local.
    pub fn len(&self) -> usize {
        self.dynamic.view().len()
    }

    /// Returns true if the array has no elements. Local.
    pub fn is_empty(&self) -> bool {
        self.dynamic.view().is_empty()
    }

    /// Returns a view of some elements; [`s!`](crate::s) makes the key.
    ///
    /// Panics if the key is invalid for the shape.
    #[track_caller]
    pub fn slice(&self, key: impl AsRef<[KeyItem]>) -> Self {
        expect_valid(self.try_slice(key))
    }

    /// Returns a view of some elements, or the error of an invalid key.
    pub fn try_slice(&self, key: impl AsRef<[KeyItem]>) -> Result<Self> {
        self.dynamic.slice(key.as_ref()).map(Self::from_dynamic)
    }

    /// Returns the element at an index; negative indices count from the end.
    pub fn get<const N: usize>(&self, index: [i64; N]) -> Result<T> {
        self.at(&index)?.item()
    }

    /// Writes the element at an index; negative indices count from the end.
    pub fn set<const N: usize>(&self, index: [i64; N], value: T) -> Result<()> {
        self.at(&index)?.assign(value)
    }

    /// The view of one element.
    fn at(&self, index: &[i64]) -> Result<Self> {
        if index.len() != self.ndim() {
            return Err(Error::IndexCount { ndim: self.ndim(), given: index.len() });
        }
        self.try_slice(index.iter().map(|&at| KeyItem::Index(at)).collect::<Vec<_>>())
    }

    /// Returns the only element of an array of size 1.
    pub fn item(&self) -> Result<T> {
        match self.len() {
            1 => self.dynamic.element(self.dynamic.view().offset).map(cast_scalar),
            size => Err(Error::NotOneElement { size }),
        }
    }

    /// Writes a value to all elements: an array that broadcasts to the shape, or a scalar.
    ///
    /// Operations requested before still read the previous elements.
    pub fn assign(&self, value: impl Operand<T>) -> Result<()> {
        self.dynamic.assign(match value.operand() {
            UfuncOperand::Array(array) => ElementwiseOperand::Array(array),
            UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value) => {
                ElementwiseOperand::Scalar(value)
            }
        })
    }

    /// Writes one value to all elements.
    pub fn fill(&self, value: T) -> Result<()> {
        self.assign(value)
    }

    /// Returns an array with elements of its own; they are copied when either is written.
    pub fn copy(&self) -> Result<Self> {
        self.dynamic.copy().map(Self::from_dynamic)
    }

    /// Gathers all elements in C order on every rank. Collective.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.dynamic.to_vec()
    }

    /// Evaluates deferred operations now. Collective.
    pub fn evaluate(&self) -> Result<()> {
        self.dynamic.materialize()
    }
}

/// The value of a scalar in another type.
fn cast_scalar<T: ArrayElement>(value: Scalar) -> T {
    value.cast(T::DTYPE).get().expect("the scalar was cast to the type")
}

/// The placement of a new array, and this rank's part of it.
struct NewArray {
    base: View,
    placement: Placement,
}

impl NewArray {
    /// The array with this rank's elements in C order.
    fn into_array(self, session: &Session, memory: Buffer) -> DynArray {
        DynArray::from_node(
            session,
            Node::new(session, self.base, self.placement, NodeState::Stored(memory)),
        )
    }
}

/// Calls a function with the global index of each of this rank's elements, in local C order.
fn for_each_local_index(
    session: &Session,
    dtype: DType,
    shape: &[usize],
    visit: &mut dyn FnMut(&[usize]),
) -> NewArray {
    let base = View::c_order(dtype, shape);
    let placement = session.default_placement(dtype, shape);
    let owned: Vec<Vec<Range<usize>>> = match &placement {
        Placement::Replicated => shape.iter().map(|&length| vec![0..length]).collect(),
        Placement::Distributed(placement) => {
            let (distribution, rank) = (&placement.distribution, session.fabric().rank());
            let coordinates = distribution.coords(rank);
            let ranges = |(map, coordinate): (&AxisMap, u64)| {
                let ranges = map.owned_ranges(coordinate);
                ranges.map(|range| *range.start() as usize..*range.end() as usize + 1).collect()
            };
            match distribution.holds(rank) {
                true => distribution.axes().iter().zip(coordinates).map(ranges).collect(),
                false => vec![Vec::new(); shape.len()],
            }
        }
    };
    visit_axes(&owned, &mut memory::zeros(shape.len()), 0, visit);
    NewArray { base, placement }
}

fn visit_axes(
    owned: &[Vec<Range<usize>>],
    index: &mut [usize],
    axis: usize,
    visit: &mut dyn FnMut(&[usize]),
) {
    let Some(ranges) = owned.get(axis) else { return visit(index) };
    for at in ranges.iter().cloned().flatten() {
        index[axis] = at;
        visit_axes(owned, index, axis + 1, visit);
    }
}

/// An element type that [`Array::arange`] counts in.
pub trait Countable: ArrayElement {
    /// The number of elements from `start` to before `stop`.
    fn count(start: Self, stop: Self, step: Self) -> usize;
    /// The element at a position.
    fn at(start: Self, step: Self, position: usize) -> Self;
}

macro_rules! countable {
    (integers: $($Int:ty)*; floats: $($Float:ty)*) => {
        $(impl Countable for $Int {
            fn count(start: Self, stop: Self, step: Self) -> usize {
                assert!(step != 0, "Maximum allowed size exceeded");
                let (span, step) = (stop as i128 - start as i128, step as i128);
                if (span > 0) == (step > 0) { span.unsigned_abs().div_ceil(step.unsigned_abs()) as usize } else { 0 }
            }

            fn at(start: Self, step: Self, position: usize) -> Self {
                start.wrapping_add(step.wrapping_mul(position as $Int))
            }
        })*
        $(impl Countable for $Float {
            fn count(start: Self, stop: Self, step: Self) -> usize {
                let count = ((stop - start) / step).ceil();
                assert!(count < isize::MAX as $Float, "Maximum allowed size exceeded");
                count.max(0.0) as usize
            }

            fn at(start: Self, step: Self, position: usize) -> Self {
                // NumPy adds multiples of the difference of the first two elements.
                start + position as $Float * ((start + step) - start)
            }
        })*
    };
}

countable! { integers: i8 i16 i32 i64 u8 u16 u32 u64; floats: f32 f64 }

const _: () = {
    // Handles may be sent to and shared with other threads.
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Array<f16>>();
};
