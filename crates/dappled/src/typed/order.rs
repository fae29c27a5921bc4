//! Order statistics, counts and searches.

use dappled_kernels::DType;

use super::Array;
use super::element::{IntegerElement, RealElement};
use crate::error::{Error, Result};

impl<T: RealElement> Array<T> {
    /// The middle of the sorted elements, or the mean of the two middle ones; NaN if there is a
    /// NaN. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<i64>::from_slice(&cx, [4], &[7, 1, 2, 4])?;
    /// assert_eq!(a.median()?, 3.0);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn median(&self) -> Result<f64> {
        let count = self.len();
        let [low, high] = self.statistics([count.saturating_sub(1) / 2, count / 2])?;
        Ok((low + high) / 2.0)
    }

    /// The value below which a share of the elements is, interpolated linearly as by NumPy; NaN if
    /// there is a NaN. Collective.
    ///
    /// The share must be between 0 and 1.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<f64>::from_slice(&cx, [5], &[5.0, 1.0, 2.0, 4.0, 3.0])?;
    /// assert_eq!(a.quantile(0.25)?, 2.0);
    /// assert_eq!(a.quantile(0.4)?, 2.6);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn quantile(&self, share: f64) -> Result<f64> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::QuantileRange);
        }
        let last = self.len().saturating_sub(1);
        let position = last as f64 * share;
        let lower = (position as usize).min(last);
        let [low, high] = self.statistics([lower, (lower + 1).min(last)])?;
        let (fraction, difference) = (position - lower as f64, high - low);
        Ok(match fraction >= 0.5 {
            true => high - difference * (1.0 - fraction),
            false => low + difference * fraction,
        })
    }

    /// Two order statistics in float64; NaN if there is a NaN or no element. Collective.
    fn statistics(&self, [low, high]: [usize; 2]) -> Result<[f64; 2]> {
        let Some(last) = self.len().checked_sub(1) else { return Ok([f64::NAN; 2]) };
        let selected = self.dynamic.order_statistics(&[low, high, last])?;
        let selected = selected.expect("real numbers are ordered").cast(DType::Float64)?;
        let values = selected.to_vec::<f64>()?;
        Ok(if values[2].is_nan() { [f64::NAN; 2] } else { [values[0], values[1]] })
    }

    /// The positions where values would be inserted into this sorted row; before equal elements.
    /// Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let sorted = Array::<f64>::from_slice(&cx, [3], &[1.0, 2.0, 4.0])?;
    /// let values = Array::from_slice(&cx, [3], &[2.0, 9.0, 0.0])?;
    /// assert_eq!(sorted.searchsorted(&values)?.to_vec()?, [1, 3, 0]);
    /// assert_eq!(sorted.searchsorted_right(&values)?.to_vec()?, [2, 3, 0]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn searchsorted(&self, values: &Array<T>) -> Result<Array<i64>> {
        self.dynamic.searchsorted(&values.dynamic, false).map(Array::from_dynamic)
    }

    /// The positions where values would be inserted into this sorted row; after equal elements.
    /// Collective.
    pub fn searchsorted_right(&self, values: &Array<T>) -> Result<Array<i64>> {
        self.dynamic.searchsorted(&values.dynamic, true).map(Array::from_dynamic)
    }

    /// Counts the values in bins of equal width between the minimum and the maximum. Collective.
    ///
    /// Returns the counts and the edges of the bins. Fails if there is a NaN or an infinity.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<f64>::from_slice(&cx, [5], &[0.0, 1.0, 1.5, 3.0, 4.0])?;
    /// let (counts, edges) = a.histogram(2)?;
    /// assert_eq!((counts.to_vec()?, edges), (vec![3, 2], vec![0.0, 2.0, 4.0]));
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn histogram(&self, bins: usize) -> Result<(Array<i64>, Vec<f64>)> {
        let values = self.dynamic.with_dtype(DType::Float64)?;
        let (low, high) = match values.value_range()? {
            Some(range) => range,
            None if self.is_empty() => (0.0, 1.0),
            None => (f64::NAN, f64::NAN),
        };
        if !(low.is_finite() && high.is_finite()) {
            return Err(Error::HistogramRange { low, high });
        }
        if bins == 0 {
            return Err(Error::NoBins);
        }
        let (low, high) = if low == high { (low - 0.5, high + 0.5) } else { (low, high) };
        let width = (high - low) / bins as f64;
        let mut edges: Vec<f64> = (0..bins).map(|at| at as f64 * width + low).collect();
        edges.push(high);
        let counts = values.histogram_uniform(&edges)?;
        Ok((Array::from_dynamic(counts), edges))
    }
}

impl<T: IntegerElement> Array<T> {
    /// Counts how often each nonnegative integer occurs: NumPy's `bincount`. Collective.
    ///
    /// The result has at least `min_length` elements. Fails if an element is negative.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<i32>::from_slice(&cx, [4], &[1, 3, 1, 0])?;
    /// assert_eq!(a.bincount(0)?.to_vec()?, [1, 2, 0, 1]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn bincount(&self, min_length: usize) -> Result<Array<i64>> {
        self.dynamic.bincount(None, min_length).map(Array::from_dynamic)
    }
}
