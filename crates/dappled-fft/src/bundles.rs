//! Bundles of lines: gathered into the cache, transformed there, and scattered.
//!
//! A line alone would use a few bytes of each cache line that it touches; a bundle of neighbours
//! uses all of them.

use rayon::prelude::*;

use crate::disjoint::Disjoint;
use crate::kernels::{Kernel, Room};

/// Bytes of a bundle: it should stay in the second cache beside what a transform needs.
const BUNDLE: usize = 1 << 17;
/// Lines of a bundle: at least two cache lines of complex numbers, so that all of each is used.
const FEWEST: usize = 8;
const MOST: usize = 64;

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

/// Transforms all lines: `read` gives the element at a place of the source, `finish` gets the number
/// of a line and its transformed values before they are written.
pub fn bundles<K: Kernel>(
    walk: Walk,
    kernel: &K,
    read: impl Fn(usize) -> K::In + Sync,
    target: Disjoint<'_, K::Out>,
    finish: impl Fn(usize, &mut [K::Out]) + Sync,
) {
    let bytes = kernel.taken() * size_of::<K::In>();
    let width = (BUNDLE / bytes.max(1)).clamp(FEWEST, MOST);
    let number = walk.groups * walk.lines.div_ceil(width);
    let work = |room: &mut Room<K>, number| {
        let bundle = walk.bundle(number, width);
        gather(&walk, &bundle, &read, kernel, room);
        for line in 0..bundle.count {
            finish(bundle.first + line, kernel.transform(room, line));
        }
        scatter(&walk, &bundle, target, kernel, room);
    };
    (0..number).into_par_iter().for_each_init(|| Room::new(kernel, width.min(walk.lines)), work);
}

fn gather<K: Kernel>(
    walk: &Walk,
    bundle: &Bundle,
    read: &impl Fn(usize) -> K::In,
    kernel: &K,
    room: &mut Room<K>,
) {
    let (start, apart) = (bundle.start(walk.from), kernel.apart_in());
    let Strides { line, step, .. } = walk.from;
    if step == 1 {
        for each in 0..bundle.count {
            let values = &mut room.input[each * apart..][..walk.given];
            values
                .iter_mut()
                .enumerate()
                .for_each(|(j, value)| *value = read(start + each * line + j));
        }
    } else {
        for j in 0..walk.given {
            for each in 0..bundle.count {
                room.input[each * apart + j] = read(start + each * line + j * step);
            }
        }
    }
    for each in 0..bundle.count {
        room.input[each * apart..][walk.given..kernel.taken()].fill(K::In::default());
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
    let put = |each: usize, j: usize| unsafe {
        target.write(start + each * line + j * step, made[each * apart + j]);
    };
    if step == 1 {
        (0..bundle.count).for_each(|each| (0..kernel.made()).for_each(|j| put(each, j)));
    } else {
        (0..kernel.made()).for_each(|j| (0..bundle.count).for_each(|each| put(each, j)));
    }
}
