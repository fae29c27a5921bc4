//! Operations on arrays, replicated and distributed.
//!
//! Input: arrays and validated arguments. Output: new arrays, or writes to existing ones.
//!
//! Guarantees: results have NumPy's values and do not depend on the number of ranks. Each
//! documented function is collective unless it says otherwise. Ranks compare fingerprints of
//! collective operations and raise an error if they diverge.
//!
//! ```text
//! reduce          reductions, means and variances
//! scan            prefix reductions (`ufunc.accumulate`)
//! argminmax       argmin and argmax
//! mask            boolean-mask selection
//! take_put        gather and scatter of rows by index arrays
//! index           NumPy's advanced indexing: masks and index arrays beside basic items
//! index_arrays    its steps on arrays of any distribution
//! redistribute    distributions, local pieces, redistribution
//! reshape         reshape that is no view
//! items           elements of dtypes without kernels
//! halo            halo exchange
//! random          random arrays
//! convolve        convolution with a halo exchange
//! searchsorted    positions of values in a sorted row
//! select          order statistics
//! histogram       counts of integers and of values in bins
//! local_elements  this rank's elements in contiguous memory
//! sort            sort, argsort, unique
//! matmul          matrix products
//! fft             Fourier transforms
//! linalg          linear algebra
//! explain         the text form of a pending evaluation
//! simulate        cost of an evaluation on any number of ranks
//! ```

pub(crate) mod argminmax;
pub(crate) mod convolve;
pub(crate) mod explain;
pub(crate) mod fft;
pub(crate) mod halo;
pub(crate) mod histogram;
pub(crate) mod index;
pub(crate) mod index_arrays;
pub(crate) mod items;
pub(crate) mod linalg;
pub(crate) mod local_elements;
pub(crate) mod mask;
pub(crate) mod matmul;
pub(crate) mod random;
pub(crate) mod redistribute;
pub(crate) mod reduce;
pub(crate) mod reshape;
pub(crate) mod scan;
pub(crate) mod searchsorted;
pub(crate) mod select;
pub(crate) mod simulate;
pub(crate) mod sort;
pub(crate) mod take_put;
