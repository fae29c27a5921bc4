//! Algorithms on contiguous local memory, called by the distributed algorithms in Python.
//!
//! Input: NumPy arrays of this rank's elements and preallocated outputs. Output: written into those
//! arrays. A function tries the element types that it supports; long ones release the GIL.
//!
//! Guarantees: no communication, except in [`files`], [`index_keys`] and [`take_put::compress`], which are
//! collective. BLAS and LAPACK routines are those of the library that NumPy has loaded, so the
//! results have NumPy's bits.

#[allow(unsafe_code)]
pub mod blas;
pub mod bucket_sort;
#[allow(unsafe_code)]
pub mod cholesky;
pub mod distributed_fft;
pub mod dtype_dispatch;
pub mod fft;
pub mod files;
pub mod index_keys;
#[allow(unsafe_code)]
pub mod lapack;
#[allow(unsafe_code)]
pub mod lu;
pub mod matmul;
pub mod partition;
pub mod random;
pub mod sort;
pub mod take_put;

use pyo3::prelude::*;

/// Adds the classes and functions of this folder to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bucket_sort::sort_values, module)?)?;
    module.add_function(wrap_pyfunction!(bucket_sort::bucket_values, module)?)?;
    module.add_function(wrap_pyfunction!(bucket_sort::merge_buckets, module)?)?;
    module.add_function(wrap_pyfunction!(cholesky::cholesky_panel, module)?)?;
    module.add_function(wrap_pyfunction!(cholesky::subtract_product, module)?)?;
    module.add_function(wrap_pyfunction!(distributed_fft::fft_distributed, module)?)?;
    module.add_function(wrap_pyfunction!(fft::fft, module)?)?;
    module.add_function(wrap_pyfunction!(files::write_raw, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_raw, module)?)?;
    module.add_function(wrap_pyfunction!(index_keys::index, module)?)?;
    module.add_function(wrap_pyfunction!(index_keys::assign_index, module)?)?;
    module.add_function(wrap_pyfunction!(index_keys::route_index, module)?)?;
    module.add_function(wrap_pyfunction!(index_keys::argwhere, module)?)?;
    module.add_function(wrap_pyfunction!(lu::has_lapack, module)?)?;
    module.add_function(wrap_pyfunction!(lu::lu_panel, module)?)?;
    module.add_function(wrap_pyfunction!(lu::apply_panel, module)?)?;
    module.add_function(wrap_pyfunction!(partition::argsort_received, module)?)?;
    module.add_function(wrap_pyfunction!(partition::partition_values, module)?)?;
    module.add_function(wrap_pyfunction!(random::random, module)?)?;
    module.add_function(wrap_pyfunction!(sort::merge_sorted, module)?)?;
    module.add_function(wrap_pyfunction!(sort::argsort, module)?)?;
    module.add_function(wrap_pyfunction!(sort::select_range, module)?)?;
    module.add_function(wrap_pyfunction!(sort::min_max, module)?)?;
    module.add_function(wrap_pyfunction!(sort::min_max_floats, module)?)?;
    module.add_function(wrap_pyfunction!(sort::bincount, module)?)?;
    module.add_function(wrap_pyfunction!(sort::repeat_values, module)?)?;
    module.add_function(wrap_pyfunction!(sort::histogram_uniform, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::take_rows, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::put_items, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::count_true, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::compress, module)?)?;
    module.add_function(wrap_pyfunction!(take_put::nonzero, module)?)
}
