//! `searchsorted`: positions of values in a sorted row that may be distributed.
//!
//! The last element of each rank's block is known to all. A value is sent to the rank whose block
//! contains its position, which searches it and replies.

use std::borrow::Cow;

use dappled_base::interrupt;
use dappled_kernels::element::{Bool, Element, bytes_of, f16, typed_or_copied};
use dappled_kernels::{Buffer, DType, View};
use dappled_sort::numpy_order::NumpyOrder;
use dappled_sort::search::search;
use num_complex::{Complex, Complex32, Complex64};

use super::fft::block_ranges;
use super::index_arrays::row_blocks;
use super::local_elements::{LocalElements, default_layout};
use crate::array::Array;
use crate::error::Result;
use crate::run::collective::allgather;
use crate::run::routing::Routing;

/// Name of the messages of a search.
const OPERATION: &str = "a search";

/// A search of local elements: the number of sorted elements before each value.
///
/// The arguments are the bytes of the sorted elements and of the values.
pub type SearchKernel<'a> = dyn Fn(&[u8], &[u8]) -> Vec<i64> + 'a;

impl Array {
    /// The positions where values would be inserted into this sorted row: NumPy's `searchsorted`.
    ///
    /// With `right` the positions are after equal elements. Both arrays have one dtype. The result
    /// has the shape of the values. Collective.
    ///
    /// ```
    /// use dappled::{Array, Session};
    ///
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let sorted = Array::from_slice(&session, &[3], &[1.0, 2.0, 4.0]);
    /// let values = Array::from_slice(&session, &[2], &[2.0, 9.0]);
    /// assert_eq!(sorted.searchsorted(&values, false)?.to_vec::<i64>()?, [1, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn searchsorted(&self, values: &Array, right: bool) -> Result<Array> {
        let kernel = native_kernel(self.dtype());
        self.searchsorted_with(values, values.shape().len(), &|sorted, values| {
            interrupt::run_in_pool(values.len(), || kernel(sorted, values, right))
        })
    }

    /// Searches with a kernel; elements have the axes of the values after the first `ndim`.
    /// Collective.
    ///
    /// With a kernel elements may be of a dtype that the core does not know.
    pub fn searchsorted_with(
        &self,
        values: &Array,
        ndim: usize,
        kernel: &SearchKernel<'_>,
    ) -> Result<Array> {
        let session = self.session();
        let (shape, item) = values.shape().split_at(ndim);
        let width = item.iter().product::<usize>() * self.dtype().itemsize();
        if shape.is_empty() {
            let one = values.reshaped_copy(&[&[1], item].concat())?;
            return self.searchsorted_with(&one, 1, kernel)?.reshaped_copy(&[]);
        }
        let (is_local, is_replicated) = (self.is_replicated(), values.is_replicated());
        if is_local && is_replicated {
            let (sorted, values) = (LocalElements::whole(self)?, LocalElements::whole(values)?);
            let found = sorted
                .with_bytes(|sorted| values.with_bytes(|values| Ok(kernel(sorted, values))))?;
            return Ok(Array::from_slice(session, shape, &found));
        }
        let (sorted, own) = match is_local {
            true => (LocalElements::whole(self)?, LocalElements::rows(values)?),
            false => (LocalElements::rows(self)?, LocalElements::rows(values)?),
        };
        let found = sorted.with_bytes(|sorted| {
            own.with_bytes(|values| match is_local {
                true => Ok(kernel(sorted, values)),
                false => self.search_on_owners(sorted, values, width, kernel),
            })
        })?;
        let blocks = row_blocks(shape, session.fabric().size());
        let rank = session.fabric().rank();
        let local: Vec<usize> =
            blocks.local_shape(rank).iter().map(|&length| length as usize).collect();
        let view = View::c_order(DType::Int64, &local);
        default_layout(&Array::from_owned_piece(session, blocks, Buffer::from_slice(&found), view))
    }

    /// Searches values on the ranks whose sorted elements contain their positions. Collective.
    fn search_on_owners(
        &self,
        sorted: &[u8],
        values: &[u8],
        width: usize,
        kernel: &SearchKernel<'_>,
    ) -> Result<Vec<i64>> {
        let session = self.session();
        let last = &sorted[sorted.len().saturating_sub(width)..];
        let ends = allgather(session, OPERATION, last)?;
        let ranks: Vec<usize> = (0..ends.len()).filter(|&rank| !ends[rank].is_empty()).collect();
        let Some(last) = ranks.len().checked_sub(1) else {
            return Ok(vec![0; values.len() / width.max(1)]);
        };
        let owners: Vec<usize> = kernel(&ends.concat(), values)
            .into_iter()
            .map(|position| ranks[last.min(position as usize)])
            .collect();
        let routing = Routing::new(OPERATION, &owners, ends.len());
        let rank = session.fabric().rank() as usize;
        let first = block_ranges(session, self.shape()[0])[rank].start as i64;
        let replies = routing.send(session, values, width)?.into_iter().map(|values| {
            let mut found = kernel(sorted, &values);
            found.iter_mut().for_each(|position| *position += first);
            bytes_of(&found).to_vec()
        });
        let found = routing.reply(session, replies.collect(), size_of::<i64>())?;
        Ok(typed_or_copied(&found).into_owned())
    }
}

