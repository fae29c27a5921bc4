//! The order of elements and items in local memory.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::marker::PhantomData;

use dappled_base::memory;
use dappled_kernels::DType;
use dappled_kernels::element::{Element, bytes_of, f16, typed, typed_mut};
use dappled_sort::argsort::{SCRATCH_WORDS, argsort, argsort_by_comparison};
use dappled_sort::merge::{merge, merge_runs};
use dappled_sort::numpy_order::{Indexed, MergeOrder, NumpyOrder};
use dappled_sort::sort::{for_each_line, sort_by_comparison, sort_stable};
use dappled_sort::take::take;
use num_complex::{Complex, Complex32, Complex64};

use crate::error::Result;

/// The order of items of a fixed size in local memory.
///
/// Items are bytes, one item after another. Every sort is stable.
pub trait ItemOrder: Sync {
    /// The bytes of an item.
    fn itemsize(&self) -> usize;

    /// Returns for each line of `length` items the permutation that sorts it.
    fn argsort(&self, items: &[u8], length: usize) -> Result<Vec<i64>>;

    /// Counts for each value the sorted items below it, and those that are not above it.
    fn search(&self, sorted: &[u8], values: &[u8]) -> Result<Vec<[usize; 2]>>;

    /// Converts items to the form that the other methods take.
    fn encode<'a>(&self, items: &'a [u8]) -> Cow<'a, [u8]> {
        items.into()
    }

    /// Converts items back from the form that [`encode`](Self::encode) returns.
    fn decode(&self, _items: &mut [u8]) {}

    /// Sorts each line of `length` items.
    fn sort(&self, items: &[u8], length: usize) -> Result<Vec<u8>> {
        let (line, mut sorted) = (self.itemsize() * length, Vec::new());
        for (line, order) in
            items.chunks(line.max(1)).zip(self.argsort(items, length)?.chunks(length.max(1)))
        {
            memory::append(&mut sorted, &self.take(line, order));
        }
        Ok(sorted)
    }

    /// Returns the items at these indices.
    fn take(&self, items: &[u8], indices: &[i64]) -> Vec<u8> {
        let mut taken = memory::zeros(indices.len() * self.itemsize());
        take(items, self.itemsize(), indices, &mut taken).expect("the indices are in bounds");
        taken
    }

    /// Merges sorted runs.
    fn merge(&self, runs: Vec<Vec<u8>>) -> Result<Vec<u8>> {
        let items = concatenate(&runs);
        self.sort(&items, items.len() / self.itemsize().max(1))
    }

    /// Merges sorted runs whose items have these indices; returns the indices.
    fn merge_indices(&self, runs: Vec<Vec<u8>>, indices: Vec<Vec<i64>>) -> Result<Vec<i64>> {
        let (items, indices) = (concatenate(&runs), concatenate(&indices));
        Ok(memory::collect(
            self.argsort(&items, indices.len())?.into_iter().map(|at| indices[at as usize]),
        ))
    }

    /// Returns for each sorted item whether it differs from the item before it.
    ///
    /// With `equal_nan` a NaN equals any other NaN, otherwise none.
    fn group_starts(&self, sorted: &[u8], _equal_nan: bool) -> Result<Vec<bool>> {
        let below = self.search(sorted, sorted)?;
        Ok(memory::collect(below.into_iter().zip(0..).map(|([below, _], at)| below == at)))
    }

    /// Counts for each value the sorted items of the groups before its group.
    fn groups_before(&self, sorted: &[u8], values: &[u8], _equal_nan: bool) -> Result<Vec<usize>> {
        Ok(self.search(sorted, values)?.into_iter().map(|[below, _]| below).collect())
    }
}

/// Joins the elements of all parts.
pub(super) fn concatenate<T: Copy>(parts: &[Vec<T>]) -> Vec<T> {
    let mut all = memory::with_capacity(parts.iter().map(Vec::len).sum());
    parts.iter().for_each(|part| all.extend_from_slice(part));
    all
}

