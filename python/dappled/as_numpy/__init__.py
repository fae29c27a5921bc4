"""`dappled run --as-numpy`: `import numpy` means dappled in a program, and not in its libraries.

`sys.modules['numpy']` stays NumPy, so that SciPy and all others get what they know. What an import
of NumPy gives depends on who imports: `builtins.__import__` is told that, and gives the modules
that belong to the program a *facade*: NumPy's module with our names in it. Nothing is rewritten:
code, caches of bytecode, tracebacks and pickles are as ever, `exec` and imports in functions work.

```text
facade      NumPy's modules with our names in them
importing   who imports, and what it is given
main        the program run as `python` would run it
```
"""
