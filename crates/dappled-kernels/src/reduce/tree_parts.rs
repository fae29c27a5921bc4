//! Reduces runs of values along NumPy's pairwise tree, tile by tile, on one thread or all.

use std::ops::Range;

use crate::config::{MIN_REDUCE_TASK_ELEMENTS, TREE_NODES_PER_THREAD};
use crate::execute::Interpreter;
use crate::execute::machine::Machine;
use crate::iter::bound_operands::BoundOperands;
use crate::loops::reduce::pairwise_tree;
use crate::loops::reduce::{ReduceKernels, ReduceState, Splitting};
use crate::threads::parallel_map::parallel_map;
use crate::types::fp_flags::ReduceFlags;

/// A program, its operands, and the kernels that reduce its values.
#[derive(Clone, Copy)]
pub(crate) struct TreeReducer<'a> {
    pub code: &'a Interpreter,
    pub bound: &'a BoundOperands<'a>,
    pub kernels: ReduceKernels,
}

/// The partial result of a run, before it meets its accumulator.
#[derive(Clone, Copy, Default)]
pub(crate) struct RunPartial {
    state: Option<ReduceState>,
    tail: ReduceState,
    /// The number of bytes of the tail.
    len: usize,
}

impl<'a> TreeReducer<'a> {
    /// Runs a closure with a machine that computes the values.
    pub fn with_machine<T>(&self, work: impl FnOnce(&mut Machine<'a>) -> T) -> (T, ReduceFlags) {
        Machine::run_with(self.code, self.bound, self.kernels.cpu_flags, work)
    }

    /// Reduces a tree node, in parallel if it is large.
    pub fn reduce_parallel(&self, node: Range<usize>) -> (ReduceState, ReduceFlags) {
        let most = MIN_REDUCE_TASK_ELEMENTS
            .max(node.len() / (TREE_NODES_PER_THREAD * rayon::current_num_threads()));
        let mut nodes = Vec::new();
        self.collect_nodes(node.clone(), most, &mut nodes);
        let alone = |node: Range<usize>| {
            self.with_machine(|machine| {
                machine.set_write_limit(node.end);
                self.reduce_serial(machine, node)
            })
        };
        let mut parts = parallel_map(nodes, alone).into_iter();
        self.join_nodes(node, most, &mut parts)
    }

    /// The subtrees that are worth a task each, in order.
    fn collect_nodes(&self, node: Range<usize>, most: usize, nodes: &mut Vec<Range<usize>>) {
        match self.split_large(&node, most) {
            Some((left, right)) => {
                self.collect_nodes(left, most, nodes);
                self.collect_nodes(right, most, nodes);
            }
            None => nodes.push(node),
        }
    }

    /// Joins the states of the subtrees of a node.
    fn join_nodes(
        &self,
        node: Range<usize>,
        most: usize,
        parts: &mut impl Iterator<Item = (ReduceState, ReduceFlags)>,
    ) -> (ReduceState, ReduceFlags) {
        let Some((left, right)) = self.split_large(&node, most) else {
            return parts.next().expect("one state per node");
        };
        let (left, right) =
            (self.join_nodes(left, most, parts), self.join_nodes(right, most, parts));
        let (mut state, mut flags) = (left.0, left.1.join(right.1));
        flags.reduction |= self.kernels.with_cpu_flags(|| self.kernels.join(&mut state, &right.0));
        (state, flags)
    }

    fn split_large(
        &self,
        node: &Range<usize>,
        most: usize,
    ) -> Option<(Range<usize>, Range<usize>)> {
        self.split(node).filter(|_| node.len() > most)
    }

    /// Reduces a tree node on this thread; nodes of at most a tile are computed as one tile.
    pub fn reduce_serial(&self, machine: &mut Machine<'_>, node: Range<usize>) -> ReduceState {
        let mut state = ReduceState::default();
        match self.split(&node).filter(|_| node.len() > machine.value_tile_elements()) {
            Some((left, right)) => {
                state = self.reduce_serial(machine, left);
                let right = self.reduce_serial(machine, right);
                self.kernels.join(&mut state, &right);
            }
            None => self.kernels.summarize(machine.compute(node), &mut state),
        }
        state
    }

    fn split(&self, node: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
        let node = node.start as u64..node.end as u64;
        let cut = if self.kernels.elements == 2 {
            pairwise_tree::split_point::<num_complex::Complex64>(&node)
        } else {
            pairwise_tree::split_point::<f64>(&node)
        };
        let (start, middle, end) = (node.start as usize, cut? as usize, node.end as usize);
        Some((start..middle, middle..end))
    }

    /// Reduces a run to a partial result.
    pub fn run_partial(&self, machine: &mut Machine<'_>, run: Range<usize>) -> RunPartial {
        let end = run.end - run.len() % self.kernels.lanes;
        let mut partial = RunPartial::default();
        if run.start < end {
            let node = run.start..end;
            partial.state = Some(match run.len() > MIN_REDUCE_TASK_ELEMENTS {
                true => machine.suspend(|| self.reduce_parallel(node)),
                false => self.reduce_serial(machine, node),
            });
        }
        if end < run.end {
            let tail = machine.compute(end..run.end);
            partial.len = tail.len();
            crate::types::element::bytes_of_mut(&mut partial.tail)[..tail.len()]
                .copy_from_slice(tail);
        }
        partial
    }

    /// Adds the partial result of a run to an accumulator.
    pub fn add_partial(&self, acc: &mut [u8], partial: &RunPartial) {
        if let Some(state) = &partial.state {
            self.kernels.finish(acc, state);
        }
        if partial.len > 0 {
            let tail = &crate::types::element::bytes_of(&partial.tail)[..partial.len];
            self.kernels.reduce_runs(acc, tail, false);
        }
    }

    /// Reduces a run into an accumulator on this thread.
    pub fn reduce_run(&self, machine: &mut Machine<'_>, acc: &mut [u8], run: Range<usize>) {
        if self.kernels.splitting != Splitting::Nowhere {
            let partial = self.run_partial(machine, run);
            return self.add_partial(acc, &partial);
        }
        let mut state = ReduceState::default();
        self.kernels.begin(acc, &mut state);
        let most = machine.value_tile_elements();
        for start in run.clone().step_by(most) {
            self.kernels.summarize(machine.compute(start..run.end.min(start + most)), &mut state);
        }
        self.kernels.finish(acc, &state);
    }
}
