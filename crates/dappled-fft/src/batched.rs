//! Batched transforms: lines are gathered into the cache, transformed there, and scattered.
//!
//! A single strided line uses a few bytes of each cache line it touches; a batch of neighbouring
//! lines uses all of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use dappled_base::interrupt;
use rayon::prelude::*;

use crate::config::{BATCH_BYTES, MAX_BATCH_LINES, MIN_CONTIGUOUS_BYTES};
use crate::disjoint_slice::DisjointSlice;
use crate::transforms::{BatchBuffers, LineTransform};

/// Rows transposed at once: a cache line of complex numbers.
const TRANSPOSED_ROWS: usize = 4;

/// Strides of a line's elements: an offset is the sum of group, line and step times these.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineStrides {
    pub group: usize,
    pub line: usize,
    pub step: usize,
}

/// The lines to transform: groups of neighbouring lines, and their memory layout.
#[derive(Clone, Copy, Debug)]
pub struct LineGrid {
    pub groups: usize,
    pub lines: usize,
    pub input_length: usize,
    pub from: LineStrides,
    pub to: LineStrides,
}

/// Neighbouring lines that are transformed together.
struct LineBatch {
    group: usize,
    first: usize,
    count: usize,
}

impl LineGrid {
    fn batch(&self, number: usize, width: usize) -> LineBatch {
        let batches_per_group = self.lines.div_ceil(width);
        let first = number % batches_per_group * width;
        LineBatch { group: number / batches_per_group, first, count: width.min(self.lines - first) }
    }
}

impl LineBatch {
    fn start(&self, strides: LineStrides) -> usize {
        self.group * strides.group + self.first * strides.line
    }
}

/// Transforms all lines in batches. `read` copies source elements from an offset on; `finish`
/// modifies the transformed values of a line before they are written.
pub fn transform_batches<K: LineTransform>(
    grid: LineGrid,
    transform: &K,
    read: impl Fn(usize, &mut [K::In]) + Sync,
    target: DisjointSlice<'_, K::Out>,
    finish: impl Fn(usize, &mut [K::Out]) + Sync,
) {
    let bytes = transform.input_len() * size_of::<K::In>();
    let min_lines = (MIN_CONTIGUOUS_BYTES / size_of::<K::In>()).min(MAX_BATCH_LINES);
    let width =
        (BATCH_BYTES / bytes.max(1)).clamp(min_lines, MAX_BATCH_LINES).min(grid.lines.max(1));
    let batch_count = grid.groups * grid.lines.div_ceil(width);
    let work = |buffers: &mut BatchBuffers<K>, number| {
        interrupt::check();
        let batch = grid.batch(number, width);
        gather_lines(&grid, &batch, &read, transform, buffers);
        for line in 0..batch.count {
            finish(batch.first + line, transform.transform(buffers, line));
        }
        scatter_lines(&grid, &batch, target, transform, buffers);
    };
    // Each thread allocates its buffers once and takes the next batch whenever it is free.
    let next = AtomicUsize::new(0);
    let threads = rayon::current_num_threads().min(batch_count);
    (0..threads).into_par_iter().with_max_len(1).for_each(|_| {
        let mut buffers = BatchBuffers::new(transform, width);
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        numbers
            .take_while(|&number| number < batch_count)
            .for_each(|number| work(&mut buffers, number));
    });
}

fn gather_lines<K: LineTransform>(
    grid: &LineGrid,
    batch: &LineBatch,
    read: &impl Fn(usize, &mut [K::In]),
    transform: &K,
    buffers: &mut BatchBuffers<K>,
) {
    let (start, stride) = (batch.start(grid.from), transform.input_stride());
    let LineStrides { line, step, .. } = grid.from;
    let input = &mut buffers.input;
    if step == 1 {
        for index in 0..batch.count {
            read(start + index * line, &mut input[index * stride..][..grid.input_length]);
        }
    } else {
        for first in (0..grid.input_length).step_by(TRANSPOSED_ROWS) {
            let rows = TRANSPOSED_ROWS.min(grid.input_length - first);
            let mut tile = [[K::In::default(); MAX_BATCH_LINES]; TRANSPOSED_ROWS];
            for (row, values) in tile[..rows].iter_mut().enumerate() {
                read(start + (first + row) * step, &mut values[..batch.count]);
            }
            for index in 0..batch.count {
                let values = &mut input[index * stride + first..][..rows];
                values.iter_mut().zip(&tile).for_each(|(value, row)| *value = row[index]);
            }
        }
    }
    for index in 0..batch.count {
        input[index * stride..][grid.input_length..transform.input_len()].fill(K::In::default());
    }
}

fn scatter_lines<K: LineTransform>(
    grid: &LineGrid,
    batch: &LineBatch,
    target: DisjointSlice<'_, K::Out>,
    transform: &K,
    buffers: &BatchBuffers<K>,
) {
    let (start, stride) = (batch.start(grid.to), transform.output_stride());
    let LineStrides { line, step, .. } = grid.to;
    let output = transform.results(buffers);
    // SAFETY: every element belongs to one line, and every line to one batch, which one thread
    // handles.
    let write = |at: usize, values: &[K::Out]| unsafe { target.write(at, values) };
    if step == 1 {
        for index in 0..batch.count {
            write(start + index * line, &output[index * stride..][..transform.output_len()]);
        }
    } else {
        for first in (0..transform.output_len()).step_by(TRANSPOSED_ROWS) {
            let rows = TRANSPOSED_ROWS.min(transform.output_len() - first);
            let mut tile = [[K::Out::default(); MAX_BATCH_LINES]; TRANSPOSED_ROWS];
            for index in 0..batch.count {
                let values = &output[index * stride + first..][..rows];
                tile.iter_mut().zip(values).for_each(|(row, value)| row[index] = *value);
            }
            for (row, values) in tile[..rows].iter().enumerate() {
                write(start + (first + row) * step, &values[..batch.count]);
            }
        }
    }
}
