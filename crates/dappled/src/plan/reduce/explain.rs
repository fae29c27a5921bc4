//! Plans of reductions, scans and searches as text.

use std::fmt;

use dappled_kernels::ArgReduceOp;

use super::argminmax::ArgReducePlan;
use super::pairwise::{PairwiseSum, SumShare};
use super::pipeline::RankPipeline;
use super::scan::ScanPlan;
use super::{CombineStep, ReducePlan, ResultStep};
use crate::config::MAX_LISTED_NEIGHBOURS;
use crate::plan::explain::{describe_distribution, tuple};
use crate::plan::values::{RankContext, ValuesStep, local_shape};

impl fmt::Display for ReducePlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { request, shape, context, .. } = self;
        let (op, dtype, axes) = (request.fold, request.dtype, tuple(&request.axes));
        writeln!(out, "{op} of {dtype} {} along axes {axes}, {context}", tuple(shape))?;
        write_values(out, &self.values, shape, context)?;
        let local = match self.values.distribution() {
            Some(target) => local_shape(target, context.rank),
            None => shape.clone(),
        };
        let reduced = tuple(&request.reduced_shape(&local));
        match &self.combine {
            CombineStep::Local => writeln!(out, "reduce to {reduced}")?,
            CombineStep::Allgather { partial } => {
                writeln!(out, "reduce to {reduced}")?;
                let count: u64 = partial.shape().iter().product();
                writeln!(out, "allgather {count} partial results, reduce them on every rank")?;
            }
            CombineStep::Redistribute { partial, last } => {
                writeln!(out, "reduce to {reduced}")?;
                let partial = describe_distribution(partial);
                writeln!(out, "partial results {partial}, reduced in turn:")?;
                return write!(out, "{last}");
            }
            CombineStep::Pipeline(pipeline) => write_pipeline(out, pipeline, "reduce")?,
            CombineStep::PairwiseTree(sum) => write!(out, "{sum}")?,
        }
        write!(out, "{}", self.result)
    }
}

impl fmt::Display for ScanPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, dtype, shape, context, pipeline, .. } = self;
        let axis = pipeline.axis;
        writeln!(out, "scan {op} of {dtype} {} along axis {axis}, {context}", tuple(shape))?;
        write_values(out, &self.values, shape, context)?;
        write_pipeline(out, pipeline, "scan")?;
        write!(out, "{}", self.result)
    }
}

impl fmt::Display for ArgReducePlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dtype, shape, context, .. } = self;
        let op = match self.op {
            ArgReduceOp::ArgMin => "argmin",
            ArgReduceOp::ArgMax => "argmax",
        };
        let along = self.axis.map_or("all axes".to_string(), |axis| format!("axis {axis}"));
        writeln!(out, "{op} of {dtype} {} along {along}, {context}", tuple(shape))?;
        write_values(out, &self.values, shape, context)?;
        if self.axis.is_none() {
            let bytes = self.candidate_bytes();
            writeln!(out, "allgather the index and value of each rank's extreme, {bytes} bytes")?;
            writeln!(out, "compare the extremes; the first of equal ones is the result")?;
        }
        write!(out, "{}", self.result)
    }
}

impl fmt::Display for RankContext {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "rank {} of {}", self.rank, self.ranks)
    }
}

/// Writes how a rank obtains its values.
pub(crate) fn write_values(
    out: &mut fmt::Formatter<'_>,
    values: &ValuesStep,
    shape: &[usize],
    context: &RankContext,
) -> fmt::Result {
    let local = |target| tuple(&local_shape(target, context.rank));
    match values {
        ValuesStep::InPlace(target) => {
            writeln!(out, "read {} in place, {}", local(target), describe_distribution(target))
        }
        ValuesStep::Redistribute(target) => {
            writeln!(out, "redistribute to {}", describe_distribution(target))?;
            writeln!(out, "read {}", local(target))
        }
        ValuesStep::Gather => writeln!(out, "gather {} on every rank", tuple(shape)),
    }
}

fn write_pipeline(
    out: &mut fmt::Formatter<'_>,
    pipeline: &RankPipeline,
    verb: &str,
) -> fmt::Result {
    let (bytes, messages) = (pipeline.bytes(), pipeline.chunks.len());
    if messages == 0 {
        return writeln!(out, "no values");
    }
    if let Some(rank) = pipeline.previous {
        writeln!(
            out,
            "receive {bytes} bytes of accumulators from rank {rank}, {messages} messages"
        )?;
    }
    writeln!(out, "{verb} with accumulators {}", tuple(&pipeline.accumulators))?;
    match pipeline.next {
        Some(rank) => {
            writeln!(out, "send {bytes} bytes of accumulators to rank {rank}, {messages} messages")
        }
        None => Ok(()),
    }
}

impl fmt::Display for PairwiseSum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let describe = |share: &SumShare| {
            let nodes = share.node_count();
            format!("{nodes} tree nodes and {} single values", share.count - nodes)
        };
        let (pieces, accumulators) = (self.pieces.len(), self.accumulators);
        let own = describe(&self.own_share);
        writeln!(out, "sum {own} of {pieces} trees for each of {accumulators} accumulators")?;
        if self.members.is_empty() {
            let bytes = self.message_bytes(&self.own_share);
            return writeln!(out, "send {bytes} bytes to rank {}", self.root);
        }
        let others: Vec<&(u64, SumShare)> =
            self.members.iter().filter(|(rank, _)| *rank != self.root).collect();
        for (rank, share) in others.iter().take(MAX_LISTED_NEIGHBOURS) {
            let bytes = self.message_bytes(share);
            writeln!(out, "receive {bytes} bytes from rank {rank}, {}", describe(share))?;
        }
        if let Some(rest) = others.get(MAX_LISTED_NEIGHBOURS..).filter(|rest| !rest.is_empty()) {
            let bytes: u64 = rest.iter().map(|(_, share)| self.message_bytes(share)).sum();
            writeln!(out, "receive {bytes} bytes from {} more ranks", rest.len())?;
        }
        writeln!(out, "combine the trees of {} ranks", self.members.len())
    }
}

impl fmt::Display for ResultStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResultStep::Replicated => writeln!(out, "result on every rank"),
            ResultStep::Distributed(results) => {
                writeln!(out, "result {}", describe_distribution(results))
            }
            ResultStep::Allgather(results) => {
                writeln!(out, "result {}, gathered on every rank", describe_distribution(results))
            }
        }
    }
}
