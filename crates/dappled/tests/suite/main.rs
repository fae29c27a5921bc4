//! Integration tests of the array crate, on the thread fabric and on one rank.
//!
//! `reference` is a NumPy in one memory that the results are compared with; `assignment` runs single
//! plans. The other modules are the tests, by subject.

mod assignment;
mod reference;

mod convolve;
mod divergence;
mod explain;
mod expressions;
mod fft;
mod files;
mod fp_flags;
mod halo;
mod histogram;
mod index_keys;
mod laplace_plan;
mod linalg;
mod loans;
mod matmul;
mod message_volume;
mod opaque_items;
mod plans;
mod programs;
mod redistribution_budget;
mod redistribution_plans;
mod reduction_distribution;
mod reductions;
mod scans;
mod searchsorted;
mod select;
mod sort;
mod stencils;
mod sync;
mod typed;
mod unmapped_views;
