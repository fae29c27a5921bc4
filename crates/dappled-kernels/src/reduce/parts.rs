//! Runs of values: computed tile by tile, cut along NumPy's tree, on one thread or on all.

use std::ops::Range;

use crate::bind::Bound;
use crate::kernels::{Cuts, Folder, State};
use crate::machine::Machine;
use crate::share::share;
use crate::tree;
use crate::{Folded, Interpreter};

/// Elements that one thread folds before it is worth asking another.
pub(crate) const PART: usize = 1 << 15;

/// In so many parts a large node is cut for each thread, about: so that one that was late does not
/// delay all, and what is done once for each part does not count.
const SHARES: usize = 64;

/// A program, the memory it reads, and what is done with its values.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub code: &'a Interpreter,
    pub bound: &'a Bound<'a>,
    pub folder: Folder,
}

/// What a run amounts to before an accumulator is known.
#[derive(Clone, Copy, Default)]
pub(crate) struct Summary {
    state: Option<State>,
    tail: State,
    /// Bytes of the tail.
    len: usize,
}

impl<'a> Parts<'a> {
    /// Makes values for some work that folds them.
    pub fn with_machine<T>(&self, work: impl FnOnce(&mut Machine<'a>) -> T) -> (T, Folded) {
        Machine::with(self.code, self.bound, self.folder.signals, work)
    }

    /// What a node amounts to, its parts on different threads where it is large.
    pub fn shared(&self, node: Range<usize>) -> (State, Folded) {
        let most = PART.max(node.len() / (SHARES * rayon::current_num_threads()));
        let mut nodes = Vec::new();
        self.small_nodes(node.clone(), most, &mut nodes);
        let alone = |node: Range<usize>| {
            self.with_machine(|machine| {
                machine.goes_to(node.end);
                self.alone(machine, node)
            })
        };
        let mut parts = share(nodes, alone).into_iter();
        self.joined(node, most, &mut parts)
    }

    /// The nodes that are worth a thread each, in order.
    fn small_nodes(&self, node: Range<usize>, most: usize, nodes: &mut Vec<Range<usize>>) {
        match self.large_halves(&node, most) {
            Some((left, right)) => {
                self.small_nodes(left, most, nodes);
                self.small_nodes(right, most, nodes);
            }
            None => nodes.push(node),
        }
    }

    /// What a node amounts to, from what its parts do.
    fn joined(
        &self,
        node: Range<usize>,
        most: usize,
        parts: &mut impl Iterator<Item = (State, Folded)>,
    ) -> (State, Folded) {
        let Some((left, right)) = self.large_halves(&node, most) else {
            return parts.next().expect("one for each node");
        };
        let (left, right) = (self.joined(left, most, parts), self.joined(right, most, parts));
        let (mut state, mut folded) = (left.0, left.1.join(right.1));
        folded.folding |= self.folder.watch(|| self.folder.join(&mut state, &right.0));
        (state, folded)
    }

    fn large_halves(
        &self,
        node: &Range<usize>,
        most: usize,
    ) -> Option<(Range<usize>, Range<usize>)> {
        self.halves(node).filter(|_| node.len() > most)
    }

    /// The same on this thread: nodes of a tile's size or less are computed as one tile.
    pub fn alone(&self, machine: &mut Machine<'_>, node: Range<usize>) -> State {
        let mut state = State::default();
        match self.halves(&node).filter(|_| node.len() > machine.most_values()) {
            Some((left, right)) => {
                state = self.alone(machine, left);
                let right = self.alone(machine, right);
                self.folder.join(&mut state, &right);
            }
            None => self.folder.part(machine.value(node), &mut state),
        }
        state
    }

    fn halves(&self, node: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
        let node = node.start as u64..node.end as u64;
        let cut = if self.folder.elements == 2 {
            tree::cut::<num_complex::Complex64>(&node)
        } else {
            tree::cut::<f64>(&node)
        };
        let (start, middle, end) = (node.start as usize, cut? as usize, node.end as usize);
        Some((start..middle, middle..end))
    }

    /// What a run amounts to.
    pub fn summary(&self, machine: &mut Machine<'_>, run: Range<usize>) -> Summary {
        let end = run.end - run.len() % self.folder.lanes;
        let mut summary = Summary::default();
        if run.start < end {
            let node = run.start..end;
            summary.state = Some(match run.len() > PART {
                true => machine.aside(|| self.shared(node)),
                false => self.alone(machine, node),
            });
        }
        if end < run.end {
            let tail = machine.value(end..run.end);
            summary.len = tail.len();
            crate::element::bytes_of_mut(&mut summary.tail)[..tail.len()].copy_from_slice(tail);
        }
        summary
    }

    /// Folds an accumulator with a run.
    pub fn add(&self, acc: &mut [u8], summary: &Summary) {
        if let Some(state) = &summary.state {
            self.folder.finish(acc, state);
        }
        if summary.len > 0 {
            let tail = &crate::element::bytes_of(&summary.tail)[..summary.len];
            self.folder.runs(acc, tail, false);
        }
    }

    /// Folds an accumulator with a run on this thread.
    pub fn run(&self, machine: &mut Machine<'_>, acc: &mut [u8], run: Range<usize>) {
        if self.folder.cuts != Cuts::Nowhere {
            let summary = self.summary(machine, run);
            return self.add(acc, &summary);
        }
        let mut state = State::default();
        self.folder.begin(acc, &mut state);
        let most = machine.most_values();
        for start in run.clone().step_by(most) {
            self.folder.part(machine.value(start..run.end.min(start + most)), &mut state);
        }
        self.folder.finish(acc, &state);
    }
}
