//! Index tuples of a Cartesian product.

/// All tuples with one index below each length; the last index changes fastest.
///
/// Without lengths there is one empty tuple.
pub(crate) fn cartesian_product(lengths: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let lengths = lengths.to_vec();
    let count: usize = lengths.iter().product();
    (0..count).map(move |mut rest| {
        let mut tuple = vec![0; lengths.len()];
        for (index, &length) in tuple.iter_mut().zip(&lengths).rev() {
            (rest, *index) = (rest / length, rest % length);
        }
        tuple
    })
}
