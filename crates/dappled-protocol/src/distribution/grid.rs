//! Choosing a grid for the ranks.

/// The shape of a grid of `ranks` ranks for an array of this shape. Axes whose entry in `fixed`
/// is given keep it; the others share what is left, so that pieces stay compact: the prime
/// factors, the largest first, each go to the axis along which pieces are still the longest.
/// An axis that is at most a quarter shorter goes first, so that rows stay whole, and so that a
/// part of an array without a few rows is laid on the same grid. None where the fixed part does not
/// divide it.
pub(super) fn choose(shape: &[u64], fixed: &[Option<u64>], ranks: u64) -> Option<Vec<u64>> {
    let product = fixed.iter().flatten().try_fold(1u64, |product, &at| product.checked_mul(at))?;
    let rest = (product > 0 && ranks.is_multiple_of(product)).then_some(ranks / product)?;
    let mut grid: Vec<u64> = fixed.iter().map(|at| at.unwrap_or(1)).collect();
    let free: Vec<usize> = (0..shape.len()).filter(|&axis| fixed[axis].is_none()).collect();
    for prime in primes(rest).into_iter().rev() {
        // Piece a is longer if its size * grid b is more.
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

/// No machine has this many ranks along an axis: what is left of larger numbers is not split,
/// and so no number takes long.
const LARGEST_TRIED: u64 = 1 << 20;

/// The prime factors, ascending.
fn primes(mut number: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut factor = 2;
    while factor * factor <= number && factor <= LARGEST_TRIED {
        while number.is_multiple_of(factor) {
            found.push(factor);
            number /= factor;
        }
        factor += 1;
    }
    if number > 1 {
        found.push(number);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::choose;

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
            assert_eq!(choose(shape, &free, ranks).as_deref(), Some(grid), "{shape:?} on {ranks}");
        }
    }

    #[test]
    fn what_is_fixed_stays() {
        assert_eq!(choose(&[8, 8], &[Some(1), None], 6), Some(vec![1, 6]));
        assert_eq!(choose(&[8, 8], &[Some(4), None], 6), None);
        assert_eq!(choose(&[8], &[Some(1)], 6), None);
    }
}
