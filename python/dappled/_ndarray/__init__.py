"""The array class: methods, indexing, views, printing, exports.

Input: the Rust core's `ndarray`. Output: NumPy's attributes and methods on it. Guarantees: the
view-or-copy behaviour, strides and memory order that NumPy documents.

```text
core               the Rust core as the rest of the package sees it; dtype predicates
methods            attaches members to the class
indexing           advanced indexing on several ranks; threaded_indexing: in one process
index_keys         which keys the core resolves, and NumPy's errors for the others
views              views computed on metadata; memory_order: the order of axes in memory
opaque_dtypes      dtypes without kernels: structured, datetime, string
flags flatiter nditer printing exports subclasses
```
"""
