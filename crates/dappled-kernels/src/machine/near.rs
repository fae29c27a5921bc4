//! Values of which only some are chosen: computed block by block, and put together in near memory.

use std::ops::Range;

use super::Machine;
use crate::chosen::Chosen;
use crate::kernels::{BEYOND, Variant, compress};
use crate::slot::Slot;
use crate::tiles::TILE;

/// Elements that are kept, at least: they stay in the first cache.
const KEPT: usize = 4 * TILE;

/// Chosen elements that follow one another.
#[derive(Default)]
pub(super) struct Near {
    memory: Slot,
    /// The number of the first, among all that are chosen.
    first: usize,
    count: usize,
    /// The block that comes next.
    next: usize,
}

impl Near {
    fn end(&self) -> usize {
        self.first + self.count
    }

    /// Goes to another place, unless that is here or next.
    fn seek(&mut self, chosen: &Chosen, number: usize) {
        if !(self.first..=self.end()).contains(&number) {
            self.next = chosen.block_with(number);
            (self.first, self.count) = (chosen.start(self.next), 0);
        }
    }

    /// Room for so many bytes, and for one more block of elements of this size. Those before a
    /// number go.
    fn room(&mut self, number: usize, item: usize, bytes: usize) -> &mut [u8] {
        if (self.count + TILE) * item + BEYOND > bytes {
            let gone = number - self.first;
            self.memory.bytes_mut(bytes).copy_within(gone * item..self.count * item, 0);
            (self.first, self.count) = (number, self.count - gone);
        }
        &mut self.memory.bytes_mut(bytes)[self.count * item..]
    }
}

impl Machine<'_> {
    /// The bytes of chosen elements of the first output, by their numbers.
    pub fn chosen(&mut self, chosen: &Chosen, wanted: Range<usize>) -> &[u8] {
        let mut near = std::mem::take(&mut self.near);
        let (item, variant) = (self.code.outputs[0].itemsize, Variant::chosen());
        let dtype = self.code.program.dtype(self.code.program.outputs[0]).expect("checked");
        let bytes = KEPT.max(wanted.len() + TILE) * item + BEYOND;
        near.seek(chosen, wanted.start);
        while near.end() < wanted.end {
            let (block, words) = chosen.block(near.next);
            let extent = self.space.extent(block);
            let out = near.room(wanted.start, item, bytes);
            near.count += compress(dtype, variant, self.value_at(&extent), words, out);
            near.next += 1;
        }
        self.near = near;
        let at = (wanted.start - self.near.first) * item;
        &self.near.memory.bytes(bytes)[at..at + wanted.len() * item]
    }
}
