"""Hooks into private parts of NumPy and CPython, each in one function.

Input: nothing that the public interfaces offer. Output: the private object, or a fallback where
there is one. Guarantees: no other module of the package uses such a part, and
`tests/compat/test_compat.py` asserts that every hook works with the installed versions.

```text
numpy_private     functions, classes and constants that NumPy does not document
cpython_private   frames, reference counts, code objects, the module `warnings`
bytecode          instructions of CPython 3.11 to 3.14
```
"""
