//! State that the layers above keep in the session: caches, and lists of pending arrays.
//!
//! The session does not know the types. Each layer has one slot.

use std::any::Any;
use std::sync::OnceLock;

use super::Session;

/// The state of one layer, which exists once in each session.
pub(crate) trait LayerState: Any + Default + Send + Sync {
    /// The slot of the layer.
    const SLOT: LayerSlot;
}

/// The layers that keep state in the session.
#[derive(Clone, Copy)]
pub(crate) enum LayerSlot {
    Array,
    Graph,
    Eager,
    Run,
}

/// The states of all layers; each is created at the first use.
#[derive(Default)]
pub(super) struct LayerStates([OnceLock<Box<dyn Any + Send + Sync>>; 4]);

impl Session {
    /// The state of a layer.
    #[inline]
    pub(crate) fn layer<T: LayerState>(&self) -> &T {
        let state = self.0.layers.0[T::SLOT as usize].get_or_init(|| Box::new(T::default()));
        (**state).downcast_ref().expect("each layer has one type of state")
    }
}
