"""`dappled coverage`: how each public name of NumPy is computed on several ranks.

Nothing is listed here by hand: what a name is says how it was made (`__way__`).

```text
ways        how one name is computed
names       which names there are
page        the table, as text
command     the command
```
"""
