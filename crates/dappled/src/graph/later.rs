//! The commonest case with more elements than are computed at once, asked for with the fewest steps:
//! arrays of one shape and dtype in C order, all of them here, and numbers.

use dappled_kernels::{Kind, Op, View};
use smallvec::smallvec;

use super::layout::Layout;
use super::map::pending;
use super::node::{Arg, Few, Map};
use super::notice::Request;
use super::session::HEAVIEST;
use super::{Array, Beside, Own};

/// Is it the commonest case? Else [`super::ufunc`] does it.
pub fn is_common_later(op: Op, own: Own<'_>, beside: Beside<'_>) -> bool {
    // What is fresh is small.
    let Own::Array(array) = own else { return false };
    let (session, view) = (array.session(), array.view());
    // There are cheaper powers, and some that raise; of complex numbers see `unfused`.
    let other = op == Op::Power || view.dtype.kind() == Kind::Complex;
    let is_alike = match beside {
        Beside::Own(Own::Array(other)) => is_like(other.view(), view) && !other.is_lent(),
        Beside::Own(Own::Fresh(_)) => false,
        _ => true,
    };
    !other
        && is_alike
        && view.len() > session.limits().at_once
        && is_in_c_order(view)
        && op.has_loop(view.dtype)
        && session.fabric().size() == 1
        && !array.is_lent()
}

/// The operation, to be computed when its values are needed; None if so much waits for it that it is
/// best computed now.
pub fn common_later(request: Request, array: &Array, beside: Beside<'_>) -> Option<Array> {
    let args: Few<Arg> = match beside {
        Beside::Nothing => smallvec![array.arg()],
        Beside::Own(other) => smallvec![array.arg(), other.array().arg()],
        Beside::After(value) => smallvec![array.arg(), Arg::Scalar(value)],
        Beside::Before(value) => smallvec![Arg::Scalar(value), array.arg()],
    };
    let base = View::c_order(request.op.result(array.dtype()), array.shape());
    let mut map = Map::new(request, array.dtype(), args);
    let session = array.session();
    let is_much = map.is_heavier(HEAVIEST)
        || map.holds_much(&base)
        || session.pending().is_over(map.held_beyond(&base));
    (!is_much).then(|| pending(session, base, Layout::Whole, map))
}

fn is_like(view: &View, other: &View) -> bool {
    view.dtype == other.dtype && view.shape == other.shape && view.strides == other.strides
}

/// Axes of one element included: their strides decide how NumPy lays a result out.
fn is_in_c_order(view: &View) -> bool {
    let mut step = view.dtype.itemsize() as isize;
    view.shape.iter().zip(&view.strides).rev().all(|(&length, &stride)| {
        let fits = stride == step;
        step *= length as isize;
        fits
    })
}
