//! Matrix products of replicated and distributed arrays.
//!
//! Input: two arrays; the last two axes are matrices, a single axis is a vector, and the other axes
//! broadcast. Output: a new array. Integer products are exact; float products are equal to NumPy's
//! to rounding, and bit for bit on one rank with NumPy's BLAS.
//!
//! ```text
//! local    products of matrices in this rank's memory
//! cost     communication volume of the distributed algorithms, which decides between them
//! summa    SUMMA: the result on a grid of ranks, panel after panel of the inner axis
//! stacks   stacks of matrices, and the inner axis divided over ranks
//! ```

mod cost;
mod local;
mod stacks;
mod summa;

use std::sync::Arc;

use dappled_kernels::{DType, FpFlags, Scalar, promote};
use dappled_protocol::Distribution;
use dappled_protocol::slice::KeyItem;

use crate::array::Array;
use crate::error::{Error, Result};
use crate::session::Session;
use crate::session::fp_warnings::RequestContext;
use crate::view::broadcast_shapes;
use local::LocalProducts;

const ALL: KeyItem = KeyItem::Slice(None, None, None);

/// NumPy's function that a product belongs to, for floating-point warnings.
#[derive(Clone, Debug)]
pub struct MatmulRequest {
    /// The name of the function: `matmul` or `dot`.
    pub name: &'static str,
    /// The context of the request; None for eager operations.
    pub context: Option<Arc<RequestContext>>,
    /// Whether all ranks must know the floating-point flags of each rank.
    pub shares_flags: bool,
}

impl Default for MatmulRequest {
    fn default() -> Self {
        Self { name: "matmul", context: None, shares_flags: false }
    }
}

impl Array {
    /// The matrix product, with the rules of `numpy.matmul` for vectors and stacks. Collective.
    ///
    /// ```
    /// use dappled::{Array, MatmulRequest, Session};
    ///
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let matrix = Array::from_slice(&session, &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    /// let vector = Array::from_slice(&session, &[2], &[5.0, 6.0]);
    /// let product = matrix.matmul(&vector, &MatmulRequest::default())?;
    /// assert_eq!(product.to_vec::<f64>()?, [17.0, 39.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn matmul(&self, other: &Array, request: &MatmulRequest) -> Result<Array> {
        let [left, right] = check_shapes(self, other)?;
        let batch = broadcast_shapes(&[stack_shape(&left), stack_shape(&right)])?;
        let ([rows, inner], columns) = (matrix_shape(&left), matrix_shape(&right)[1]);
        let (session, shape) = (self.session(), [&batch[..], &[rows, columns]].concat());
        let dtype = promote(self.dtype(), other.dtype());
        let output = match inner * shape.iter().product::<usize>() {
            0 => Array::filled(session, &shape, Scalar::new(0u8).cast(dtype)),
            _ => {
                let mut products = LocalProducts::new(session, dtype);
                let (left, right) =
                    (left.with_dtype(products.dtype())?, right.with_dtype(products.dtype())?);
                let is_replicated = left.is_replicated() && right.is_replicated();
                let output = match is_replicated {
                    true => stacks::multiply_replicated(&mut products, &left, &right, &batch)?,
                    false => multiply_distributed(&mut products, &left, &right, &batch)?,
                };
                let (output, flags) = narrow(&output, dtype)?;
                report(session, products.flags() | flags, request, !is_replicated)?;
                output
            }
        };
        drop_axes(&output, [self.shape().len() == 1, other.shape().len() == 1])
    }
}

/// The product of two C-ordered float matrices, none of whose lengths is 1; `None` for others.
///
/// Evaluates both matrices.
pub fn matmul_contiguous(left: &Array, right: &Array) -> Result<Option<Array>> {
    let (&[rows, inner], &[right_rows, columns]) = (left.shape(), right.shape()) else {
        return Ok(None);
    };
    let is_contiguous = |array: &Array| array.is_replicated() && array.view().is_contiguous();
    let is_supported = left.dtype() == right.dtype()
        && matches!(left.dtype(), DType::Float64 | DType::Float32)
        && is_contiguous(left)
        && is_contiguous(right);
    let has_short_axis = [rows, inner, columns].into_iter().any(|length| length < 2);
    if !is_supported || inner != right_rows || has_short_axis {
        return Ok(None);
    }
    let session = left.session();
    let mut products = LocalProducts::new(session, left.dtype());
    let piece = |array: &Array| Ok::<_, Error>((array.local_buffer()?, array.view().clone()));
    let (buffer, view) = products.multiply_pieces(&piece(left)?, &piece(right)?)?;
    session.fp_warnings().add("matmul", products.flags(), None);
    Ok(Some(Array::replicated(session, view, buffer)))
}

