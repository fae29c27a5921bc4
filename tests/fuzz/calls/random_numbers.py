"""Templates of random calls: seeded random numbers, and polynomials."""

RANDOM = """
np.random.default_rng(3).random({shape}{dtype=one:'f' 'd' 'i'}{out=one:None})
np.random.default_rng(3).integers({number}, {number:1 300}, {shape}{dtype=dtype}{endpoint=bool})
np.random.default_rng(3).integers(0, {a:bl})
np.random.default_rng(3).normal({scalar}, {number:-1 3}, {shape})
np.random.default_rng(3).normal({a:d}, {b:d})
np.random.default_rng(3).uniform({number}, {b}, {shape})
np.random.default_rng(3).standard_normal({shape}{dtype=one:'f' 'd'})
np.random.default_rng(3).standard_exponential({shape}{dtype=one:'f' 'd'}{method=word:zig inv})
np.random.default_rng(3).standard_gamma({number:0 4}, {shape})
np.random.default_rng(3).poisson({a:dl})
np.random.default_rng(3).binomial({number:0 9}, 0.3, {shape})
np.random.default_rng(3).exponential({number:0 2}, {shape})
np.random.default_rng(3).choice({a}, {one:3 (2,2) None}{replace=bool}{axis=axis}{shuffle=bool})
np.random.default_rng(3).permutation({a}{axis=axis})
np.random.default_rng(3).permuted({a}{axis=axis_or_none}{out=out})
np.random.default_rng(3).shuffle({a}{axis=axis})
np.random.RandomState(3).rand({number:0 4}, {number:0 4})
np.random.RandomState(3).randn({number:0 4})
np.random.RandomState(3).randint({number}, {number:1 300}, {shape}{dtype=dtype})
np.random.RandomState(3).choice({a}, {one:3 (2,2)}{replace=bool})
np.random.RandomState(3).permutation({a})
np.random.RandomState(3).shuffle({a})
np.random.RandomState(3).normal({b:d}, 2, {shape})
[(g := np.random.default_rng(5)).random({shape}), g.integers(9, size={shape}), g.normal(size=3)]
"""

# Of one parameter, of two, and of three, which rarely are none.
DISTRIBUTIONS = {
    "exponential chisquare geometric logseries pareto power rayleigh standard_t weibull zipf "
    "poisson standard_gamma": "{one:0.5 1.5 [0.3,0.9] -1}",
    "beta f gamma gumbel laplace logistic lognormal negative_binomial noncentral_chisquare "
    "vonmises wald binomial": "{one:2 3 [1,4]}, {one:0.5 [0.25,0.75] -1}",
    "triangular": "{one:0 -1}, {one:1 [0.5,2]}, {one:3 2}",
    "hypergeometric noncentral_f": "{one:3 5}, {one:4 [1,2]}, {one:2 3}",
}
# Those of several variables, the old names, and what has no parameters.
OTHERS = """
np.random.default_rng(3).dirichlet([1, 2, 0.5], {shape})
np.random.default_rng(3).multinomial({number:0 9}, [0.2, 0.3, 0.5], {shape})
np.random.default_rng(3).multivariate_hypergeometric([3, 4, 2], {number:0 5}, {shape})
np.random.default_rng(3).standard_cauchy({shape})
np.random.RandomState(3).{one:random_sample standard_normal standard_exponential tomaxint}({shape})
[np.random.seed(3), np.random.ranf({shape}), np.random.sample({shape})]
np.random.RandomState(3).random_integers({number:1 5}, 9, {shape})
"""
POLYNOMIALS = """
~np.polyval({one:[2,-1,0.5] [1] []}, {a})
~np.polyval({a: 1}, {b})
~np.polyadd({a: 1}, {a: 1})
~np.polysub({a: 1}, {a: 1})
*np.polymul({a: 1}, {a: 1})
*np.polydiv({a: 1}, {one:[2,-1] [1,0.5,3] [4]})
*np.poly({a: 1})
~np.polyder({a: 1}{m=number:0 2})
~np.polyint({a: 1}{m=number:0 2}{k=scalar})
~np.round(np.polyfit(np.arange(7), np.arange(7) ** 2 + {one:0 1}, {number:1 2}), 6) + 0.0
~np.polynomial.{one:polynomial.polyval chebyshev.chebval hermite.hermval legendre.legval \
laguerre.lagval hermite_e.hermeval}({a}, {one:[1,2,3] [0.5]}{tensor=bool})
"""

# Of which there are some in two and three variables.
SERIES = "polynomial.poly chebyshev.cheb hermite.herm hermite_e.herme laguerre.lag legendre.leg"


def drawn():
    for words, said in DISTRIBUTIONS.items():
        for name in words.split():
            yield f"np.random.default_rng(3).{name}({said}{{size=one:(2,) 2 (3,2) (0,)}})"
            yield f"np.random.RandomState(3).{name}({said}{{size=one:(2,) (3,2)}})"
    for name in SERIES.split():
        yield f"~np.polynomial.{name}val2d({{a:fdl}}, {{like:fd}}, [[1, 2], [0.5, 0]])"
        yield f"~np.polynomial.{name}val3d({{a:fd}}, {{like:d}}, {{like:fl}}, [[[1], [2]]])"
    yield "~np.polynomial.polynomial.polyvalfromroots({a}, {one:[1,2] [0.5]}{tensor=bool})"


def templates():
    for table in (RANDOM, OTHERS, POLYNOMIALS):
        yield from filter(None, table.split("\n"))
    yield from drawn()
