import numpy
from . import _core
def unwrapped(x, outs=()):
    if isinstance(x, _core.ndarray): return _core.unwrap(x, any(x is o for o in outs))
    if type(x) is tuple: return tuple(unwrapped(i, outs) for i in x)
    if type(x) is list: return [unwrapped(i, outs) for i in x]
    if type(x) is dict: return {k: unwrapped(v, outs) for k, v in x.items()}
    return x
def wrapped(r, outs=()):
    if isinstance(r, numpy.ndarray): return _core.wrap(r)
    if type(r) is tuple: return tuple(wrapped(i, outs) for i in r)
    return r
