"""Other libraries: the arrays that they receive and return.

Input: objects of other libraries, or our arrays in their functions. Output: arrays they accept.
Guarantees: libraries get NumPy arrays; writes to documented outputs reach our arrays.

```text
duck_arrays   arrays of other libraries; which library called
libraries     whether a file belongs to an installed library
writeback     write-back of copies that libraries received
to_numpy      a.numpy(), Arrow, pandas
numba         numba types for our arrays
```
"""
