//! Integration tests of the fabrics without MPI. The tests over MPI are a program of their own,
//! `tests/mpi.rs`, because they start it again as the ranks of a job.

mod threads;