fn nonempty<T>(runs: Vec<Vec<T>>) -> Vec<Vec<T>> {
    runs.into_iter().filter(|run| !run.is_empty()).collect()
}

/// NumPy's order of the elements of a dtype.
pub(crate) fn dtype_order(dtype: DType) -> &'static dyn ItemOrder {
    match dtype {
        DType::Bool | DType::UInt8 => &ElementOrder::<u8>::NUMBERS,
        DType::Int8 => &ElementOrder::<i8>::NUMBERS,
        DType::Int16 => &ElementOrder::<i16>::NUMBERS,
        DType::Int32 => &ElementOrder::<i32>::NUMBERS,
        DType::Int64 => &ElementOrder::<i64>::NUMBERS,
        DType::UInt16 => &ElementOrder::<u16>::NUMBERS,
        DType::UInt32 => &ElementOrder::<u32>::NUMBERS,
        DType::UInt64 => &ElementOrder::<u64>::NUMBERS,
        DType::Float16 => &ElementOrder::<f16>::NUMBERS,
        DType::Float32 => &ElementOrder::<f32>::NUMBERS,
        DType::Float64 => &ElementOrder::<f64>::NUMBERS,
        DType::Complex64 => &ElementOrder::<Complex32>::NUMBERS,
        DType::Complex128 => &ElementOrder::<Complex64>::NUMBERS,
    }
}

/// NumPy's order of `datetime64` and `timedelta64`: integers, NaT last.
pub const TIME_ORDER: &dyn ItemOrder = &ElementOrder::<i64> { has_nat: true, marker: PhantomData };

/// NumPy's order of elements of type `T`.
struct ElementOrder<T> {
    /// Whether the smallest integer is NaT. Its encoded form is the largest integer.
    has_nat: bool,
    marker: PhantomData<fn() -> T>,
}

impl<T> ElementOrder<T> {
    const NUMBERS: Self = Self { has_nat: false, marker: PhantomData };
}

/// An element type with local sorts.
trait SortElement: Element + MergeOrder {
    fn sort(values: &[Self], out: &mut [Self]);
    fn argsort(values: &[Self], order: &mut [i64]);

    /// Returns whether the value is NaN, or has a part that is.
    fn has_nan(self) -> bool;
}

macro_rules! sorts {
    ($($element:ty),*: $sort:path, $argsort:path, $has_nan:path) => {$(
        impl SortElement for $element {
            fn sort(values: &[Self], out: &mut [Self]) {
                $sort(values, out);
            }

            fn argsort(values: &[Self], order: &mut [i64]) {
                $argsort(values, order);
            }

            fn has_nan(self) -> bool {
                $has_nan(self)
            }
        }
    )*};
}

sorts!(i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64:
    sort_stable, radix_argsort, MergeOrder::is_last);
sorts!(Complex32, Complex64: sort_by_comparison, argsort_by_comparison, Complex::is_nan);

fn radix_argsort<T: NumpyOrder>(values: &[T], order: &mut [i64]) {
    argsort(values, &mut memory::zeros(SCRATCH_WORDS * values.len()), order);
}

impl<T: SortElement> ElementOrder<T> {
    fn is_nan(&self, value: T) -> bool {
        value.has_nan() || (self.has_nat && bytes_of(&[value]) == i64::MAX.to_ne_bytes())
    }

    fn count_below(sorted: &[T], value: T) -> usize {
        sorted.partition_point(|other| other.compare(value) == Ordering::Less)
    }
}

impl<T: SortElement> ItemOrder for ElementOrder<T> {
    fn itemsize(&self) -> usize {
        size_of::<T>()
    }

