"""Templates of random calls: products, linear algebra, transforms."""

PRODUCTS = """
*{a: 1234} @ {a: 1234}
*{a: 2} @ a.T
*np.matmul({a: 123}, {like}.mT{out=out}{dtype=dtype}{casting=casting})
*np.dot({a}, {b})
*np.dot({a: 2}, a.T{out=out})
*{a: 12}.dot({like})
*np.vdot({a}, {like})
*np.inner({a}, {b})
*np.outer({a}, {b}{out=out})
*np.linalg.outer({a: 1}, {a: 1})
*np.tensordot({a: 23}, {like}{axes=one:0 1 2 ([0],[0]) ([0,1],[0,1])})
*np.kron({a: 012}, {a: 012})
*np.cross({a: 12}, {like}{axis=axis})
*np.vecdot({a}, {b}{axis=axis}{out=out})
*np.matvec({a: 23}, {a: 1})
*np.vecmat({a: 1}, {a: 23})
*np.einsum('ij,kj->ik', {a: 2}, {like})
*np.einsum('ii->i', {square})
*np.einsum('ii', {a: 2})
*np.einsum('...i,...i', {a}, {b}{dtype=dtype}{order=order}{casting=casting})
*np.einsum('ij->ji', {a: 2}{optimize=bool})
*np.einsum('i,j', {a: 1}, {a: 1}{out=out})
np.einsum_path('ij,jk', {a: 2}, {like})[0]
"""

LINALG = """
*np.linalg.norm({a:  small}{ord=one:1 2 -1 inf -inf 'fro' 'nuc' 0 3}{axis=axes}{keepdims=bool})
*np.linalg.vector_norm({a:  small}{ord=one:1 2 inf 0 3}{axis=axes}{keepdims=bool})
*np.linalg.matrix_norm({a:  small}{ord=one:1 'fro' inf -1 2}{keepdims=bool})
*np.linalg.det({square})
*np.linalg.slogdet({square})
*np.linalg.inv({square})
*np.linalg.solve({square}, {b})
*np.linalg.cholesky({square}{upper=bool})
*np.linalg.matrix_power({square}, {number:-2 4})
*np.linalg.svdvals({a:fdFDl 23 small})
*np.linalg.matrix_rank({a:fdFDl 23 small}{tol=one:1e-3})
*np.linalg.pinv({square})
*np.linalg.cond({square}{p=one:1 2 inf 'fro'})
*np.linalg.eigvalsh({square}{UPLO=word:L U})
np.shape(np.linalg.qr({a:fdFDl? 23 small}{mode=word:reduced complete r})[0])
*np.abs(np.linalg.qr({a:fd 2 small}, 'r'))
*np.linalg.lstsq({square}, {like:fd})[0].shape
*np.linalg.multi_dot([{a: 2}, a.T, a])
*np.linalg.tensorinv({square}, 1)
*np.linalg.trace({a}{offset=number}{dtype=dtype})
*np.linalg.cross({a: 12}, {like}{axis=axis})
*np.linalg.matmul({a: 2}, a.T)
*np.linalg.vecdot({a}, {like}{axis=axis})
*np.linalg.tensordot({a: 2}, {like}{axes=one:1 2 0})
*np.linalg.matrix_transpose({a})
"""

TRANSFORMS = """
*np.fft.{one:fft ifft rfft irfft hfft ihfft}({a:  small}{n=number:-1 9}{axis=axis}\
{norm=word:ortho forward backward none}{out=out})
*np.fft.{one:fft2 ifft2 rfft2 irfft2}({a:  small}{s=one:(3,4) (4,2)}\
{axes=one:(0,1) (-1,0) (1,)}{norm=word:ortho forward})
*np.fft.{one:fftn ifftn rfftn irfftn}({a:  small}{axes=one:(0,) (0,1) (-1,) None}\
{norm=word:ortho forward}{out=out})
np.fft.{one:fftshift ifftshift}({a:  small}{axes=axes})
"""


def templates():
    for table in (PRODUCTS, LINALG, TRANSFORMS):
        yield from filter(None, table.split("\n"))
