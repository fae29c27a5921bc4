"""How a NumPy name becomes ours: lookup, argument conversion, fallback.

Input: a name of NumPy's namespace, or a call with our arrays. Output: our function, or NumPy's
result as our array. Guarantees: NumPy's signature, docstring, errors and warnings.

```text
registry         name -> implementation; the lazy namespaces of `dappled` and its submodules
implements       decorator: an implementation that may return NotImplemented, else NumPy's function
fallback         NumPy's function on gathered arrays, or on metadata alone
meta             arrays with a shape and a dtype but no data
convert          arguments and results of one call into NumPy
rebind           NumPy's Python functions with our globals; array_converter for their arguments
proxies          our classes around NumPy's; drop_in_class: subclasses with our constructor
array_function   NEP 18; array_api: keywords of the array API standard; dist_keyword: `dist=`
core_callbacks   functions that the Rust core calls by name
callsite         the user's frame; errstate: floating-point errors; temporaries: temporary elision
numpy_facts      tables about NumPy's functions; numpy_bugs: workarounds
submodule        `dappled.X` for `numpy.X`
```
"""
