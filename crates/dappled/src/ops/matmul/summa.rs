//! SUMMA (van de Geijn and Watts, 1997).
//!
//! Both factors and the result are in blocks on one grid of ranks. The inner axis is divided into
//! panels; the owners of a panel send it along the rows and columns of the grid, and each rank adds
//! the product of the parts that it receives. The next panel is sent while one is multiplied. A
//! replicated factor is not sent.

use std::ops::Range;
use std::sync::Arc;

use dappled_base::interrupt;
use dappled_fabric::{ExchangeRequest, keep};
use dappled_protocol::Distribution;

use super::local::{LocalProducts, Piece, RowMajor, replicated_piece};
use super::{blocks, matrix_shape};
use crate::array::Array;
use crate::config::{MIN_SUMMA_PANEL_WIDTH, SUMMA_PANEL_BYTES};
use crate::error::{Result, RunError};
use crate::run::collective::{MessageElements, start_neighbor_all_to_all};
use crate::session::Session;
use crate::view::byte_range;

const OPERATION: &str = "a matrix product";

/// Multiplies two matrices; the result is in blocks on the grid. Collective.
pub(super) fn multiply(
    products: &mut LocalProducts,
    left: &Array,
    right: &Array,
    grid: [u64; 2],
) -> Result<Array> {
    let session = products.session();
    let ([rows, inner], columns) = (matrix_shape(left), matrix_shape(right)[1]);
    session.check_capacity(products.dtype(), &[rows, columns]);
    let result = blocks(session, &[rows, columns], "bb", Some(&grid));
    let factors = [Factor::new(left, grid, 1)?, Factor::new(right, grid, 0)?];
    let [height, width] = [factors[0].outer.len(), factors[1].outer.len()];
    let output = products.allocate(&[height, width]);
    let (one, other) = (factors[0].piece.0.read(), factors[1].piece.0.read());
    let memory = [one.map_err(RunError::from)?, other.map_err(RunError::from)?];
    let mut guard = output.0.write().map_err(RunError::from)?;
    let target = &mut guard[byte_range(&output.1)];
    let lengths = rows.div_ceil(grid[0] as usize) + columns.div_ceil(grid[1] as usize);
    let panel_width = SUMMA_PANEL_BYTES / products.dtype().itemsize() / lengths;
    let panels = panels(inner, panel_width.max(MIN_SUMMA_PANEL_WIDTH), &factors);
    let start = |panel: &Panel| {
        let own = [0, 1].map(|at| factors[at].part(&memory[at], &panel.range));
        panel.start(session, &result, own)
    };
    let mut pending = None;
    for (at, panel) in panels.iter().enumerate() {
        interrupt::poll();
        let request = match pending.take() {
            Some(request) => request,
            None => start(panel)?,
        };
        pending = panels.get(at + 1).map(start).transpose()?;
        let received = request.wait()?;
        let item = products.dtype().itemsize();
        let part = |at: usize, [rows, columns]: [usize; 2]| match &received[at] {
            Some(bytes) => RowMajor { bytes, rows, columns, stride: columns, item },
            None => factors[at].part(&memory[at], &panel.range),
        };
        let inner = panel.range.len();
        let parts = [part(0, [height, inner]), part(1, [inner, width])];
        products.multiply(parts, target, at > 0);
        received.into_iter().flatten().for_each(keep);
    }
    drop(guard);
    Ok(Array::from_owned_piece(session, result, output.0, output.1))
}

/// This rank's part of a factor.
struct Factor {
    piece: Piece,
    /// The inner axis: 1 of the left factor, 0 of the right one.
    inner_axis: usize,
    /// Inner indices in the piece.
    inner: Range<usize>,
    /// Where this rank's rows of the left factor, or columns of the right one, are in the piece.
    outer: Range<usize>,
    /// The end of the inner indices of each grid coordinate; none for a replicated factor.
    ends: Vec<usize>,
}

