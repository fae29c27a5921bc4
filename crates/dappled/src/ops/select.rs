//! Order statistics of distributed arrays, by sampling and counting.
//!
//! A sample of all ranks bounds each order statistic. Ranks count their elements below and within
//! the bounds; those within are the candidates of the next round. The last candidates are gathered.
//!
//! Guarantees: elements stay on their ranks, except samples and the last candidates. The result
//! does not depend on the distribution: -0.0 precedes 0.0, NaN is last.

use std::borrow::Cow;

use dappled_base::{interrupt, memory};
use dappled_kernels::element::{Element, bytes_of};
use dappled_kernels::{DType, Scalar};
use dappled_sort::numpy_order::NumpyOrder;
use dappled_sort::select::{count, select_ranges};

use super::local_elements::LocalElements;
use crate::array::Array;
use crate::config::SELECT_SAMPLE_ELEMENTS;
use crate::error::Result;
use crate::run::collective::{allgather, allreduce};
use crate::session::Session;

/// Name of the messages of a selection.
const OPERATION: &str = "a selection";

/// Positions closer than the number of values divided by this are searched together.
const MAX_GROUP_DIVISOR: usize = 64;

impl Array {
    /// The elements at these positions of the sorted elements, in the order of the positions.
    ///
    /// All positions are below the number of elements. The result is replicated; `None` for complex
    /// numbers. Collective.
    ///
    /// ```
    /// use dappled::{Array, Session};
    ///
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let values = Array::from_slice(&session, &[2, 2], &[3.0, f64::NAN, 1.0, 2.0]);
    /// let ends = values.order_statistics(&[0, 2])?.expect("floats are ordered");
    /// assert_eq!(ends.to_vec::<f64>()?, [1.0, 3.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn order_statistics(&self, positions: &[usize]) -> Result<Option<Array>> {
        let selected = match self.dtype() {
            DType::Float64 => self.order_statistics_of::<f64>(positions)?,
            DType::Float32 => self.order_statistics_of::<f32>(positions)?,
            DType::Int64 => self.order_statistics_of::<i64>(positions)?,
            DType::Int32 => self.order_statistics_of::<i32>(positions)?,
            DType::UInt64 => self.order_statistics_of::<u64>(positions)?,
            DType::UInt32 => self.order_statistics_of::<u32>(positions)?,
            DType::Float16 => return self.order_statistics_as(DType::Float32, positions),
            DType::Complex64 | DType::Complex128 => return Ok(None),
            _ => return self.order_statistics_as(DType::Int32, positions),
        };
        Ok(Some(selected))
    }

    /// The order statistics in a dtype that contains all values, cast back.
    fn order_statistics_as(&self, dtype: DType, positions: &[usize]) -> Result<Option<Array>> {
        let selected = self.cast(dtype)?.order_statistics(positions)?;
        selected.map(|selected| selected.cast(self.dtype())).transpose()
    }

    fn order_statistics_of<T: Element + NumpyOrder>(&self, positions: &[usize]) -> Result<Array> {
        let session = self.session();
        let mut sorted = memory::copy_of(positions);
        sorted.sort_unstable();
        sorted.dedup();
        let values = LocalElements::unordered(self)?;
        let found = values.with(|values: &[T]| {
            Selection { session, values }.select(self.view().len(), &sorted)
        })?;
        let at = |position: &usize| sorted.partition_point(|other| other < position);
        let ordered: Vec<T> = memory::collect(positions.iter().map(|position| found[at(position)]));
        Ok(Array::from_slice(session, &[positions.len()], &ordered))
    }
}

/// The values that remain to be searched: those of this rank, and counts of all ranks.
struct Candidates<'a, T: Clone> {
    values: Cow<'a, [T]>,
    /// Number of values on all ranks, without NaNs.
    count: usize,
    /// Number of smaller values on all ranks.
    before: usize,
}

impl<T: Clone> Candidates<'_, T> {
    fn new(values: impl IntoIterator<Item = T>, count: usize, before: usize) -> Self {
        Self { values: memory::collect(values).into(), count, before }
    }
}

/// A selection among this rank's values.
struct Selection<'a, T> {
    session: &'a Session,
    values: &'a [T],
}