/// The result in its own dtype, and the flags of the cast.
fn narrow(output: &Array, dtype: DType) -> Result<(Array, FpFlags)> {
    if output.dtype() == dtype {
        return Ok((output.clone(), FpFlags::NONE));
    }
    let narrow = output.cast(dtype)?;
    narrow.materialize()?;
    Ok((narrow, output.session().fp_warnings().take_matching("cast", None)))
}

/// Reports floating-point flags; on all ranks if the request says so.
fn report(
    session: &Session,
    flags: FpFlags,
    request: &MatmulRequest,
    is_distributed: bool,
) -> Result<()> {
    session.fp_warnings().add(request.name, flags, request.context.as_ref());
    match request.shares_flags && is_distributed {
        true => session.allreduce_fp_warnings(request.name, request.context.as_ref()),
        false => Ok(()),
    }
}

/// Both operands with at least two axes.
fn check_shapes(left: &Array, right: &Array) -> Result<[Array; 2]> {
    for (operand, array) in [left, right].into_iter().enumerate() {
        if array.shape().is_empty() {
            return Err(Error::MatmulDimensions { operand });
        }
    }
    let one = match left.shape().len() {
        1 => left.slice(&[KeyItem::NewAxis, ALL])?,
        _ => left.clone(),
    };
    let other = match right.shape().len() {
        1 => right.slice(&[ALL, KeyItem::NewAxis])?,
        _ => right.clone(),
    };
    let (columns, rows) = (matrix_shape(&one)[1], matrix_shape(&other)[0]);
    match columns == rows {
        true => Ok([one, other]),
        false => Err(Error::MatmulShapes { rows, columns }),
    }
}

/// The result without the axis that each vector operand does not have.
fn drop_axes(output: &Array, vectors: [bool; 2]) -> Result<Array> {
    let item = |is_vector| if is_vector { KeyItem::Index(0) } else { ALL };
    let view = output.slice(&[KeyItem::Ellipsis, item(vectors[0]), item(vectors[1])])?;
    match vectors {
        [false, false] => Ok(output.clone()),
        [true, true] => Ok(view),
        _ => view.copy(),
    }
}

fn matrix_shape(array: &Array) -> [usize; 2] {
    let shape = array.shape();
    [shape[shape.len() - 2], shape[shape.len() - 1]]
}

/// The lengths of the axes before the matrices.
fn stack_shape(array: &Array) -> &[usize] {
    &array.shape()[..array.shape().len() - 2]
}

/// The product of arrays of which at least one is distributed. Collective.
fn multiply_distributed(
    products: &mut LocalProducts,
    left: &Array,
    right: &Array,
    batch: &[usize],
) -> Result<Array> {
    left.materialize()?;
    right.materialize()?;
    if batch.is_empty() {
        return multiply_matrices(products, left, right);
    }
    let ranks = left.session().fabric().size();
    match batch.iter().product::<usize>() as u64 >= ranks {
        true => stacks::multiply_stacks(products, left, right, batch),
        false => stacks::multiply_one_by_one(products, left, right, batch),
    }
}

/// The product of two matrices by the algorithm with the least communication. Collective.
fn multiply_matrices(products: &mut LocalProducts, left: &Array, right: &Array) -> Result<Array> {
    let ([rows, inner], columns) = (matrix_shape(left), matrix_shape(right)[1]);
    let lengths = [rows, inner, columns];
    match cost::choose(left.session(), lengths, [left, right]) {
        cost::Algorithm::Summa(grid) => summa::multiply(products, left, right, grid),
        cost::Algorithm::InnerSplit => stacks::multiply_inner_split(products, left, right),
    }
}

/// A distribution over all ranks in blocks or whole axes, on a process grid.
fn blocks(session: &Session, shape: &[usize], kinds: &str, grid: Option<&[u64]>) -> Distribution {
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let spec = Distribution::spec(&lengths).dist(kinds);
    let spec = match grid {
        Some(grid) => spec.grid_shape(grid),
        None => spec.nprocs(session.fabric().size()),
    };
    spec.build().expect("every shape can be distributed in blocks")
}
