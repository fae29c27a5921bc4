//! Integration tests of the sorting, selection and indexing functions.

mod parallel;
