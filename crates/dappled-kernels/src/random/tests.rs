//! Draws have their distributions, and do not depend on how index ranges are split.

use super::*;

const COUNT: usize = 1 << 20;

fn drawn<T: Element>(what: Draw, ranges: &[Range<u64>]) -> Vec<T> {
    let count: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let out = Buffer::zeroed(count as usize * size_of::<T>());
    draw(what, RandomStream::new([11, 22, 33]), ranges, &out).unwrap();
    out.to_vec()
}

fn first<T: Element>(what: Draw, count: usize) -> Vec<T> {
    let all = 0..count as u64;
    drawn(what, std::slice::from_ref(&all))
}

/// The Kolmogorov-Smirnov statistic times sqrt(n). It exceeds 2.2 for one seed in 10,000.
fn distance(mut values: Vec<f64>, below: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distances =
        values.iter().enumerate().map(|(at, &value)| (below(value) - at as f64 / n).abs());
    distances.fold(0.0, f64::max) * n.sqrt()
}

/// The normal distribution function, by its series and its continued fraction.
fn normal_below(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x.abs() < 3.0 {
        let terms = (1..200).scan(x, |term, k| {
            let now = *term;
            *term *= x * x / f64::from(2 * k + 1);
            Some(now)
        });
        return 0.5 + density * terms.sum::<f64>();
    }
    let fraction = (1..200).rev().fold(x.abs(), |below, k| x.abs() + f64::from(k) / below);
    if x > 0.0 { 1.0 - density / fraction } else { density / fraction }
}

#[test]
fn distributions() {
    let of = |what| first::<f64>(what, COUNT);
    assert!(distance(of(Draw::Uniform(AffineMap::IDENTITY)), |x| x) < 2.2);
    assert!(distance(of(Draw::Normal(AffineMap::IDENTITY)), normal_below) < 2.2);
    assert!(distance(of(Draw::Exponential(AffineMap::IDENTITY)), |x| 1.0 - (-x).exp()) < 2.2);
    let floats = first::<f32>(Draw::UniformFloat32, COUNT);
    assert!(floats.iter().all(|&x| (0.0..1.0).contains(&x)));
    assert!(distance(floats.iter().map(|&x| f64::from(x)).collect(), |x| x) < 2.2);
}

#[test]
fn tails() {
    let normal = first::<f64>(Draw::Normal(AffineMap::IDENTITY), COUNT);
    for edge in [2.0, 3.0, 3.6, 3.7, 4.2] {
        let expected = 2.0 * normal_below(-edge) * COUNT as f64;
        let found = normal.iter().filter(|x| x.abs() > edge).count() as f64;
        assert!((found - expected).abs() < 4.0 * expected.sqrt(), "{edge}: {found} {expected}");
    }
    let negative = normal.iter().filter(|&&x| x < 0.0).count() as f64;
    assert!((negative - COUNT as f64 / 2.0).abs() < 2.0 * (COUNT as f64).sqrt());
}

/// Moments, and correlations of neighbours. Five standard deviations are exceeded for one seed in a
/// million.
#[test]
fn moments_and_neighbours() {
    let normal = first::<f64>(Draw::Normal(AffineMap::IDENTITY), COUNT);
    let mean = |of: &mut dyn Iterator<Item = f64>| of.sum::<f64>() / COUNT as f64;
    let near = |found: f64, expected: f64, variance: f64| {
        assert!((found - expected).abs() < 5.0 * (variance / COUNT as f64).sqrt(), "{found}");
    };
    for (power, expected, variance) in
        [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
    {
        near(mean(&mut normal.iter().map(|x| x.powi(power))), expected, variance);
    }
    for apart in [1, 2, 3, 4, 8, 16, 512, RANDOM_TASK_ELEMENTS] {
        near(mean(&mut normal.iter().zip(&normal[apart..]).map(|(x, y)| x * y)), 0.0, 1.0);
        let squares =
            normal.iter().zip(&normal[apart..]).map(|(x, y)| (x * x - 1.0) * (y * y - 1.0));
        near(mean(&mut { squares }), 0.0, 4.0);
    }
}

#[test]
fn affine_maps_apply_to_draws() {
    let line = AffineMap::new(-3.0, 0.1);
    for of in [Draw::Uniform, Draw::Normal, Draw::Exponential] {
        let on_line = first::<f64>(of(line), 1000);
        let expected =
            first::<f64>(of(AffineMap::IDENTITY), 1000).into_iter().map(|x| -3.0 + 0.1 * x);
        assert!(on_line.into_iter().eq(expected));
    }
}

#[test]
fn integers_are_fair() {
    for (low, span) in [(-3, 7u64), (0, 1), (10, 3), (i64::MIN, 3 << 62)] {
        let values = first::<i64>(Draw::Integers { low, span }, 60_000);
        let cell =
            |x: i64| (u128::from(x.wrapping_sub(low) as u64) * 3 / u128::from(span)) as usize;
        let mut counts = [0.0; 3];
        for value in values {
            assert!((value.wrapping_sub(low) as u64) < span);
            counts[cell(value)] += 1.0;
        }
        // The number of values in each third.
        let within = |third: u64| (0..span.min(7)).filter(|&x| x * 3 / span == third).count();
        if span > 7 {
            assert!(
                counts.iter().all(|count: &f64| (count - 20_000.0).abs() < 600.0),
                "{counts:?}"
            );
        } else {
            for (third, count) in counts.iter().enumerate() {
                let expected = within(third as u64) as f64 * 60_000.0 / span as f64;
                assert!((count - expected).abs() <= 4.0 * expected.sqrt(), "{span} {counts:?}");
            }
        }
    }
}

#[test]
fn draws_do_not_depend_on_the_ranges() {
    let whats = [
        Draw::Uniform(AffineMap::IDENTITY),
        Draw::Normal(AffineMap::IDENTITY),
        Draw::Exponential(AffineMap::IDENTITY),
    ];
    for what in whats {
        let all = first::<f64>(what, 100_000);
        for cut in [1, 2, 511, 512, 513, 32_768, 99_999] {
            assert_eq!(drawn::<f64>(what, &[0..cut, cut..100_000]), all);
        }
        let ends = drawn::<f64>(what, &[99_990..100_000, 5..8, 3..3]);
        assert_eq!(ends, [&all[99_990..], &all[5..8]].concat());
    }
}