impl<T: Element + NumpyOrder> Selection<'_, T> {
    /// The values at sorted positions of all `count` values. Collective.
    fn select(&self, count: usize, positions: &[usize]) -> Result<Vec<T>> {
        let mut found = memory::with_capacity(positions.len());
        let candidates = Candidates { values: Cow::Borrowed(self.values), count, before: 0 };
        self.narrow(candidates, positions, 0, &mut found)?;
        Ok(found)
    }

    /// Appends the values at sorted positions, which are among the candidates. Collective.
    fn narrow(
        &self,
        candidates: Candidates<'_, T>,
        positions: &[usize],
        round: u64,
        found: &mut Vec<T>,
    ) -> Result<()> {
        if positions.is_empty() {
            return Ok(());
        }
        let Candidates { values, count: total, before } = candidates;
        let is_last = total <= SELECT_SAMPLE_ELEMENTS;
        let step = if is_last { 1 } else { total / SELECT_SAMPLE_ELEMENTS };
        let sample = self.sorted_sample(&values, step, round)?;
        if is_last {
            found.extend(positions.iter().map(|position| sample[position - before]));
            return Ok(());
        }
        let groups = group_positions(positions, total / MAX_GROUP_DIVISOR);
        let ranges = sample_ranges(&sample, &groups, before, total);
        let (selections, nans) =
            interrupt::run_in_pool(values.len(), || select_ranges(&values, &ranges));
        let mut counts = vec![nans as i64];
        let mut open = Vec::with_capacity(ranges.len());
        for (mut selection, &(low, high)) in selections.into_iter().zip(&ranges) {
            let inside = selection.values.len();
            let equal_low = count(&selection.values, |value| value == low);
            // Without the ends, which may be frequent, there are fewer candidates in every round.
            selection.values.retain(|&value| low < value && value < high);
            let between = selection.values.len();
            counts.extend(
                [selection.before, equal_low, between, inside - equal_low - between]
                    .map(|count| count as i64),
            );
            open.push(selection.values);
        }
        let counts = allreduce(self.session, OPERATION, &counts, |a, b| a + b)?;
        let end = before + total - counts[0] as usize;
        for (((group, (low, high)), between), counts) in
            groups.iter().zip(ranges).zip(open).zip(counts[1..].as_chunks::<4>().0)
        {
            let mut stop = before;
            let [at_low, first, at_high, after] = counts.map(|count| {
                stop += count as usize;
                stop
            });
            let mut rest = *group;
            let mut take_below = |stop: usize| {
                let (part, after) = rest.split_at(rest.partition_point(|&at| at < stop));
                rest = after;
                part
            };
            // Positions may be outside of the range if the sample was unlucky.
            let lower = take_below(at_low);
            if !lower.is_empty() {
                let values = values.iter().copied().filter(|&value| value < low);
                let smaller = Candidates::new(values, at_low - before, before);
                self.narrow(smaller, lower, round + 1, found)?;
            }
            self.push_equal(low, at_low, take_below(first), found)?;
            let inner = Candidates::new(between, at_high - first, first);
            self.narrow(inner, take_below(at_high), round + 1, found)?;
            self.push_equal(high, at_high, take_below(after), found)?;
            let upper = take_below(end);
            if !upper.is_empty() {
                let values = values.iter().copied().filter(|&value| value > high);
                let larger = Candidates::new(values, end - after, after);
                self.narrow(larger, upper, round + 1, found)?;
            }
            found.extend(rest.iter().map(|_| convert::<T>(f64::NAN)));
        }
        Ok(())
    }

    /// Appends values at positions from `start` on that are all equal to `value`. Collective.
    fn push_equal(
        &self,
        value: T,
        start: usize,
        positions: &[usize],
        found: &mut Vec<T>,
    ) -> Result<()> {
        if positions.is_empty() || value != T::default() || !is_float::<T>() {
            found.extend(positions.iter().map(|_| value));
            return Ok(());
        }
        let own =
            interrupt::run_in_pool(self.values.len(), || count(self.values, is_negative_zero));
        let negative = allreduce(self.session, OPERATION, &[own as i64], |a, b| a + b)?[0];
        let zeros = [T::default(), convert(-0.0)];
        found
            .extend(positions.iter().map(|&at| zeros[usize::from(at < start + negative as usize)]));
        Ok(())
    }

    /// Every `step`-th value of all ranks, sorted. Collective.
    ///
    /// The first position differs between ranks and rounds, so that periodic values do not matter.
    fn sorted_sample(&self, values: &[T], step: usize, round: u64) -> Result<Vec<T>> {
        let seed = self.session.fabric().rank().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ round;
        let first = (seed.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 33) as usize % step;
        let own: Vec<T> = memory::collect(values.iter().copied().skip(first).step_by(step));
        let mut sample = allgather(self.session, OPERATION, &own)?.concat();
        sample.sort_unstable_by_key(|&value| (value.key(), !is_negative_zero(value)));
        Ok(sample)
    }
}

/// Splits sorted positions into groups of positions that are close to one another.
fn group_positions(positions: &[usize], max_width: usize) -> Vec<&[usize]> {
    let mut groups: Vec<&[usize]> = Vec::new();
    let mut rest = positions;
    while let Some(&first) = rest.first() {
        let (group, after) = rest.split_at(rest.partition_point(|&at| at <= first + max_width));
        groups.push(group);
        rest = after;
    }
    groups
}

/// Two sample values for each group of positions, which probably bound its values.
fn sample_ranges<T: Element + NumpyOrder>(
    sample: &[T],
    groups: &[&[usize]],
    before: usize,
    count: usize,
) -> Vec<(T, T)> {
    let numbers = &sample[..sample.partition_point(|value| !value.is_nan())];
    let Some(last) = numbers.len().checked_sub(1) else {
        let infinity = convert::<T>(f64::INFINITY);
        return groups.iter().map(|_| (convert(f64::NEG_INFINITY), infinity)).collect();
    };
    let scale = sample.len() as f64 / count as f64;
    let at = |position: usize| ((position - before) as f64 * scale) as usize;
    // Six standard deviations of the number of sampled values below an order statistic.
    let margin = |at: usize| {
        let share = (at as f64 / sample.len() as f64).min(1.0);
        12 + (6.0 * (sample.len() as f64 * share * (1.0 - share)).sqrt()) as usize
    };
    let range = |group: &&[usize]| {
        let (low, high) = (at(group[0]), at(group[group.len() - 1]));
        let (low, high) = (low.saturating_sub(margin(low)), high + margin(high));
        (numbers[low.min(last)], numbers[high.min(last)])
    };
    groups.iter().map(range).collect()
}

fn convert<T: Element>(value: f64) -> T {
    Scalar::new(value).cast(T::DTYPE).get().unwrap_or_default()
}

fn is_float<T: Element>() -> bool {
    matches!(T::DTYPE, DType::Float64 | DType::Float32)
}

fn is_negative_zero<T: Element>(value: T) -> bool {
    is_float::<T>() && value == T::default() && bytes_of(&[value]) != bytes_of(&[T::default()])
}
