//! The array as Python sees it: `dappled.ndarray`.
//!
//! One call across the border for each operation. What is not native is handed to the Python side
//! ([`slow`]), where NumPy does it.

#[allow(unsafe_code)]
mod blas;
mod by_number;
mod call;
mod calls;
mod choosing;
mod class;
mod commonest;
mod conversion;
mod copies;
mod creating;
mod dealing;
mod disjoint;
mod dividing;
mod dtypes;
mod elements;
#[allow(unsafe_code)]
mod elimination;
mod exclusive;
#[allow(unsafe_code)]
mod exit;
mod folding;
mod fourier;
mod fourier_parts;
mod function;
mod given;
#[allow(unsafe_code)]
mod indexing;
mod items;
#[allow(unsafe_code)]
mod kind;
#[allow(unsafe_code)]
mod lending;
#[allow(unsafe_code)]
mod line;
mod listing;
mod operators;
#[allow(unsafe_code)]
mod origin;
mod placement;
#[allow(unsafe_code)]
mod positive;
mod product;
mod random;
#[allow(unsafe_code)]
mod ranks;
mod reducing;
#[allow(unsafe_code)]
mod scalars;
mod session;
mod shapes;
#[allow(unsafe_code)]
mod sites;
mod slow;
mod small;
mod soon;
mod sorting;
mod swaps;
mod taking;
mod ufunc;
#[allow(unsafe_code)]
mod variable;
mod viewing;

use pyo3::prelude::*;

pub use session::begun;

/// Adds what Python sees of arrays.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<class::NdArray>()?;
    module.add_class::<lending::Memory>()?;
    module.add_function(wrap_pyfunction!(kind::set_kind, module)?)?;
    module.add_class::<ufunc::Ufunc>()?;
    module.add_class::<function::Function>()?;
    module.add_function(wrap_pyfunction!(conversion::wrap, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::share, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::unwrap, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::scatter, module)?)?;
    module.add_function(wrap_pyfunction!(disjoint::disjoint, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::full, module)?)?;
    module.add_function(wrap_pyfunction!(listing::listed, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::unwritten, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::scratch, module)?)?;
    module.add_function(wrap_pyfunction!(items::zero_items, module)?)?;
    module.add_function(wrap_pyfunction!(items::copy_items, module)?)?;
    module.add_function(wrap_pyfunction!(items::write_items, module)?)?;
    module.add_function(wrap_pyfunction!(ufunc::where_, module)?)?;
    module.add_function(wrap_pyfunction!(fourier::fourier, module)?)?;
    module.add_function(wrap_pyfunction!(fourier_parts::fourier_columns, module)?)?;
    module.add_function(wrap_pyfunction!(fourier_parts::fourier_rows, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::init, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::has_begun, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::node_rank, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::fabric_name, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::comm_stats, module)?)?;
    module.add_function(wrap_pyfunction!(exclusive::set_forked, module)?)?;
    module.add_function(wrap_pyfunction!(exclusive::before_fork, module)?)?;
    module.add_function(wrap_pyfunction!(exclusive::after_fork, module)?)?;
    module.add_function(wrap_pyfunction!(exit::set_exiting, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::ranks, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::rank, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::gather, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::exchange, module)?)?;
    module.add_function(wrap_pyfunction!(taking::take_rows, module)?)?;
    module.add_function(wrap_pyfunction!(taking::put_items, module)?)?;
    module.add_function(wrap_pyfunction!(taking::count_chosen, module)?)?;
    module.add_function(wrap_pyfunction!(taking::chosen, module)?)?;
    module.add_function(wrap_pyfunction!(taking::places, module)?)?;
    module.add_function(wrap_pyfunction!(by_number::rows_by_number, module)?)?;
    module.add_function(wrap_pyfunction!(by_number::put_by_number, module)?)?;
    module.add_function(wrap_pyfunction!(sorting::merge_sorted, module)?)?;
    module.add_function(wrap_pyfunction!(dealing::sort_values, module)?)?;
    module.add_function(wrap_pyfunction!(dealing::deal, module)?)?;
    module.add_function(wrap_pyfunction!(dealing::gather_dealt, module)?)?;
    module.add_function(wrap_pyfunction!(sorting::argsort, module)?)?;
    module.add_function(wrap_pyfunction!(positive::factor_positive, module)?)?;
    module.add_function(wrap_pyfunction!(positive::take_product, module)?)?;
    module.add_function(wrap_pyfunction!(dividing::argsort_parts, module)?)?;
    module.add_function(wrap_pyfunction!(dividing::divided, module)?)?;
    module.add_function(wrap_pyfunction!(elimination::eliminates, module)?)?;
    module.add_function(wrap_pyfunction!(elimination::factor_panel, module)?)?;
    module.add_function(wrap_pyfunction!(elimination::eliminate, module)?)?;
    module.add_class::<ranks::Awaited>()?;
    module.add_function(wrap_pyfunction!(ranks::start_from, module)?)?;
    module.add_function(wrap_pyfunction!(sorting::within, module)?)?;
    module.add_function(wrap_pyfunction!(sorting::extent, module)?)?;
    module.add_function(wrap_pyfunction!(sorting::extent_of_floats, module)?)?;
    module.add_function(wrap_pyfunction!(sorting::count_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(sorting::spread_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(sorting::count_between, module)?)?;
    module.add_function(wrap_pyfunction!(calls::called, module)?)?;
    module.add_function(wrap_pyfunction!(calls::note, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::leave, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::set_local, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::check_collective, module)?)?;
    module.add_function(wrap_pyfunction!(session::sync, module)?)?;
    module.add_function(wrap_pyfunction!(placement::part, module)?)?;
    module.add_function(wrap_pyfunction!(placement::placed, module)?)?;
    module.add_function(wrap_pyfunction!(placement::blocks, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::abort, module)?)?;
    module.add_function(wrap_pyfunction!(reducing::reduce, module)?)?;
    module.add_function(wrap_pyfunction!(reducing::accumulate, module)?)?;
    module.add_function(wrap_pyfunction!(reducing::arg_reduce, module)?)?;
    module.add_function(wrap_pyfunction!(placement::from_piece, module)?)?;
    module.add_function(wrap_pyfunction!(random::random, module)?)?;
    module.add_function(wrap_pyfunction!(session::memory_stats, module)?)
}
