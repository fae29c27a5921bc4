"""SPMD: the ranks that run the program.

Input: calls that every rank makes. Output: results and errors that are the same on every rank.
Guarantees: no rank waits for one that raised, exited or died.

```text
comm            dappled.comm, init, local
config          dappled.config, FallbackWarning
lifecycle       exit hooks, fork hooks
consensus       a local call whose errors and warnings all ranks raise alike
broadcast       values that one rank makes and all get
on_root         gathered LAPACK calls on rank 0 with the BLAS threads of its node
map_blocks      a NumPy function on local pieces
introspection   explain, sync, memory_stats, from_distarray
```
"""
