//! Values of which only some are chosen: computed block by block, and put together in near memory.

use std::ops::Range;

use super::Machine;
use crate::chosen::Chosen;
use crate::kernels::{BEYOND, Variant, WORD, compress};
use crate::slot::Slot;
use crate::tiles::TILE;

/// Elements that are kept, at least: they stay in the first cache.
const KEPT: usize = 4 * TILE;

/// Chosen elements that follow one another.
#[derive(Default)]
pub(super) struct Near {
    memory: Slot,
    /// How long it is.
    bytes: usize,
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

    /// Room for some more elements of this size, and for what is written beyond them. Those before a
    /// number go where it is needed.
    fn room(&mut self, number: usize, item: usize, more: usize) -> &mut [u8] {
        let bytes = self.bytes;
        if (self.count + more + WORD) * item + BEYOND > bytes {
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
        // What is wanted, and the rest of the first block and of the last.
        let bytes = KEPT.max(wanted.len() + 2 * TILE + WORD) * item + BEYOND;
        near.bytes = near.bytes.max(bytes);
        near.seek(chosen, wanted.start);
        while near.end() < wanted.end {
            let last = chosen.block_from(near.next, wanted.end - 1);
            let (all, bits) = chosen.blocks(near.next..last + 1);
            let (values, bits, next) = match self.in_memory(all) {
                Some(values) => (values, bits, last + 1),
                None => {
                    let (block, bits) = chosen.blocks(near.next..near.next + 1);
                    let extent = self.space.extent(block);
                    (self.value_at(&extent), bits, near.next + 1)
                }
            };
            let more = chosen.start(next) - near.end();
            let out = near.room(wanted.start, item, more);
            near.count += compress(dtype, variant, values, bits, out);
            near.next = next;
        }
        self.near = near;
        let at = (wanted.start - self.near.first) * item;
        &self.near.memory.bytes(self.near.bytes)[at..at + wanted.len() * item]
    }
}