impl Factor {
    /// Distributes a factor in blocks on the grid, unless it is replicated. Collective.
    fn new(array: &Array, grid: [u64; 2], inner_axis: usize) -> Result<Self> {
        let session = array.session();
        let distribution = blocks(session, array.shape(), "bb", Some(&grid));
        let coords = distribution.coords(session.fabric().rank());
        let (outer_axis, axes) = (1 - inner_axis, distribution.axes());
        let owned = |axis: usize, coordinate: u64| {
            let ranges = axes[axis].owned_ranges(coordinate).next();
            ranges.map_or(0..0, |range| *range.start() as usize..*range.end() as usize + 1)
        };
        let outer = owned(outer_axis, coords[outer_axis]);
        if array.is_replicated() {
            let (piece, inner) = (replicated_piece(array)?, 0..array.shape()[inner_axis]);
            return Ok(Self { piece, inner_axis, inner, outer, ends: Vec::new() });
        }
        let piece = array.contiguous_local_part(&distribution)?;
        let ends = (0..grid[inner_axis]).map(|at| owned(inner_axis, at).end).collect();
        let (inner, outer) = (owned(inner_axis, coords[inner_axis]), 0..outer.len());
        Ok(Self { piece, inner_axis, inner, outer, ends })
    }

    /// The part with some inner indices; empty if this rank does not have them.
    fn part<'a>(&self, memory: &'a [u8], range: &Range<usize>) -> RowMajor<'a> {
        let piece = RowMajor::of(&self.piece, memory);
        let is_own = self.inner.start <= range.start && range.end <= self.inner.end;
        let first = range.start.wrapping_sub(self.inner.start);
        let inner = if is_own { first..first + range.len() } else { 0..0 };
        match self.inner_axis {
            1 => piece.block(self.outer.clone(), inner),
            _ => piece.block(inner, self.outer.clone()),
        }
    }

    /// The grid coordinate that has an inner index; `None` for a replicated factor.
    fn owner(&self, index: usize) -> Option<u64> {
        let owner = self.ends.iter().position(|&end| index < end);
        owner.map(|coordinate| coordinate as u64)
    }
}

/// A range of the inner axis, of which one grid column has the left factor, and one grid row the
/// right one.
struct Panel {
    range: Range<usize>,
    /// The grid column and the grid row; `None` for a replicated factor.
    owners: [Option<u64>; 2],
}

/// Divides the inner axis into panels.
fn panels(inner: usize, width: usize, factors: &[Factor; 2]) -> Vec<Panel> {
    let (mut panels, mut start) = (Vec::new(), 0);
    while start < inner {
        let ends = factors.iter().flat_map(|factor| &factor.ends).copied();
        let end = ends.filter(|&end| end > start).min().unwrap_or(inner);
        let range = start..end.min(start + width);
        start = range.end;
        panels.push(Panel { owners: [0, 1].map(|at| factors[at].owner(range.start)), range });
    }
    panels
}

impl Panel {
    /// Starts to send this rank's parts along the rows and columns of the grid. Collective.
    fn start(
        &self,
        session: &Session,
        result: &Distribution,
        own: [RowMajor<'_>; 2],
    ) -> Result<PanelRequest> {
        let (grid, coords) = (result.grid_shape(), result.coords(session.fabric().rank()));
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        let (mut is_received, mut has_messages) = ([false; 2], false);
        for (at, part) in own.iter().enumerate() {
            // The left factor is sent along a row of the grid, whose ranks differ in the column.
            let axis = 1 - at;
            let Some(owner) = self.owners[at].filter(|_| grid[axis] > 1) else { continue };
            let peer = |coordinate| {
                let mut peer = coords.clone();
                peer[axis] = coordinate;
                result.rank(&peer)
            };
            has_messages = true;
            if owner == coords[axis] {
                let message = Arc::new(MessageElements(part.contiguous().into_owned()));
                let others = (0..grid[axis]).filter(|&other| other != owner);
                sends.extend(others.map(|other| (peer(other), message.clone())));
            } else {
                receives.push(peer(owner));
                is_received[at] = true;
            }
        }
        let request = match has_messages {
            true => Some(start_neighbor_all_to_all(session, OPERATION, sends, &receives)?),
            false => None,
        };
        Ok(PanelRequest { request, is_received })
    }
}

/// A panel on its way.
struct PanelRequest {
    request: Option<ExchangeRequest>,
    /// Whether the parts of the left and of the right factor come from other ranks.
    is_received: [bool; 2],
}

impl PanelRequest {
    /// Waits for the parts that come from other ranks.
    fn wait(self) -> Result<[Option<Vec<u8>>; 2]> {
        let received = self.request.map(ExchangeRequest::wait).transpose()?;
        let mut received = received.into_iter().flatten();
        Ok(self.is_received.map(|is_received| if is_received { received.next() } else { None }))
    }
}