/// An element in NumPy's order, in which NaN is last.
trait SearchElement: Element {
    /// Returns true if this element precedes the other.
    fn is_less(self, other: Self) -> bool;
}

macro_rules! search_elements {
    ($($T:ty),*) => {$(
        impl SearchElement for $T {
            #[inline(always)]
            fn is_less(self, other: Self) -> bool {
                self.key() < other.key()
            }
        }
    )*};
}

search_elements!(f64, f32, i64, i32, i16, i8, u64, u32, u16, u8);

impl SearchElement for Bool {
    fn is_less(self, other: Self) -> bool {
        self < other
    }
}

impl SearchElement for f16 {
    fn is_less(self, other: Self) -> bool {
        self.to_f32().is_less(other.to_f32())
    }
}

/// Complex numbers are ordered by their real parts, then by their imaginary parts; those with NaN
/// are last.
fn is_less_complex<T: NumpyOrder>(one: Complex<T>, other: Complex<T>) -> bool {
    let nans = |value: Complex<T>| match (value.re.is_nan(), value.im.is_nan()) {
        (false, false) => 0,
        (false, true) => 1,
        (true, false) => 2,
        (true, true) => 3,
    };
    let key = |value: Complex<T>| (nans(value), value.re.key(), value.im.key());
    key(one) < key(other)
}

impl SearchElement for Complex32 {
    fn is_less(self, other: Self) -> bool {
        is_less_complex(self, other)
    }
}

impl SearchElement for Complex64 {
    fn is_less(self, other: Self) -> bool {
        is_less_complex(self, other)
    }
}

type NativeKernel = fn(&[u8], &[u8], bool) -> Vec<i64>;

/// The search of elements of a dtype.
fn native_kernel(dtype: DType) -> NativeKernel {
    match dtype {
        DType::Bool => search_bytes::<Bool>,
        DType::Int8 => search_bytes::<i8>,
        DType::Int16 => search_bytes::<i16>,
        DType::Int32 => search_bytes::<i32>,
        DType::Int64 => search_bytes::<i64>,
        DType::UInt8 => search_bytes::<u8>,
        DType::UInt16 => search_bytes::<u16>,
        DType::UInt32 => search_bytes::<u32>,
        DType::UInt64 => search_bytes::<u64>,
        DType::Float16 => search_bytes::<f16>,
        DType::Float32 => search_bytes::<f32>,
        DType::Float64 => search_bytes::<f64>,
        DType::Complex64 => search_bytes::<Complex32>,
        DType::Complex128 => search_bytes::<Complex64>,
    }
}

fn search_bytes<T: SearchElement>(sorted: &[u8], values: &[u8], right: bool) -> Vec<i64> {
    let (sorted, values): (Cow<'_, [T]>, Cow<'_, [T]>) =
        (typed_or_copied(sorted), typed_or_copied(values));
    search(&sorted, &values, right, |one, other| one.is_less(other))
}
