//! The product of choices, one an axis.

/// All choices of one number below each length, the last changing fastest; one empty choice where
/// there are no lengths.
pub(super) fn product(lengths: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let lengths = lengths.to_vec();
    let total: usize = lengths.iter().product();
    (0..total).map(move |mut rest| {
        let mut chosen = vec![0; lengths.len()];
        for (choice, &length) in chosen.iter_mut().zip(&lengths).rev() {
            (rest, *choice) = (rest / length, rest % length);
        }
        chosen
    })
}
