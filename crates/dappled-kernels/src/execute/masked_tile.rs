//! Computes selected values block by block and compacts them in a buffer.

use std::ops::Range;

use super::machine::Machine;
use super::registers::RegisterBuffer;
use crate::config::{MIN_COMPACTION_BUFFER_ELEMENTS, TILE_ELEMENTS};
use crate::loops::mask::compress::{ELEMENTS_PER_WORD, SLACK_BYTES, compress};
use crate::loops::variant::CpuVariant;
use crate::mask::selection::ElementSelection;

/// Buffer of consecutive selected elements.
#[derive(Default)]
pub(crate) struct Compactor {
    memory: RegisterBuffer,
    /// The size of the buffer in bytes.
    bytes: usize,
    /// The rank of the first buffered element among all selected ones.
    first: usize,
    count: usize,
    /// The next block to compute.
    next: usize,
}

impl Compactor {
    fn end(&self) -> usize {
        self.first + self.count
    }

    /// Moves to another position, unless it is buffered or next.
    fn seek(&mut self, selection: &ElementSelection, rank: usize) {
        if !(self.first..=self.end()).contains(&rank) {
            self.next = selection.block_with(rank);
            (self.first, self.count) = (selection.start(self.next), 0);
        }
    }

    /// Makes room for `more` elements and the slack that compaction overwrites. Discards the
    /// elements before `rank` if the buffer is full.
    fn make_room(&mut self, rank: usize, item: usize, more: usize) -> &mut [u8] {
        let bytes = self.bytes;
        if (self.count + more + ELEMENTS_PER_WORD) * item + SLACK_BYTES > bytes {
            let discarded = rank - self.first;
            self.memory.bytes_mut(bytes).copy_within(discarded * item..self.count * item, 0);
            (self.first, self.count) = (rank, self.count - discarded);
        }
        &mut self.memory.bytes_mut(bytes)[self.count * item..]
    }
}

impl Machine<'_> {
    /// Computes a range of selected elements, counted among the selected ones, and returns their
    /// bytes.
    pub fn compute_selected(&mut self, selection: &ElementSelection, range: Range<usize>) -> &[u8] {
        let mut compactor = std::mem::take(&mut self.compactor);
        let (item, variant) = (self.code.outputs[0].itemsize, CpuVariant::active());
        let dtype = self.code.program.dtype(self.code.program.outputs[0]).expect("checked");
        // The range, and the rest of its first and last block.
        let bytes = MIN_COMPACTION_BUFFER_ELEMENTS
            .max(range.len() + 2 * TILE_ELEMENTS + ELEMENTS_PER_WORD)
            * item
            + SLACK_BYTES;
        compactor.bytes = compactor.bytes.max(bytes);
        compactor.seek(selection, range.start);
        while compactor.end() < range.end {
            let last = selection.block_from(compactor.next, range.end - 1);
            let (all, bits) = selection.blocks(compactor.next..last + 1);
            let (values, bits, next) = match self.contiguous_values(all) {
                Some(values) => (values, bits, last + 1),
                None => {
                    let (block, bits) = selection.blocks(compactor.next..compactor.next + 1);
                    let extent = self.space.extent(block);
                    (self.compute_extent(&extent), bits, compactor.next + 1)
                }
            };
            let more = selection.start(next) - compactor.end();
            let out = compactor.make_room(range.start, item, more);
            compactor.count += compress(dtype, variant, values, bits, out);
            compactor.next = next;
        }
        self.compactor = compactor;
        let at = (range.start - self.compactor.first) * item;
        &self.compactor.memory.bytes(self.compactor.bytes)[at..at + range.len() * item]
    }
}
