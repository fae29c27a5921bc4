"""Functional programming routines: a user's function over arrays.

Input: a callable and arrays. Output: our array of its results. Guarantees: NumPy's order of calls
where the function has side effects that can be seen.

```text
apply_along_axis    apply_along_axis, put_along_axis, nanmedian
vectorize           np.vectorize; signatures: with a gufunc signature
side_effects        detects functions that depend on earlier calls
```
"""
