//! Matrices in block-cyclic columns.
//!
//! Every rank has work until the end. A panel, that is one block column, is on one rank, which
//! factors and broadcasts it. A rank holds its own columns and one panel.

use std::ops::Range;
use std::sync::Arc;

use dappled_fabric::ExchangeRequest;
use dappled_linalg::{MatrixMut, MatrixRef};
use dappled_protocol::Distribution;

use super::{LapackField, OPERATION};
use crate::config::MAX_PANEL_COLUMNS;
use crate::error::Result;
use crate::run::collective::{MessageElements, elements_of, start_broadcast};
use crate::session::Session;

/// The blocks of columns of a matrix, and the ranks that own them.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanelLayout {
    rows: usize,
    columns: usize,
    width: usize,
    ranks: usize,
    rank: usize,
}

impl PanelLayout {
    /// The layout of a matrix over all ranks.
    pub fn new(session: &Session, [rows, columns]: [usize; 2]) -> Self {
        let ranks = session.fabric().size() as usize;
        let width = (columns / (2 * ranks)).clamp(1, MAX_PANEL_COLUMNS);
        Self { rows, columns, width, ranks, rank: session.fabric().rank() as usize }
    }

    /// The distribution of the transpose.
    pub fn distribution(&self) -> Distribution {
        let lengths = [self.columns as u64, self.rows as u64];
        let mut spec = Distribution::spec(&lengths).dist("cn").grid_shape(&[self.ranks as u64, 1]);
        spec.axes[0].block_size = Some(self.width as u64);
        spec.build().expect("every shape has block-cyclic columns")
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns of a panel.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of panels.
    pub fn panels(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// The columns of a panel.
    pub fn range(&self, panel: usize) -> Range<usize> {
        panel * self.width..((panel + 1) * self.width).min(self.columns)
    }

    /// The rank that owns a panel.
    pub fn owner(&self, panel: usize) -> u64 {
        (panel % self.ranks) as u64
    }

    /// Whether this rank owns a panel.
    pub fn owns(&self, panel: usize) -> bool {
        panel % self.ranks == self.rank
    }

    /// This rank's panels.
    pub fn local_panels(&self) -> impl Iterator<Item = usize> {
        (self.rank..self.panels()).step_by(self.ranks)
    }

    /// Where this rank's columns of a panel are among its columns.
    pub fn local_range(&self, panel: usize) -> Range<usize> {
        let start = panel / self.ranks * self.width;
        start..start + self.range(panel).len()
    }

    /// The number of this rank's columns before the end of a panel.
    pub fn local_end(&self, panel: usize) -> usize {
        self.local_panels()
            .take_while(|&local| local <= panel)
            .last()
            .map_or(0, |local| self.local_range(local).end)
    }

    /// This rank's columns as a matrix.
    pub fn matrix<'a, T>(&self, elements: &'a mut [T]) -> MatrixMut<'a, T> {
        let columns = elements.len().checked_div(self.rows).unwrap_or(0);
        MatrixMut::new(elements, self.rows, columns)
    }
}

/// A panel on its way from its owner, with integers that belong to it.
pub(super) struct PanelBroadcast<T> {
    own: Option<(Vec<u64>, Arc<MessageElements<T>>)>,
    requests: Option<[ExchangeRequest; 2]>,
}

impl<T: LapackField> PanelBroadcast<T> {
    /// Starts the broadcast of a panel and of integers; the owner has both. Collective.
    pub fn start(session: &Session, owner: u64, panel: Option<(Vec<u64>, Vec<T>)>) -> Result<Self> {
        let own = panel.map(|(integers, elements)| (integers, Arc::new(MessageElements(elements))));
        if session.fabric().size() == 1 {
            return Ok(Self { own, requests: None });
        }
        let (integers, elements) = match &own {
            Some((integers, elements)) => (integers.clone(), elements.clone()),
            None => (Vec::new(), Arc::new(MessageElements(Vec::new()))),
        };
        let integers = Arc::new(MessageElements(integers));
        let first = start_broadcast(session, OPERATION, owner, integers)?;
        let second = start_broadcast(session, OPERATION, owner, elements)?;
        Ok(Self { own, requests: Some([first, second]) })
    }

    /// Waits for the panel; the owner has it already, and keeps sending until it drops it.
    pub fn wait(self) -> Result<FactoredPanel<T>> {
        match (self.own, self.requests) {
            (Some((integers, elements)), sends) => {
                Ok(FactoredPanel { integers, elements, _sends: sends })
            }
            (None, Some([integers, elements])) => {
                let [integers, elements] = [integers.wait()?, elements.wait()?]
                    .map(|messages| messages.into_iter().next());
                let integers = integers.map_or_else(Vec::new, elements_of);
                let elements = MessageElements(elements.map_or_else(Vec::new, elements_of));
                Ok(FactoredPanel { integers, elements: Arc::new(elements), _sends: None })
            }
            (None, None) => unreachable!("a panel has an owner"),
        }
    }
}

/// A panel that every rank has.
pub(super) struct FactoredPanel<T> {
    /// The integers that were sent with it.
    pub integers: Vec<u64>,
    elements: Arc<MessageElements<T>>,
    /// The messages to other ranks, which are complete when they are dropped.
    _sends: Option<[ExchangeRequest; 2]>,
}

impl<T> FactoredPanel<T> {
    /// The panel as a matrix of contiguous columns.
    pub fn matrix(&self, columns: usize) -> MatrixRef<'_, T> {
        MatrixRef::new(&self.elements.0, self.elements.0.len() / columns, columns)
    }
}