    fn encode<'a>(&self, items: &'a [u8]) -> Cow<'a, [u8]> {
        match self.has_nat {
            true => shifted(items, -1).into(),
            false => items.into(),
        }
    }

    fn decode(&self, items: &mut [u8]) {
        if self.has_nat {
            items.copy_from_slice(&shifted(items, 1));
        }
    }

    fn argsort(&self, items: &[u8], length: usize) -> Result<Vec<i64>> {
        let values = typed::<T>(items);
        let mut order = memory::zeros(values.len());
        for_each_line(values, length, &mut order, T::argsort);
        Ok(order)
    }

    fn search(&self, sorted: &[u8], values: &[u8]) -> Result<Vec<[usize; 2]>> {
        let sorted = typed::<T>(sorted);
        let bounds = |&value: &T| {
            let not_above = |other: &T| other.compare(value) != Ordering::Greater;
            [Self::count_below(sorted, value), sorted.partition_point(not_above)]
        };
        Ok(memory::collect(typed(values).iter().map(bounds)))
    }

    fn sort(&self, items: &[u8], length: usize) -> Result<Vec<u8>> {
        let mut sorted = memory::zeros(items.len());
        for_each_line(typed(items), length, typed_mut(&mut sorted), T::sort);
        Ok(sorted)
    }

    fn take(&self, items: &[u8], indices: &[i64]) -> Vec<u8> {
        let mut taken = memory::zeros(indices.len() * size_of::<T>());
        take::<T>(typed(items), 1, indices, typed_mut(&mut taken))
            .expect("the indices are in bounds");
        taken
    }

    fn merge(&self, runs: Vec<Vec<u8>>) -> Result<Vec<u8>> {
        let merge_pair = |one: Vec<u8>, other: Vec<u8>| {
            let mut merged = memory::zeros(one.len() + other.len());
            merge::<T>(typed(&one), typed(&other), typed_mut(&mut merged));
            merged
        };
        Ok(merge_runs(nonempty(runs), merge_pair).unwrap_or_default())
    }

    fn merge_indices(&self, runs: Vec<Vec<u8>>, indices: Vec<Vec<i64>>) -> Result<Vec<i64>> {
        let indexed = |(run, indices): (Vec<u8>, Vec<i64>)| {
            let elements = typed::<T>(&run).iter().zip(indices);
            memory::collect(elements.map(|(&value, index)| Indexed { value, index }))
        };
        let merge_pair = |one: Vec<Indexed<T>>, other: Vec<Indexed<T>>| {
            let none = Indexed { value: T::default(), index: 0 };
            let mut merged = memory::filled(none, one.len() + other.len());
            merge(&one, &other, &mut merged);
            merged
        };
        let runs = nonempty(runs.into_iter().zip(indices).map(indexed).collect());
        let merged = merge_runs(runs, merge_pair).unwrap_or_default();
        Ok(memory::collect(merged.into_iter().map(|one| one.index)))
    }

    fn group_starts(&self, sorted: &[u8], equal_nan: bool) -> Result<Vec<bool>> {
        let sorted = typed::<T>(sorted);
        let differs = |one: T, other: T| match self.is_nan(one) || self.is_nan(other) {
            true => !(equal_nan && self.is_nan(one) && self.is_nan(other)),
            false => one.compare(other) != Ordering::Equal,
        };
        let pairs = sorted.windows(2).map(|pair| differs(pair[0], pair[1]));
        Ok(memory::collect(sorted.first().map(|_| true).into_iter().chain(pairs)))
    }

    fn groups_before(&self, sorted: &[u8], values: &[u8], equal_nan: bool) -> Result<Vec<usize>> {
        let sorted = typed::<T>(sorted);
        let before = |&value: &T| match equal_nan && self.is_nan(value) {
            true => sorted.partition_point(|&other| !self.is_nan(other)),
            false => Self::count_below(sorted, value),
        };
        Ok(typed(values).iter().map(before).collect())
    }
}

/// Adds a number to integers, wrapping around.
fn shifted(items: &[u8], by: i64) -> Vec<u8> {
    let mut shifted: Vec<u8> = memory::zeros(items.len());
    let integers = typed::<i64>(items).iter();
    let targets = typed_mut::<i64>(&mut shifted).iter_mut();
    targets.zip(integers).for_each(|(target, integer)| *target = integer.wrapping_add(by));
    shifted
}
