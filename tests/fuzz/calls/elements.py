"""Templates of random calls: element-wise functions, methods, operators."""

ONE = """
absolute abs fabs negative positive square sqrt sign rint floor ceil trunc isnan isinf isfinite
signbit logical_not invert bitwise_invert bitwise_not conjugate conj reciprocal spacing
bitwise_count deg2rad degrees radians rad2deg modf frexp
"""
# Those may differ by some units in the last place.
CLOSE = """
exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh
arccosh arctanh acos acosh asin asinh atan atanh
"""
TWO = """
add subtract multiply divide true_divide floor_divide remainder mod fmod divmod maximum minimum
fmax fmin less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor
bitwise_and bitwise_or bitwise_xor left_shift right_shift bitwise_left_shift bitwise_right_shift
gcd lcm copysign heaviside nextafter ldexp
"""
CLOSE_OF_TWO = "power pow float_power arctan2 atan2 hypot logaddexp logaddexp2"
FOLDED = """
add multiply subtract divide maximum minimum fmax fmin logical_and logical_or logical_xor
bitwise_and bitwise_or bitwise_xor gcd hypot power floor_divide equal less copysign left_shift
arctan2
"""
SAID = "{out_where}{dtype=dtype}{order=order}{casting=casting}"
FOLD = "{axis=axes}{dtype=dtype}{out=out}{keepdims=bool}{initial=scalar}{where=mask}"
METHODS = f"""
NAME.reduce({{a}}{FOLD})
NAME.accumulate({{a}}{{axis=axis}}{{dtype=dtype}}{{out=out}})
NAME.reduceat({{a}}, {{indices:0}}{{axis=axis}}{{dtype=dtype}}{{out=out}})
NAME.outer({{a}}, {{a: 012}}{{dtype=dtype}})
NAME.at({{a: 0123}}, np.s_[{{key}}], {{value}})
"""
OPERATORS = "+ - * / // % == != < <= > >= & | ^ << >> **"
IN_PLACE = "+= -= *= /= //= %= &= |= ^= <<= >>= **="
OTHERS = """
-{a}
(+{a})
(~{a})
abs({a})
divmod({a}, {b})
round({a: 0}, {number})
bool({a})
int({a: 0})
float({a: 01})
complex({a: 0})
{scalar} - {a}
{scalar} / {a}
~2 ** {a}
({a} > {b}) | ({b} < 0)
{a} * 2 + {b} - {b}
np.negative.at({a: 0123}, np.s_[{key}])
np.clip({a}, {b}, {b}{out_where}{dtype=dtype})
np.clip({a}{min=scalar}{max=b})
{a}.clip({scalar}{max=scalar}{out=out})
np.where({a:?bd}, {b}, {b})
np.where({a})
np.fix({a}{out=out})
~np.sinc({a})
~np.i0({a})
~np.angle({a}{deg=bool})
np.real({a})
np.imag({a})
{a}.real
{a}.imag
np.isreal({a})
np.iscomplex({a})
np.isneginf({a}{out=out})
np.isposinf({a}{out=out})
np.real_if_close({a}{tol=number:1 200})
np.nan_to_num({a}{copy=bool}{nan=scalar}{posinf=scalar}{neginf=scalar})
np.isclose({a}, {b}{rtol=scalar}{atol=scalar}{equal_nan=bool})
np.allclose({a}, {b}{equal_nan=bool})
np.array_equal({a}, {b}{equal_nan=bool})
np.array_equiv({a}, {b})
np.round({a}, {number}{out=out})
np.around({a}{decimals=number}{out=out})
{a}.round({number}{out=out})
{a}.conj()
{a}.conjugate({maybe:None})
np.astype({a}, {dtype}{copy=bool})
{a}.astype({dtype}{order=order}{casting=casting}{copy=bool})
np.can_cast({a}.dtype, {dtype}{casting=casting})
np.result_type({a}, {b})
np.min_scalar_type({a: 0})
[np.iscomplexobj({a}), np.isrealobj(a), np.iterable(a), a.itemsize, a.device]
np.common_type({a}, {like})
~np.unwrap({a}{axis=axis}{discont=scalar})
~np.lib.scimath.power({a}, {b})
~np.lib.scimath.logn(2, {a:dDl})
np.vectorize(lambda x, y: x if x > y else y)({a}, {b})
np.frompyfunc(lambda x, y: x, 2, 1)({a}, {b})
np.piecewise({a}, [{like:?}, {like:?}], [{scalar}, lambda x: x * 2])
np.select([{a:?}, {b:?}], [{b}, {b}]{default=scalar})
np.choose({a:?bl  small ties}, [{b}, {b}]{out=out})
np.choose({a:?bl  small ties}, [{b}, {b}]{mode=mode})
{a:?l  small ties}.choose([{b}, {b}, {b}]{mode=mode})
"""
SCIMATH = "sqrt log log2 log10 arccos arcsin arctanh"


def templates():
    """All of them; those that begin with a tilde are equal to rounding."""
    for mark, words in (("", ONE), ("~", CLOSE)):
        yield from (f"{mark}np.{name}({{a}}{SAID})" for name in words.split())
    for mark, words in (("", TWO), ("~", CLOSE_OF_TWO)):
        yield from (f"{mark}np.{name}({{a}}, {{b}}{SAID})" for name in words.split())
    for name in FOLDED.split():
        for line in METHODS.split("\n")[1:-1]:
            mark = "~" if name in CLOSE_OF_TWO else "+"
            yield f"{mark}np.{line.replace('NAME', name)}"
    for sign in OPERATORS.split():
        yield f"{'~' * (sign == '**')}{{a}} {sign} {{b}}"
    for sign in IN_PLACE.split():
        yield f"{'~' * (sign == '**=')}{{a}} {sign} {{b}}"
    yield from filter(None, OTHERS.split("\n"))
    yield from (f"~np.lib.scimath.{name}({{a}})" for name in SCIMATH.split())
