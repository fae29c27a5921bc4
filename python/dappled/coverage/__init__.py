"""`dappled coverage`: how each public name of NumPy is computed on several ranks.

Nothing is listed by hand: each function has the attribute `__execution__`.

```text
execution   how one name is executed on several ranks
names       which names there are
page        the table, as text
command     the command
```
"""
