//! Integration tests of compiled loops, as one binary: the interpreter is the reference.

mod contiguous;
mod fused_loops;
mod write_reduce;
