"""Distributed and threaded algorithms of `_routines`, to be moved to Rust.

Input: this rank's rows of an array. Output: this rank's rows of the result. Guarantees: collective
functions say so; each rank receives the default block of the result.

```text
row_blocks            block rows, allgather, routing of rows to their owners
counting_sort         counting sort of integers with a small value range
chunks                a distributed row, replicated chunk by chunk
polynomial_division   polydiv and poly
threads               thread pool and scratch memory of one process
```
"""
