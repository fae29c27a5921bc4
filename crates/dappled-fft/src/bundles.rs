//! Bundles of lines: gathered into the cache, transformed there, and scattered.
//!
//! A line alone would use a few bytes of each cache line that it touches; a bundle of neighbours
//! uses all of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use dappled_base::interrupt;
use rayon::prelude::*;

use crate::disjoint::Disjoint;
use crate::kernels::{Kernel, Room};

/// Bytes of a bundle: it should stay in the second cache beside what a transform needs.
const BUNDLE: usize = 1 << 17;
/// Bytes of neighbours in a bundle, at least: two cache lines, so that all of each is used.
const BESIDE: usize = 128;
pub const MOST: usize = 32;
/// Rows that are turned into columns together: a cache line of complex numbers.
const ROWS: usize = 4;

/// Where element `step` of a line of a group lies: the three times these, added.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strides {
    pub group: usize,
    pub line: usize,
    pub step: usize,
}

/// All lines: groups of neighbours, of each of which so many elements are given.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    pub groups: usize,
    pub lines: usize,
    pub given: usize,
    pub from: Strides,
    pub to: Strides,
}

/// Lines of one group that are transformed together.
struct Bundle {
    group: usize,
    first: usize,
    count: usize,
}

impl Walk {
    fn bundle(&self, number: usize, width: usize) -> Bundle {
        let each = self.lines.div_ceil(width);
        let first = number % each * width;
        Bundle { group: number / each, first, count: width.min(self.lines - first) }
    }
}

impl Bundle {
    fn start(&self, strides: Strides) -> usize {
        self.group * strides.group + self.first * strides.line
    }
}

/// Transforms all lines: `read` fills memory with the elements from a place of the source on, `finish`
/// gets the number of a line and its transformed values before they are written.
pub fn bundles<K: Kernel>(
    walk: Walk,
    kernel: &K,
    read: impl Fn(usize, &mut [K::In]) + Sync,
    target: Disjoint<'_, K::Out>,
    finish: impl Fn(usize, &mut [K::Out]) + Sync,
) {
    let bytes = kernel.taken() * size_of::<K::In>();
    let fewest = (BESIDE / size_of::<K::In>()).min(MOST);
    let width = (BUNDLE / bytes.max(1)).clamp(fewest, MOST).min(walk.lines.max(1));
    let number = walk.groups * walk.lines.div_ceil(width);
    let work = |room: &mut Room<K>, number| {
        interrupt::check();
        let bundle = walk.bundle(number, width);
        gather(&walk, &bundle, &read, kernel, room);
        for line in 0..bundle.count {
            finish(bundle.first + line, kernel.transform(room, line));
        }
        scatter(&walk, &bundle, target, kernel, room);
    };
    // Each thread has memory once, and takes the next bundle whenever it is done with one.
    let next = AtomicUsize::new(0);
    let threads = rayon::current_num_threads().min(number);
    (0..threads).into_par_iter().with_max_len(1).for_each(|_| {
        let mut room = Room::new(kernel, width);
        let bundles = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        bundles.take_while(|&at| at < number).for_each(|at| work(&mut room, at));
    });
}

fn gather<K: Kernel>(
    walk: &Walk,
    bundle: &Bundle,
    read: &impl Fn(usize, &mut [K::In]),
    kernel: &K,
    room: &mut Room<K>,
) {
    let (start, apart) = (bundle.start(walk.from), kernel.apart_in());
    let Strides { line, step, .. } = walk.from;
    let input = &mut room.input;
    if step == 1 {
        for each in 0..bundle.count {
            read(start + each * line, &mut input[each * apart..][..walk.given]);
        }
    } else {
        for first in (0..walk.given).step_by(ROWS) {
            let rows = ROWS.min(walk.given - first);
            let mut tile = [[K::In::default(); MOST]; ROWS];
            for (row, values) in tile[..rows].iter_mut().enumerate() {
                read(start + (first + row) * step, &mut values[..bundle.count]);
            }
            for each in 0..bundle.count {
                let values = &mut input[each * apart + first..][..rows];
                values.iter_mut().zip(&tile).for_each(|(value, row)| *value = row[each]);
            }
        }
    }
    for each in 0..bundle.count {
        input[each * apart..][walk.given..kernel.taken()].fill(K::In::default());
    }
}

fn scatter<K: Kernel>(
    walk: &Walk,
    bundle: &Bundle,
    target: Disjoint<'_, K::Out>,
    kernel: &K,
    room: &Room<K>,
) {
    let (start, apart) = (bundle.start(walk.to), kernel.apart_out());
    let Strides { line, step, .. } = walk.to;
    let made = kernel.results(room);
    // SAFETY: every element belongs to one line, and every line to one bundle, which one thread does.
    let put = |at: usize, values: &[K::Out]| unsafe { target.write(at, values) };
    if step == 1 {
        for each in 0..bundle.count {
            put(start + each * line, &made[each * apart..][..kernel.made()]);
        }
    } else {
        for first in (0..kernel.made()).step_by(ROWS) {
            let rows = ROWS.min(kernel.made() - first);
            let mut tile = [[K::Out::default(); MOST]; ROWS];
            for each in 0..bundle.count {
                let values = &made[each * apart + first..][..rows];
                tile.iter_mut().zip(values).for_each(|(row, value)| row[each] = *value);
            }
            for (row, values) in tile[..rows].iter().enumerate() {
                put(start + (first + row) * step, &values[..bundle.count]);
            }
        }
    }
}
