"""Templates of random calls: indexing, assignment, sorting and searching."""

INDEXING = """
{a}[{key}]
{a}[{basic}]
{a}[{key}] = {value}
{a}[{basic}] = {value}
{a}[{key}] += {value}
{a}[{basic}] *= {scalar}
{a}[1:] = a[:-1]
{a}[::-1] = a
{a}[...] = {b}
{a}[{like:?}]
{a}[{like:?}] = {scalar}
{a}[{like:?}] = {b}
{a}[np.nonzero({like:?})] = {scalar}
{a}.flat[{one:1 -1 2:5 ::-2 [0,1] 99}]
{a}.flat[{one:0 -1 1:3 [0,-1]}] = {b}
{a}.flat = {b}
list({a}.flat)
np.take({a}, {indices}{mode=mode}{out=out})
np.take({a}, {indices:0}, 0{mode=mode}{out=out})
{a}.take({indices:-1}, -1{mode=mode})
np.put({a}, {indices}, {b}{mode=mode})
{a}.put({indices}, {scalar}{mode=mode})
np.place({a}, {like:?}, {one:[1] [1,2] [] 5})
np.putmask({a}, {like:?}, {b})
np.copyto({a}, {b}{casting=casting}{where=mask})
np.extract({a:?dl}, {like})
np.compress({one:[True,False] [1,0,1] np.array([True])}, {a}{axis=axis_or_none}{out=out})
{a}.compress({one:[True,False] [0,1,1]}{axis=axis_or_none})
np.take_along_axis({a}, np.argsort({like}{axis=axis}, kind='stable'), {axis})
np.put_along_axis({a}, np.argmax({like}, keepdims=True, axis={axis}), {scalar}, {axis})
np.fill_diagonal({a}, {b}{wrap=bool})
{a}.fill({scalar})
{a}.real = {b}
{a}.imag = {scalar}
np.nonzero({a})
{a}.nonzero()
np.argwhere({a})
np.flatnonzero({a})
np.unravel_index({a:lBb}, {one:(20,20) (3,4) 400}{order=word:C F})
np.ravel_multi_index(({a:lb}, {like:l}), {one:(9,9) (3,30)}{mode=mode}{order=word:C F})
{a}.byteswap({maybe:inplace=True})
{a}.setfield({one:1 0}, 'i1')
{a}.getfield('i1')
{a: 01}.resize({reshape}{refcheck=one:False})
"""

SORTING = """
=np.sort({a}{axis=axis_or_none}{kind=word:stable quicksort heapsort}{stable=bool})
={a}.sort({axis}{kind=word:stable quicksort})
=np.argsort({a}{axis=axis_or_none}, kind='stable')
={a}.argsort({axis}, kind='stable')
=np.take_along_axis({a}, np.argsort(a{axis=axis}), {axis})
=np.lexsort(({a: 12}, {like}){axis=axis})
=np.lexsort({a: 12})
=np.sort_complex({a})
=np.partition({a}, k := {number:-2 4})[..., k]
=np.partition({a}, {number:-2 4}{axis=axis})[..., :0]
=np.take_along_axis({a}, np.argpartition(a, k := {number:-1 3}), -1)[..., k]
=np.unique({a}{return_index=bool}{return_inverse=bool}{return_counts=bool}{axis=axis_or_none}{equal_nan=bool}{sorted=one:True})
=np.sort(np.unique_values({a}))
=np.unique_counts({a})
=np.unique_inverse({a})
=np.unique_all({a})
=np.union1d({a}, {b})
=np.intersect1d({a}, {b}{return_indices=bool})
=np.setdiff1d({a}, {b})
=np.setxor1d({a}, {b})
"""


def templates():
    yield from filter(None, (INDEXING + SORTING).split("\n"))
