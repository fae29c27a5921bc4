//! The ziggurat of Marsaglia and Tsang: 256 layers of the same area under a falling density, from
//! which nearly every draw is one word, one comparison and one product.

use std::sync::LazyLock;

use super::Again;
use super::draw::{Line, uniform};

const LAYERS: usize = 256;

/// A density that falls from 1 at 0, and how to draw from it.
#[derive(Clone, Copy)]
struct Density {
    /// Where the lowest layer ends and the tail begins.
    edge: f64,
    value: fn(f64) -> f64,
    inverse: fn(f64) -> f64,
    /// The area beyond the edge.
    tail_area: f64,
    /// A draw from the tail.
    tail: fn(f64, &mut Again) -> f64,
    /// Does it fall on both sides of 0?
    is_symmetric: bool,
}

/// The layers of a density: how wide they are, and how much of them lies under the next one.
pub(super) struct Ziggurat {
    density: Density,
    /// A layer's width for each step of [`STEPS`].
    widths: [f64; LAYERS],
    /// Steps that are inside for certain.
    inside: [u64; LAYERS],
    /// The density at the edge of each layer, from the lowest to 1 at the top.
    heights: [f64; LAYERS + 1],
}

/// Places across a layer: what is left of a word after the layer and the sign.
const STEPS: u64 = 1 << 52;

pub(super) static NORMAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    Ziggurat::new(Density {
        edge: 3.654_152_885_361_009,
        value: |x| (-x * x / 2.0).exp(),
        inverse: |y| (-2.0 * y.ln()).sqrt(),
        tail_area: 0.000_323_395_764_663_321_7,
        tail: normal_tail,
        is_symmetric: true,
    })
});

pub(super) static EXPONENTIAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    let edge: f64 = 7.697_117_470_131_05;
    Ziggurat::new(Density {
        edge,
        value: |x| (-x).exp(),
        inverse: |y| -y.ln(),
        tail_area: (-edge).exp(),
        tail: |edge, again| edge - (1.0 - uniform(again.word())).ln(),
        is_symmetric: false,
    })
});

/// Marsaglia's method for what is beyond the edge.
fn normal_tail(edge: f64, again: &mut Again) -> f64 {
    loop {
        let x = -(1.0 - uniform(again.word())).ln() / edge;
        let y = -(1.0 - uniform(again.word())).ln();
        if 2.0 * y > x * x {
            return edge + x;
        }
    }
}

impl Ziggurat {
    fn new(density: Density) -> Self {
        let area = density.edge * (density.value)(density.edge) + density.tail_area;
        // The lowest layer is as wide as if its area, tail included, were a box.
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
            inside: std::array::from_fn(ratio),
            heights,
        }
    }

    /// How words become draws, and these what a line makes of them.
    pub(super) fn drawer(&self, line: Line) -> impl Fn(u64, Again) -> f64 + '_ {
        move |word, again| {
            let (layer, steps) = (word as usize % LAYERS, word >> 12);
            let x = steps as f64 * self.widths[layer];
            let x = if steps < self.inside[layer] { x } else { self.rare(word, again) };
            let negative = self.density.is_symmetric && word & 256 != 0;
            line.at(f64::from_bits(x.to_bits() | u64::from(negative) << 63))
        }
    }

    /// What lies beyond the next layer: in the tail, under the curve, or to be drawn again.
    #[cold]
    fn rare(&self, mut word: u64, mut again: Again) -> f64 {
        loop {
            let (layer, steps) = (word as usize % LAYERS, word >> 12);
            let x = steps as f64 * self.widths[layer];
            if steps < self.inside[layer] {
                return x;
            }
            if layer == 0 {
                return (self.density.tail)(self.density.edge, &mut again);
            }
            let (low, high) = (self.heights[layer], self.heights[layer + 1]);
            if low + (high - low) * uniform(again.word()) < (self.density.value)(x) {
                return x;
            }
            word = again.word();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All layers have the same area, up to the very top, or the edges would be wrong.
    #[test]
    fn the_layers_meet_at_the_top() {
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
