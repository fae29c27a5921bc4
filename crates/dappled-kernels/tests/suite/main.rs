//! Integration tests of the kernels, as one binary.
//!
//! NumPy generates the tables in `tests/tables` with `make_tables.py`, `make_operations.py` and
//! `make_reductions.py`; other tests compare with a simpler implementation on random input.

mod common;
mod fused_reductions;
mod in_place;
mod memory;
mod numpy_tables;
mod operations;
mod programs;
mod reductions;
mod transcendental;
mod write_reduce;
