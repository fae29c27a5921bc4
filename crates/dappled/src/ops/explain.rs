//! The text form of a pending evaluation.

use crate::array::Array;
use crate::array::node::{Node, NodeState};
use crate::error::Result;
use crate::graph::fusion::fuse_elementwise;
use crate::run::distributed::{cached_plan, node_distribution};

impl Array {
    /// Describes how this rank would evaluate the array.
    ///
    /// The text has the program of the fused kernel and, on several ranks, the plan of messages and
    /// tiles.
    pub fn explain(&self) -> Result<String> {
        let node = self.storage.current();
        let placement = match node.placement.is_replicated() {
            true => "replicated on every rank".to_string(),
            false => {
                let distribution = node_distribution(self.session(), &node);
                format!("'{}' over {} ranks", distribution.dist(), distribution.nprocs())
            }
        };
        let head = format!("{} {:?}, {placement}", node.base.dtype, node.base.shape);
        Ok(match node.state() {
            NodeState::Stored(_) => format!("{head}: stored\n"),
            NodeState::Full(value) => format!("{head}: filled with {value}\n"),
            NodeState::Deferred(value) => format!("{head}: pending\n{}\n", value.description()),
            NodeState::Elementwise(op) => {
                let fused = fuse_elementwise(&node, &op, false);
                let local = node.placement.is_replicated()
                    && fused.inputs.iter().all(|(input, _)| input.placement.is_replicated());
                let plan = match local {
                    true => String::new(),
                    false => cached_plan(self.session(), &fused, &node, &node.base)?.0.to_string(),
                };
                format!(
                    "{head}: pending\n{}{}{plan}",
                    fused.program,
                    describe_inputs(&fused.inputs)
                )
            }
        })
    }
}

fn describe_inputs(inputs: &[(std::sync::Arc<Node>, dappled_kernels::View)]) -> String {
    let line = |(index, (node, view)): (usize, &(std::sync::Arc<Node>, dappled_kernels::View))| {
        format!("%{index} reads {:?} of {:?}\n", view.shape, node.base.shape)
    };
    inputs.iter().enumerate().map(line).collect()
}
