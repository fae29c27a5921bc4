//! Fingerprints of arrays and of their definitions.

use std::collections::HashMap;

use dappled_kernels::View;

use super::Array;
use super::node::{Node, NodeInput, NodeState};
use super::placement::Placement;
use crate::session::fingerprint::{Fingerprint, FingerprintField};

impl Fingerprint {
    /// Adds a view of an array.
    pub fn with_array(self, node: &Node, view: &View) -> Self {
        let seen = self
            .with(FingerprintField::View, (view.offset, &view.strides))
            .with(FingerprintField::Shape, (view.dtype, &view.shape));
        match &node.placement {
            Placement::Replicated => seen,
            Placement::Distributed(split) => seen
                .with(FingerprintField::Array, node.id())
                .with(FingerprintField::Distribution, &split.distribution),
        }
    }
}

impl Node {
    /// Hashes the operations and inputs of a pending array; equal on all ranks.
    ///
    /// `memo` caches the hashes of other nodes.
    pub fn origin_hash(&self, memo: &mut HashMap<*const Node, u64>) -> u64 {
        if let Some(&found) = memo.get(&std::ptr::from_ref(self)) {
            return found;
        }
        let mut print = Fingerprint::default().with_array(self, &self.base);
        if let NodeState::Elementwise(map) = self.state() {
            print = print.with(FingerprintField::Operation, (map.request.op, map.dtype));
            for arg in &map.inputs {
                print = match arg {
                    NodeInput::Scalar(value) => print.with(FingerprintField::Scalars, value),
                    NodeInput::Array(node, view) => print
                        .with(FingerprintField::Array, node.origin_hash(memo))
                        .with_array(node, view),
                };
            }
        }
        memo.insert(self, print.hash());
        print.hash()
    }
}

impl Array {
    /// A hash of the identity and view of a distributed array; of a replicated one, of shape and
    /// dtype.
    pub fn fingerprint(&self) -> u64 {
        self.storage
            .with_current(|node| Fingerprint::default().with_array(node, self.view()).hash())
    }
}
