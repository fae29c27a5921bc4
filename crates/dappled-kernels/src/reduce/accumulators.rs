//! Memory for accumulators in the order in which a reduction computes them.

use crate::error::Error;
use crate::execute;
use crate::iter::bound_operands::BufferView;
use crate::memory::buffer::Buffer;
use crate::memory::view::View;
use crate::program::Program;

/// Lets `write` fill the elements of `out` in C order of these axes.
///
/// Works in place if the output has that order, else in temporary memory that is copied to it. The
/// elements start uninitialised, or with the output's content if `continues` is set.
pub(crate) fn write_in_order<T>(
    out: &BufferView<'_>,
    axes: &[usize],
    inputs: &[BufferView<'_>],
    continues: bool,
    write: impl FnOnce(&mut [u8]) -> Result<T, Error>,
) -> Result<T, Error> {
    let view = out.view();
    let ordered = View {
        shape: axes.iter().map(|&axis| view.shape[axis]).collect(),
        strides: axes.iter().map(|&axis| view.strides[axis]).collect(),
        ..*view
    };
    let bytes = out.len() * view.dtype.itemsize();
    let aligned = (out.buffer().as_ptr().addr() + view.offset).is_multiple_of(16);
    let is_read = inputs.iter().any(|input| input.buffer().is_same(out.buffer()));
    if ordered.is_contiguous() && aligned && !is_read {
        return write(&mut out.buffer().write()?[view.offset..view.offset + bytes]);
    }
    let memory = Buffer::zeroed(bytes);
    let temporary = View::c_order(view.dtype, &ordered.shape);
    let (temporary, ordered) =
        (BufferView::new(&memory, &temporary)?, BufferView::new(out.buffer(), &ordered)?);
    let mut copy = Program::new(vec![view.dtype], vec![]);
    copy.outputs.push(copy.input(0));
    if continues {
        execute(&copy, &[ordered], &[temporary])?;
    }
    let written = write(&mut memory.write().expect("a new buffer has no other holder"))?;
    execute(&copy, &[temporary], &[ordered])?;
    Ok(written)
}
