//! Choice of the process grid.

use crate::config::MAX_TRIAL_FACTOR;

/// Returns the shape of a grid of `ranks` ranks for an array of this shape.
///
/// Axes keep their entry in `fixed`, if any. The other axes share the remaining factor so that
/// pieces stay compact: each prime factor, the largest first, goes to the axis along which pieces
/// are longest. Among axes within a quarter of that length the first is chosen, so that rows stay
/// whole and an array that lacks a few rows gets the same grid. None if the fixed entries do not
/// divide `ranks`.
pub(super) fn choose_grid(shape: &[u64], fixed: &[Option<u64>], ranks: u64) -> Option<Vec<u64>> {
    let product = fixed.iter().flatten().try_fold(1u64, |product, &at| product.checked_mul(at))?;
    let rest = (product > 0 && ranks.is_multiple_of(product)).then_some(ranks / product)?;
    let mut grid: Vec<u64> = fixed.iter().map(|at| at.unwrap_or(1)).collect();
    let free: Vec<usize> = (0..shape.len()).filter(|&axis| fixed[axis].is_none()).collect();
    for prime in prime_factors(rest).into_iter().rev() {
        // The piece along axis a is longer than along b if size a * grid b > size b * grid a.
        let length = |axis: usize, by: usize| u128::from(shape[axis]) * u128::from(grid[by]);
        let longest = free.iter().copied().reduce(|best, axis| {
            if length(axis, best) > length(best, axis) { axis } else { best }
        })?;
        let about_as_long = |&axis: &usize| 5 * length(axis, longest) >= 4 * length(longest, axis);
        let first = free.iter().copied().find(about_as_long)?;
        grid[first] *= prime;
    }
    Some(grid)
}

/// Returns the prime factors in ascending order.
fn prime_factors(mut number: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    let mut factor = 2;
    while factor * factor <= number && factor <= MAX_TRIAL_FACTOR {
        while number.is_multiple_of(factor) {
            factors.push(factor);
            number /= factor;
        }
        factor += 1;
    }
    if number > 1 {
        factors.push(number);
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::choose_grid;

    #[test]
    fn pieces_are_compact_and_rows_stay_whole() {
        let table: [(&[u64], u64, &[u64]); 9] = [
            (&[8, 8], 2, &[2, 1]),
            (&[998, 1000], 2, &[2, 1]),
            (&[700, 1000], 2, &[1, 2]),
            (&[100, 100], 12, &[3, 4]),
            (&[5, 9], 4, &[2, 2]),
            (&[2, 100], 6, &[1, 6]),
            (&[10], 7, &[7]),
            (&[64, 64, 64], 64, &[4, 4, 4]),
            (&[0, 3], 4, &[1, 4]),
        ];
        for (shape, ranks, grid) in table {
            let free = vec![None; shape.len()];
            assert_eq!(
                choose_grid(shape, &free, ranks).as_deref(),
                Some(grid),
                "{shape:?} on {ranks}"
            );
        }
    }

    #[test]
    fn what_is_fixed_stays() {
        assert_eq!(choose_grid(&[8, 8], &[Some(1), None], 6), Some(vec![1, 6]));
        assert_eq!(choose_grid(&[8, 8], &[Some(4), None], 6), None);
        assert_eq!(choose_grid(&[8], &[Some(1)], 6), None);
    }
}
