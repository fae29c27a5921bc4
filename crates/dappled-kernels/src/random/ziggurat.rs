//! The ziggurat method of Marsaglia and Tsang.
//!
//! 256 layers of equal area cover a decreasing density; nearly every draw takes one word, one
//! comparison and one product.

use std::sync::LazyLock;

use super::ExtraWords;
use super::draw::{AffineMap, uniform};

const LAYERS: usize = 256;

/// A density that decreases from 1 at 0, and its tail.
#[derive(Clone, Copy)]
struct Density {
    /// The end of the lowest layer, where the tail begins.
    edge: f64,
    value: fn(f64) -> f64,
    inverse: fn(f64) -> f64,
    /// The area of the tail.
    tail_area: f64,
    /// Draws from the tail.
    tail: fn(f64, &mut ExtraWords) -> f64,
    /// True if the density is symmetric about 0.
    is_symmetric: bool,
}

/// The layers of a density: their widths, and the part of each that is under the next one.
pub(crate) struct Ziggurat {
    density: Density,
    /// The width of each layer per step of [`STEPS`].
    widths: [f64; LAYERS],
    /// The number of steps of each layer that are certainly under the curve.
    certain_steps: [u64; LAYERS],
    /// The density at the edge of each layer, from the lowest to 1 at the top.
    heights: [f64; LAYERS + 1],
}

/// Positions across a layer: the bits of a word beyond the layer and the sign.
const STEPS: u64 = 1 << 52;

pub(crate) static NORMAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    Ziggurat::new(Density {
        edge: 3.654_152_885_361_009,
        value: |x| (-x * x / 2.0).exp(),
        inverse: |y| (-2.0 * y.ln()).sqrt(),
        tail_area: 0.000_323_395_764_663_321_7,
        tail: normal_tail,
        is_symmetric: true,
    })
});

pub(crate) static EXPONENTIAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    let edge: f64 = 7.697_117_470_131_05;
    Ziggurat::new(Density {
        edge,
        value: |x| (-x).exp(),
        inverse: |y| -y.ln(),
        tail_area: (-edge).exp(),
        tail: |edge, extra| edge - (1.0 - uniform(extra.word())).ln(),
        is_symmetric: false,
    })
});

/// Marsaglia's method for the tail of the normal distribution.
fn normal_tail(edge: f64, extra: &mut ExtraWords) -> f64 {
    loop {
        let x = -(1.0 - uniform(extra.word())).ln() / edge;
        let y = -(1.0 - uniform(extra.word())).ln();
        if 2.0 * y > x * x {
            return edge + x;
        }
    }
}

impl Ziggurat {
    fn new(density: Density) -> Self {
        let area = density.edge * (density.value)(density.edge) + density.tail_area;
        // The lowest layer is as wide as a box of its area, tail included.
        let mut edges = [0.0; LAYERS + 1];
        edges[0] = area / (density.value)(density.edge);
        edges[1] = density.edge;
        for layer in 2..LAYERS {
            let below: f64 = edges[layer - 1];
            edges[layer] = (density.inverse)(area / below + (density.value)(below));
        }
        let mut heights = edges.map(density.value);
        heights[0] = 0.0;
        let ratio = |layer: usize| (edges[layer + 1] / edges[layer] * STEPS as f64) as u64;
        Self {
            density,
            widths: std::array::from_fn(|layer| edges[layer] / STEPS as f64),
            certain_steps: std::array::from_fn(ratio),
            heights,
        }
    }

    /// A function from words to draws, mapped by `line`.
    pub(crate) fn sampler(&self, line: AffineMap) -> impl Fn(u64, ExtraWords) -> f64 + '_ {
        move |word, extra| {
            let (layer, steps) = (word as usize % LAYERS, word >> 12);
            let x = steps as f64 * self.widths[layer];
            let x =
                if steps < self.certain_steps[layer] { x } else { self.sample_slowly(word, extra) };
            let negative = self.density.is_symmetric && word & 256 != 0;
            line.apply(f64::from_bits(x.to_bits() | u64::from(negative) << 63))
        }
    }

    /// Samples a point beyond the certain steps: in the tail, under the curve, or rejected.
    #[cold]
    fn sample_slowly(&self, mut word: u64, mut extra: ExtraWords) -> f64 {
        loop {
            let (layer, steps) = (word as usize % LAYERS, word >> 12);
            let x = steps as f64 * self.widths[layer];
            if steps < self.certain_steps[layer] {
                return x;
            }
            if layer == 0 {
                return (self.density.tail)(self.density.edge, &mut extra);
            }
            let (low, high) = (self.heights[layer], self.heights[layer + 1]);
            if low + (high - low) * uniform(extra.word()) < (self.density.value)(x) {
                return x;
            }
            word = extra.word();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All layers have the same area up to the top, which verifies the edges.
    #[test]
    fn layers_have_equal_areas() {
        for ziggurat in [&*NORMAL, &*EXPONENTIAL] {
            let edges = ziggurat.widths.map(|width| width * STEPS as f64);
            let areas = (1..LAYERS).map(|layer| {
                edges[layer] * (ziggurat.heights[layer + 1] - ziggurat.heights[layer])
            });
            let area = ziggurat.density.edge * (ziggurat.density.value)(ziggurat.density.edge)
                + ziggurat.density.tail_area;
            assert!(areas.into_iter().all(|found| (found / area - 1.0).abs() < 1e-9));
        }
    }
}
