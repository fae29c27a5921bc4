//! What would be done to know an array's values, as text.

use super::fuse::fused_map;
use super::node::{Node, State};
use super::spread::{distribution, planned};
use super::{Array, GraphError};

impl Array {
    /// What this rank would do to compute what is pending: the program of the fused kernel, and
    /// between several ranks the plan of its messages and tiles.
    pub fn explain(&self) -> Result<String, GraphError> {
        let node = self.versions.current();
        let place = match node.layout.is_whole() {
            true => "whole on every rank".to_string(),
            false => {
                let distribution = distribution(self.session(), &node);
                format!("'{}' over {} ranks", distribution.dist(), distribution.nprocs())
            }
        };
        let head = format!("{} {:?}, {place}", node.base.dtype, node.base.shape);
        Ok(match node.state() {
            State::Stored(_) => format!("{head}: stored\n"),
            State::Full(value) => format!("{head}: {value} everywhere\n"),
            State::Chosen(_) => format!("{head}: pending\nwhat a mask chooses\n"),
            State::Patched(_) => format!("{head}: pending\na part of it is to be written\n"),
            State::Map(map) => {
                let fused = fused_map(self.session(), &node, &map, false)?;
                let local = node.layout.is_whole()
                    && fused.inputs.iter().all(|(input, _)| input.layout.is_whole());
                let plan = match local {
                    true => String::new(),
                    false => planned(self.session(), &fused, &node, &node.base)?.0.to_string(),
                };
                format!("{head}: pending\n{}{}{plan}", fused.program, reads(&fused.inputs))
            }
        })
    }
}

fn reads(inputs: &[(std::sync::Arc<Node>, dappled_kernels::View)]) -> String {
    let line = |(at, (node, view)): (usize, &(std::sync::Arc<Node>, dappled_kernels::View))| {
        format!("%{at} reads {:?} of {:?}\n", view.shape, node.base.shape)
    };
    inputs.iter().enumerate().map(line).collect()
}
