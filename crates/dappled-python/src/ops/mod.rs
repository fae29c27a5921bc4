//! Algorithms of the core for the functions in `python/dappled`, and NumPy's BLAS and LAPACK.
//!
//! Input: Dappled arrays, or NumPy arrays of this rank's elements and preallocated outputs. Output:
//! new arrays, or written into those given. Functions of arrays are collective; those of
//! [`sort`], [`fft`], [`random`] and most of [`take_put`] work on contiguous local memory. Long ones
//! release the GIL. [`openblas`] calls the library that NumPy has loaded, so results have NumPy's bits.

pub mod counting;
pub mod distributed_fft;
pub mod distributed_sort;
pub mod dtype_dispatch;
pub mod fft;
pub mod files;
pub mod index_keys;
pub mod linalg;
pub mod matmul;
#[allow(unsafe_code)]
pub mod openblas;
pub mod random;
pub mod routing;
pub mod sort;
pub mod take_put;

use pyo3::prelude::*;

/// Adds the classes and functions of this folder to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(counting::order_statistics, module)?)?;
    module.add_function(wrap_pyfunction!(counting::bincount, module)?)?;
    module.add_function(wrap_pyfunction!(counting::histogram_uniform, module)?)?;
    module.add_function(wrap_pyfunction!(counting::value_range, module)?)?;
    module.add_function(wrap_pyfunction!(counting::sum_over_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(counting::searchsorted, module)?)?;
    module.add_function(wrap_pyfunction!(distributed_fft::fft_distributed, module)?)?;
    module.add_function(wrap_pyfunction!(distributed_sort::sort_distributed, module)?)?;
    module.add_function(wrap_pyfunction!(distributed_sort::argsort_distributed, module)?)?;
    module.add_function(wrap_pyfunction!(distributed_sort::unique_distributed, module)?)?;
    module.add_function(wrap_pyfunction!(fft::fft, module)?)?;
    module.add_function(wrap_pyfunction!(files::write_raw, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_raw, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::cholesky, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::inv, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::lstsq, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::qr, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::singular_values, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::slogdet, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::solve, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::svd, module)?)?;
    module.add_function(wrap_pyfunction!(matmul::matmul_distributed, module)?)?;
    module.add_function(wrap_pyfunction!(index_keys::index, module)?)?;
    module.add_function(wrap_pyfunction!(index_keys::assign_index, module)?)?;
    module.add_function(wrap_pyfunction!(index_keys::route_index, module)?)?;
    module.add_function(wrap_pyfunction!(index_keys::argwhere, module)?)?;
    module.add_function(wrap_pyfunction!(random::random, module)?)?;
    module.add_class::<routing::RowExchange>()?;
    module.add_function(wrap_pyfunction!(routing::block_with_halo, module)?)?;
    module.add_function(wrap_pyfunction!(sort::sort_values, module)?)?;
    module.add_function(wrap_pyfunction!(sort::merge_sorted, module)?)?;
    module.add_function(wrap_pyfunction!(sort::argsort, module)?)?;
    module.add_function(wrap_pyfunction!(sort::min_max, module)?)?;
    module.add_function(wrap_pyfunction!(sort::bincount, module)?)?;
    module.add_function(wrap_pyfunction!(sort::repeat_values, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::take_rows, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::put_items, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::count_true, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::compress, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::nonzero, module)?)
}
