//! Pseudo-random choices of a command, which depend on its seed only and are equal on all ranks.

use dappled::protocol::Spec;
use dappled::protocol::slice::KeyItem;
use dappled::protocol::{AxisSpec, Distribution, Padding};

pub struct Choices(pub u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        (1..count).for_each(|at| all.swap(at, self.below(at + 1)));
        all
    }

    pub fn some(&mut self, count: usize) -> Vec<usize> {
        (0..count).filter(|_| self.one_in(2)).collect()
    }

    /// A random key for this shape: slices with any step, integers, new axes.
    pub fn items(&mut self, shape: &[usize]) -> Vec<KeyItem> {
        let mut items = Vec::new();
        for &length in shape {
            if self.one_in(8) {
                items.push(KeyItem::NewAxis);
            }
            items.push(match self.below(8) {
                0 if length > 0 => KeyItem::Index(self.below(length) as i64),
                1 | 2 => KeyItem::Slice(Some(0), Some(length as i64), Some(1)),
                _ => self.slice(length),
            });
        }
        items
    }

    fn slice(&mut self, length: usize) -> KeyItem {
        if length == 0 {
            return KeyItem::Slice(Some(0), Some(0), Some(1));
        }
        let step = self.of(&[1i64, 1, 2, 3, -1, -1, -2]);
        let (start, count) = (self.below(length) as i64, 1 + self.below(length) as i64);
        let start = if self.one_in(2) {
            start
        } else if step > 0 {
            0
        } else {
            length as i64 - 1
        };
        let room = if step > 0 { length as i64 - 1 - start } else { start };
        let count = count.min(room / step.abs() + 1);
        let stop = start + step * (count - 1) + step.signum();
        KeyItem::Slice(Some(start), (stop >= 0).then_some(stop), Some(step))
    }

    /// A random shape with this number of elements.
    pub fn shape(&mut self, size: usize) -> Vec<usize> {
        let (mut shape, mut rest) = (Vec::new(), size);
        while rest > 1 {
            let divisors: Vec<usize> = (2..=rest).filter(|&by| rest % by == 0).collect();
            let length = self.of(&divisors);
            shape.push(length);
            rest /= length;
        }
        if self.one_in(4) {
            shape.insert(self.below(shape.len() + 1), 1);
        }
        if size == 0 { vec![0] } else { shape }
    }

    /// A random distribution of a shape with at least one axis.
    pub fn distribution(&mut self, shape: &[usize], ranks: u64) -> Distribution {
        let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
        if self.one_in(8) {
            let kinds = "n".repeat(shape.len());
            return Distribution::spec(&lengths).dist(&kinds).nprocs(ranks).build().unwrap();
        }
        let mut grid = vec![1; shape.len()];
        for prime in [2, 2, 3, 7, 2, 2, 2, 2] {
            if ranks.is_multiple_of(grid.iter().product::<u64>() * prime) {
                grid[self.below(shape.len())] *= prime;
            }
        }
        assert_eq!(grid.iter().product::<u64>(), ranks);
        let axes = lengths.iter().zip(grid).map(|(&size, ranks)| self.axis(size, ranks)).collect();
        Spec { axes, nprocs: None }.build().unwrap()
    }

    fn axis(&mut self, size: u64, ranks: u64) -> AxisSpec {
        let block = AxisSpec { size, grid: Some(ranks), kind: Some('b'), ..AxisSpec::default() };
        match self.below(6) {
            0 => AxisSpec { bounds: Some(self.bounds(size, ranks)), ..block },
            1 => padded(AxisSpec { periodic: self.one_in(2), ..block }),
            2 => {
                let bounds = Some(self.bounds(size, ranks));
                padded(AxisSpec { periodic: self.one_in(2), bounds, ..block })
            }
            3 => {
                let block_size = Some(1 + self.below(3) as u64);
                AxisSpec { kind: Some('c'), block_size, ..block }
            }
            4 => AxisSpec { kind: Some('u'), indices: Some(self.lists(size, ranks)), ..block },
            _ => block,
        }
    }

    fn bounds(&mut self, size: u64, ranks: u64) -> Vec<u64> {
        let mut inner: Vec<u64> =
            (1..ranks).map(|_| self.below(size as usize + 1) as u64).collect();
        inner.sort_unstable();
        [vec![0], inner, vec![size]].concat()
    }

    fn lists(&mut self, size: u64, ranks: u64) -> Vec<Vec<i64>> {
        let mut lists = vec![Vec::new(); ranks as usize];
        for label in self.shuffled(size as usize) {
            lists[self.below(ranks as usize)].push(label as i64);
        }
        lists
    }
}

/// Adds the widest padding that is valid, up to 2.
fn padded(axis: AxisSpec) -> AxisSpec {
    let width = |width| AxisSpec { padding: Some(Padding::Uniform(width)), ..axis.clone() };
    let fits = |axis: &AxisSpec| Spec { axes: vec![axis.clone()], nprocs: None }.build().is_ok();
    [2, 1, 0].map(width).into_iter().find(fits).unwrap_or(axis)
}
