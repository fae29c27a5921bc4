"""NumPy's functions, one module per chapter of its reference.

Input: arguments as NumPy takes them. Output: our arrays, or NotImplemented for the fallback.
Guarantees: NumPy's results on any number of ranks.

```text
creation broadcasting joining indexing index_tricks
math products einsum bitwise datetime interpolation polynomial convolution
sorting searching sets statistics histograms histogram_bins
functional/     apply_along_axis, vectorize
ufunc/          calls and methods of ufuncs
io/             files
_distributed/   algorithms over ranks and threads, to be moved to Rust
```
"""
