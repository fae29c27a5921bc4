//! Counts of integers and of values in bins: ranks count their elements, and counts are added.
//!
//! Guarantees: elements stay on their ranks. A rank holds the counts of its elements, and sends
//! each other rank the counts of its block. Counts are exact; weights are added in the order of the
//! elements on each rank, and then in NumPy's order of a reduction over the ranks.

use dappled_base::{interrupt, memory};
use dappled_kernels::element::{typed, typed_mut};
use dappled_kernels::{Buffer, DType, ReduceOp, View};
use dappled_protocol::Distribution;
use dappled_sort::{bincount, histogram};

use super::fft::block_ranges;
use super::local_elements::{LocalElements, default_layout, from_block};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::graph::reduce_request::ReduceRequest;
use crate::run::collective::{all_to_all, allgather};
use crate::session::Session;

/// Name of the messages of a count.
const OPERATION: &str = "counts";

impl Array {
    /// Counts how often each nonnegative integer occurs, or adds weights: NumPy's `bincount`.
    ///
    /// The result has at least `min_length` elements. Fails if there is a negative integer.
    /// Collective.
    ///
    /// ```
    /// use dappled::{Array, Session};
    ///
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let values = Array::from_slice(&session, &[4], &[1i64, 3, 1, 0]);
    /// assert_eq!(values.bincount(None, 0)?.to_vec::<i64>()?, [1, 2, 0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bincount(&self, weights: Option<&Array>, min_length: usize) -> Result<Array> {
        let session = self.session();
        let integers = self.with_dtype(DType::Int64)?;
        let Some(weights) = weights else {
            let values = LocalElements::unordered(&integers)?;
            return values.with(|values: &[i64]| {
                let length = bin_count(session, values, min_length)?;
                let counts = Buffer::zeroed(length * size_of::<i64>());
                count_into(values, typed_mut(&mut counts.write()?));
                add_counts(session, counts, length)
            });
        };
        let weights = weights.with_dtype(DType::Float64)?;
        let (values, weights) = (LocalElements::rows(&integers)?, LocalElements::rows(&weights)?);
        let sums = values.with(|values: &[i64]| {
            let length = bin_count(session, values, min_length)?;
            weights.with(|weights: &[f64]| {
                let mut sums: Vec<f64> = memory::zeros(length);
                for (&value, weight) in values.iter().zip(weights) {
                    sums[value as usize] += weight;
                }
                Ok(sums)
            })
        })?;
        let view = View::c_order(DType::Float64, &[sums.len()]);
        sum_over_ranks(session, Buffer::from_slice(&sums), &view)
    }

    /// Counts float64 values between edges of equal distance, of which the last is inclusive.
    ///
    /// Values outside and NaN are not counted. Collective.
    pub fn histogram_uniform(&self, edges: &[f64]) -> Result<Array> {
        let values = LocalElements::unordered(self)?;
        let counts = values.with(|values: &[f64]| {
            Ok(interrupt::run_in_pool(values.len(), || histogram::histogram(values, edges)))
        })?;
        add_counts(self.session(), Buffer::from_slice(&counts), counts.len())
    }

    /// The minimum and maximum of float64 values in one pass; `None` if there is no value or a NaN.
    /// Collective.
    pub fn value_range(&self) -> Result<Option<(f64, f64)>> {
        let values = LocalElements::unordered(self)?;
        let own = values.with(|values: &[f64]| {
            let range = interrupt::run_in_pool(values.len(), || histogram::min_max(values));
            let nan = if values.is_empty() { None } else { Some((f64::NAN, f64::NAN)) };
            Ok(range.or(nan))
        })?;
        let own: Vec<f64> = own.into_iter().flat_map(|(low, high)| [low, high]).collect();
        let all = allgather(self.session(), OPERATION, &own)?.concat();
        let ranges = all.as_chunks::<2>().0.iter();
        let wider = |one: (f64, f64), other: (f64, f64)| (one.0.min(other.0), one.1.max(other.1));
        let has_nan = all.iter().any(|end| end.is_nan());
        Ok(ranges.map(|&[low, high]| (low, high)).reduce(wider).filter(|_| !has_nan))
    }
}

/// Adds the elements that each rank has at a position, in NumPy's order of a reduction over ranks.
///
/// Each rank has its own elements, in C order. The result has the default distribution. Collective.
pub fn sum_over_ranks(session: &Session, elements: Buffer, view: &View) -> Result<Array> {
    let (ranks, dtype) = (session.fabric().size(), view.dtype);
    if ranks == 1 {
        return Ok(Array::from_owned(session, elements, view.clone()));
    }
    let shape = [&[ranks as usize], &view.shape[..]].concat();
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let kinds = format!("b{}", "n".repeat(view.shape.len()));
    let rows = Distribution::spec(&lengths).dist(&kinds).nprocs(ranks).build();
    let rows = rows.expect("there is a row for each rank");
    let own = View::c_order(dtype, &[&[1], &view.shape[..]].concat());
    let stacked = Array::from_owned_piece(session, rows, elements, own);
    let request = ReduceRequest {
        fold: ReduceOp::Add,
        axes: vec![0],
        dtype,
        initial: ReduceOp::Add.identity(dtype),
        reports_flags: false,
    };
    default_layout(&stacked.reduce(&request)?.without_axes(&[0]))
}

/// The number of counts of integers on all ranks; fails if one is negative. Collective.
fn bin_count(session: &Session, values: &[i64], min_length: usize) -> Result<usize> {
    let range = interrupt::run_in_pool(values.len(), || bincount::min_max(values));
    let own: Vec<i64> = range.into_iter().flat_map(|(low, high)| [low, high]).collect();
    let all = allgather(session, OPERATION, &own)?.concat();
    if all.iter().any(|&end| end < 0) {
        return Err(Error::NegativeBin);
    }
    let length = all.into_iter().max().map_or(0, |highest| highest as usize + 1);
    Ok(length.max(min_length))
}

/// Adds to zeroed counts how often each integer occurs.
fn count_into(values: &[i64], counts: &mut [i64]) {
    if counts.len() <= values.len() {
        let dense =
            interrupt::run_in_pool(values.len(), || bincount::bincount(values, 0, counts.len()));
        return counts.copy_from_slice(&dense);
    }
    // Few values: pages of counts without a value stay untouched.
    values.iter().for_each(|&value| counts[value as usize] += 1);
}

/// Adds the counts of all ranks; the result has the default distribution. Collective.
fn add_counts(session: &Session, counts: Buffer, length: usize) -> Result<Array> {
    if session.fabric().size() == 1 {
        return Ok(Array::from_owned(session, counts, View::c_order(DType::Int64, &[length])));
    }
    let blocks = block_ranges(session, length);
    let own = counts.read()?;
    let own = &typed::<i64>(&own)[..length];
    let parts = blocks.into_iter().map(|block| memory::copy_of(&own[block])).collect();
    let mut received = all_to_all(session, OPERATION, parts)?.into_iter();
    let mut total: Vec<i64> = received.next().unwrap_or_default();
    for counts in received {
        total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    }
    from_block(session, length, &total)
}
