"""Universal functions: calls and methods.

Input: a ufunc, its operands and keywords. Output: our array, or NotImplemented for the fallback.
Guarantees: NumPy's dtype resolution, `where=`, `out=` and errors.

```text
call         calls, `out=`, `__array_ufunc__`
reduce       reduce and accumulate on local pieces
accumulate   accumulate passed from rank to rank
reduceat     reduceat
```
"""
