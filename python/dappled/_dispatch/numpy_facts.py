"""Tables about NumPy's functions, by name."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _in_modules(names: str, *modules: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module in modules for name in names.split())


# How a function is executed on several ranks: by the core on distributed arrays, by NumPy on local
# pieces, or by NumPy on a gathered array.
COMPUTED, PIECEWISE, GATHERED = "native", "piecewise", "gathered"

# Dtypes with kernels, as NumPy writes them after the byte order.
NATIVE_CODES = _words("b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16")

# Parameters that a function writes, other than `out`.
WRITTEN = {
    "as_ctypes": ("obj",),
    "assign_fields_by_name": ("dst",),
    "byteswap": ("self",),
    "copyto": ("dst",),
    "fill_diagonal": ("a",),
    "nan_to_num": ("x",),  # where copy=False
    "partition": ("self",),
    "place": ("arr",),
    "put": ("a", "self"),
    "put_along_axis": ("arr",),
    "putmask": ("a",),
    "recursive_fill_fields": ("output",),
    "setfield": ("self",),
    "shuffle": ("x",),
    "sort": ("self",),
}

# Functions whose result may share memory with an argument.
VIEWS = _words(
    """
    array as_array as_ctypes as_strided asanyarray asarray asarray_chkfinite ascontiguousarray
    asfortranarray astype atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to diag
    diagonal expand_dims from_dlpack frombuffer getfield imag ix_ matrix_transpose meshgrid
    moveaxis nan_to_num ndarray nested_iters nditer permute_dims ravel real real_if_close require
    reshape rollaxis sliding_window_view squeeze swapaxes transpose trim_zeros unstack view
    array_split split hsplit vsplit dsplit flip fliplr flipud rot90 masked_array asmatrix
    may_share_memory shares_memory __array_interface__ __array_struct__ ctypes data
    __dlpack__ to_device mT flat
    """
)

# Functions of shapes and dtypes alone.
METADATA_ONLY = _words(
    """
    can_cast common_type einsum_path iscomplexobj isrealobj iterable min_scalar_type
    ndim result_type shape size _parse_input_dimensions
    """
)

# Element-wise functions that are not ufuncs.
ELEMENT_WISE = _words("datetime_as_string i0")

# String functions that are not element-wise.
NOT_ELEMENT_WISE_STRINGS = _words(
    "array asarray chararray compare_chararrays join mod partition rpartition"
)

# Functions without array arguments: NumPy's own.
WITHOUT_ARRAYS = _words(
    """
    base_repr binary_repr broadcast_shapes busday_calendar datetime_data format_float_positional
    format_float_scientific frompyfunc get_include get_printoptions getbufsize geterr geterrcall
    info isdtype isfortran isscalar issubdtype mintypecode printoptions promote_types
    set_printoptions setbufsize seterr seterrcall show_config show_runtime typename assert_raises
    assert_raises_regex assert_warns assert_no_warnings assert_no_gc_cycles break_cycles
    build_err_msg clear_and_catch decorate_methods jiffies measure memusage print_assert_equal
    run_threaded rundocs runstring raises suppress_warnings temppath tempdir check_support_sve
    get_bit_generator set_bit_generator normalize_axis_index
    """
)

# Names that coverage counts as not about arrays, although a wrapper exists.
WITHOUT_EXECUTION = _words(
    """
    ArrayLike BitGenerator DTypeLike DataSource Generator MT19937 NBitBase NDArray NumpyVersion
    PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence TestCase add_docstring add_newdoc
    as_ctypes_type assert_string_equal bit_generator busdaycalendar bytes c_intp
    clear_and_catch_warnings default_rng descr_to_dtype drop_metadata dtype_to_descr errstate
    flatten_descr format_float format_parser get_fieldstructure get_names get_names_flat get_state
    getdomain isfileobj load_library magic make_mask_descr ndindex ndpointer normalize_axis_tuple
    opt_func_info read_array_header_1_0 read_array_header_2_0 read_magic seed
    set_default_printstyle set_state spawn test
    """
)

# Python functions of NumPy that are rebound to ours.
REBOUND = _words(
    """
    all allclose amax amin angle any append apply_over_axes around
    array_equal array_equiv array_split atleast_1d atleast_2d atleast_3d average block clip
    column_stack copy corrcoef cov cross cumprod cumsum cumulative_prod
    cumulative_sum delete diag diagonal diff dsplit dstack ediff1d expand_dims fft.fftshift
    fft.ifftshift fix flip fliplr flipud full_like gradient hsplit hstack imag
    insert isclose iscomplex isneginf isposinf isreal ix_ kron
    linalg.matrix_transpose linalg.multi_dot matrix_transpose max meshgrid min moveaxis nan_to_num
    nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar
    ones_like outer permute_dims piecewise polyval prod ptp ravel real real_if_close require
    reshape resize roll rollaxis rot90 round select sinc split squeeze stack std sum swapaxes
    tensordot tile transpose trapezoid tri tril trim_zeros triu unstack unwrap vander var vsplit
    vstack zeros_like
    """
)

# Functions that are rebound on several ranks; on one, NumPy's is as fast.
REBOUND_ON_RANKS = _words(
    """
    asarray_chkfinite astype bartlett blackman diag_indices diag_indices_from diagflat extract
    fft.fftfreq fft.rfftfreq fill_diagonal flatnonzero geomspace hamming hanning histogram2d
    histogram_bin_edges indices intersect1d isin kaiser linalg.cond linalg.cross
    linalg.diagonal linalg.matmul linalg.matrix_power linalg.matrix_rank
    linalg.outer
    linalg.tensordot linalg.tensorinv linalg.trace linalg.vecdot
    linspace logspace mask_indices nanargmax nanargmin nanpercentile nanquantile pad
    polyfit polynomial.chebyshev.chebval polynomial.chebyshev.chebval2d
    polynomial.chebyshev.chebval3d polynomial.hermite.hermval polynomial.hermite.hermval2d
    polynomial.hermite.hermval3d polynomial.hermite_e.hermeval polynomial.hermite_e.hermeval2d
    polynomial.hermite_e.hermeval3d polynomial.laguerre.lagval polynomial.laguerre.lagval2d
    polynomial.laguerre.lagval3d polynomial.legendre.legval polynomial.legendre.legval2d
    polynomial.legendre.legval3d polynomial.polynomial.polyval polynomial.polynomial.polyval2d
    polynomial.polynomial.polyval3d polynomial.polynomial.polyvalfromroots row_stack
    setdiff1d setxor1d sort_complex take_along_axis tril_indices tril_indices_from
    triu_indices triu_indices_from union1d unique_all unique_counts unique_inverse unique_values
    """
) | _in_modules("arccos arcsin arctanh log log10 log2 logn power sqrt", "emath", "lib.scimath")

# Functions that NumPy computes where each array is small and local: they write no argument, call no
# function, and their result is not much larger.
_EACH = _words(
    """
    all allclose amax amin angle any argmax argmin argpartition argsort around can_cast clip
    convolve copy correlate diag diff digitize
    gradient histogram histogram_bin_edges interp intersect1d isclose isin iterable lexsort
    logspace max mean median min nanmedian nanpercentile nanquantile ndim
    percentile polyfit polyval prod ptp quantile ravel_multi_index result_type roots round
    searchsorted select setdiff1d setxor1d shape sinc size sort std sum take take_along_axis
    trapezoid tril_indices triu_indices union1d unique unique_all unique_counts unique_inverse
    unique_values unravel_index unwrap var where fft.fftfreq fft.rfftfreq linalg.cond
    linalg.cross linalg.eig linalg.eigvals linalg.matrix_power linalg.matrix_rank
    linalg.multi_dot linalg.trace
    """
)

# Functions as in `_EACH` with a lower size limit: ours is faster.
_FEWER = _words("cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum")

# Functions as in `_EACH` with a higher size limit: neither deferral nor threads pay.
_LONGER = _words(
    """
    append argwhere array_equal array_equiv average bincount choose column_stack compress
    concatenate corrcoef count_nonzero cov cross delete dot dstack ediff1d extract flatnonzero
    hstack inner insert nan_to_num nanargmax nanargmin nanmax nanmean nanmin nanprod nanstd
    nansum nanvar nonzero packbits pad partition repeat resize roll stack tile trace tril triu
    unpackbits vdot vstack linalg.matrix_norm linalg.norm linalg.vector_norm
    """
)

# Functions as in `_EACH` whose result may have an element for each pair of elements.
_TOGETHER = _words("einsum kron linalg.outer linalg.tensordot meshgrid outer tensordot")

# Functions as in `_EACH` that write their first argument.
_WRITING = _words("copyto fill_diagonal place put put_along_axis putmask")
SMALL = {
    **dict.fromkeys(_EACH, "each"),
    **dict.fromkeys(_FEWER, "fewer"),
    **dict.fromkeys(_LONGER, "longer"),
    **dict.fromkeys(_TOGETHER, "together"),
    **dict.fromkeys(_WRITING, "written"),
}

# Methods that NumPy computes on small arrays.
SMALL_METHODS = dict.fromkeys(
    _words(
        """
        argpartition argsort round searchsorted take
        """
    ),
    "each",
)
SMALL_METHODS |= dict.fromkeys(_words("cumprod cumsum"), "fewer")
SMALL_METHODS |= dict.fromkeys(_words("choose compress dot nonzero repeat tobytes trace"), "longer")
SMALL_METHODS |= dict.fromkeys(_words("partition put sort"), "written")

# Functions that create arrays and take `dist=`.
CREATING = _words(
    """
    arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray copy diag
    diagflat empty empty_like eye from_dlpack frombuffer fromfile fromfunction fromiter fromstring
    full full_like genfromtxt geomspace identity indices linspace loadtxt logspace meshgrid ones
    ones_like require tri tril triu vander zeros zeros_like
    """
)

# Rebound functions whose result may be a NumPy array, from a method of a NumPy scalar.
REBOUND_AND_WRAPPED = _words("linalg.matrix_norm linalg.norm linalg.vector_norm mean")

# NumPy classes whose objects take or return arrays: proxies convert them.
PROXIED = _words(
    """
    numpy.poly1d numpy.nditer numpy.lib.npyio.NpzFile
    numpy.random._generator.Generator numpy.random.mtrand.RandomState
    numpy.polynomial.polynomial.Polynomial numpy.polynomial.chebyshev.Chebyshev
    numpy.polynomial.hermite.Hermite numpy.polynomial.hermite_e.HermiteE
    numpy.polynomial.laguerre.Laguerre numpy.polynomial.legendre.Legendre
    """
)
