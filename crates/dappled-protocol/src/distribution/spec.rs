//! Specification of a distribution, axis by axis.

use super::{Distribution, Held, process_grid};
use crate::axis::AxisMap;
use crate::error::ProtocolError;
use crate::rules;

/// The specification of a distribution. Created by [`Distribution::spec`].
///
/// ```
/// use dappled_protocol::Distribution;
/// let padded = Distribution::spec(&[18]).nprocs(2).padding(1).build()?; // 0.10's example 2.2
/// assert_eq!(padded.local_shape(0), [10]);
/// # Ok::<(), dappled_protocol::ProtocolError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// The specification of each axis.
    pub axes: Vec<AxisSpec>,
    /// The number of ranks; None means the product of the grid.
    pub nprocs: Option<u64>,
}

/// The specification of one axis.
#[derive(Clone, Debug, Default)]
pub struct AxisSpec {
    /// The number of global indices.
    pub size: u64,
    /// The `dist_type`: `b`, `c`, `u` or `n`; None means `b`.
    pub kind: Option<char>,
    /// The number of ranks along the axis; None means chosen automatically.
    pub grid: Option<u64>,
    /// Cyclic: the block size; None means 1.
    pub block_size: Option<u64>,
    /// Block: `grid + 1` bounds from 0 to the size; None means regular bounds.
    pub bounds: Option<Vec<u64>>,
    /// Unstructured: the labels of each rank.
    pub indices: Option<Vec<Vec<i64>>>,
    /// Block: the padding.
    pub padding: Option<Padding>,
    /// Block: whether boundary padding is filled from the other end.
    pub periodic: bool,
    /// Unstructured: whether every label is on one rank only.
    pub one_to_one: bool,
}

/// The padding widths at the `grid + 1` edges of the ranks along an axis. Next to a rank that owns
/// nothing the width is always 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padding {
    /// One width at every edge, including both boundaries.
    Uniform(u64),
    /// One width per edge.
    Edges(Vec<u64>),
}

/// Maximum size: an index fits into 63 bits.
pub(super) const MAX_SIZE: u64 = i64::MAX as u64;

impl Spec {
    pub(super) fn new(shape: &[u64]) -> Self {
        let axis = |&size: &u64| AxisSpec { size, ..AxisSpec::default() };
        Self { axes: shape.iter().map(axis).collect(), nprocs: None }
    }

    /// Sets the number of ranks.
    pub fn nprocs(mut self, nprocs: u64) -> Self {
        self.nprocs = Some(nprocs);
        self
    }

    /// Sets the `dist_type` of each axis, such as `"bc"`; the remaining axes are block.
    pub fn dist(mut self, kinds: &str) -> Self {
        for (axis, kind) in self.axes.iter_mut().zip(kinds.chars()) {
            axis.kind = Some(kind);
        }
        self
    }

    /// Sets the number of ranks along each axis.
    pub fn grid_shape(mut self, grid: &[u64]) -> Self {
        for (axis, &ranks) in self.axes.iter_mut().zip(grid) {
            axis.grid = Some(ranks);
        }
        self
    }

    /// Sets the block size of all cyclic axes.
    pub fn block_size(mut self, block_size: u64) -> Self {
        for axis in self.axes.iter_mut().filter(|axis| axis.kind == Some('c')) {
            axis.block_size = Some(block_size);
        }
        self
    }

    /// Sets the padding width at all edges of all block axes.
    pub fn padding(mut self, width: u64) -> Self {
        for axis in self.axes.iter_mut().filter(|axis| matches!(axis.kind, None | Some('b' | 'n')))
        {
            axis.padding = Some(Padding::Uniform(width));
        }
        self
    }

    /// Builds the distribution, or returns the first rule that it violates.
    pub fn build(&self) -> Result<Distribution, ProtocolError> {
        for (dimension, axis) in self.axes.iter().enumerate() {
            axis.check().map_err(|error| error.with_dimension(dimension))?;
        }
        let is_whole = !self.axes.is_empty() && self.axes.iter().all(|axis| axis.kind == Some('n'));
        let nprocs = self.rank_count()?;
        let grid = match is_whole {
            true => vec![1; self.axes.len()],
            false => self.choose_grid(nprocs)?,
        };
        let make = |(dimension, (axis, ranks)): (usize, (&AxisSpec, u64))| {
            axis.build(ranks).map_err(|error| error.with_dimension(dimension))
        };
        let axes = self.axes.iter().zip(grid).enumerate().map(make).collect::<Result<_, _>>()?;
        let mut distribution = Distribution::on_grid(axes, nprocs);
        if is_whole && nprocs > 1 {
            distribution.held = Held::All;
        }
        Ok(distribution)
    }

    fn rank_count(&self) -> Result<u64, ProtocolError> {
        match self.nprocs {
            Some(1..=MAX_SIZE) => Ok(self.nprocs.unwrap_or(1)),
            Some(nprocs) => Err(ProtocolError::new(&rules::L08, "a number of processes >= 1")
                .with_key("nprocs")
                .with_value(nprocs)),
            None => {
                let ranks = self.axes.iter().filter_map(AxisSpec::ranks);
                let product =
                    ranks.clone().try_fold(1u64, |product, ranks| product.checked_mul(ranks));
                product.filter(|&product| product <= MAX_SIZE).ok_or_else(|| {
                    ProtocolError::new(&rules::C02, "a grid of less than 2^63 processes")
                        .with_key("grid_shape")
                        .with_value(format!("{:?}", ranks.collect::<Vec<_>>()))
                })
            }
        }
    }

    fn choose_grid(&self, nprocs: u64) -> Result<Vec<u64>, ProtocolError> {
        if self.axes.is_empty() {
            return Ok(Vec::new());
        }
        let shape: Vec<u64> = self.axes.iter().map(|axis| axis.size).collect();
        let fixed: Vec<Option<u64>> = self.axes.iter().map(AxisSpec::ranks).collect();
        process_grid::choose_grid(&shape, &fixed, nprocs).ok_or_else(|| {
            let shown: Vec<String> = fixed
                .iter()
                .map(|ranks| ranks.map_or("free".into(), |ranks| ranks.to_string()))
                .collect();
            ProtocolError::new(
                &rules::C02,
                format!("a grid whose product is the {nprocs} processes"),
            )
            .with_key("grid_shape")
            .with_value(format!("({})", shown.join(", ")))
        })
    }
}

impl AxisSpec {
    /// Returns the number of ranks along the axis, if any option determines it.
    pub(super) fn ranks(&self) -> Option<u64> {
        let by_bounds = self.bounds.as_ref().map(|bounds| bounds.len().saturating_sub(1) as u64);
        let by_edges = match &self.padding {
            Some(Padding::Edges(widths)) => Some(widths.len().saturating_sub(1) as u64),
            _ => None,
        };
        let by_lists = self.indices.as_ref().map(|lists| lists.len() as u64);
        let undistributed = (self.kind == Some('n')).then_some(1);
        self.grid.or(by_bounds).or(by_lists).or(by_edges).or(undistributed)
    }

    /// Builds the axis map on `ranks` ranks. Requires that `check` has passed.
    fn build(&self, ranks: u64) -> Result<AxisMap, ProtocolError> {
        match self.kind {
            Some('c') => Ok(AxisMap::block_cyclic(self.size, ranks, self.block_size.unwrap_or(1))),
            Some('u') => Ok(AxisMap::unstructured(
                self.size,
                self.indices.clone().unwrap_or_default(),
                self.one_to_one,
            )),
            _ => self.build_block(ranks),
        }
    }
}
