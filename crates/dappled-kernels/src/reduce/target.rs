//! The memory of a result that is computed in an order of its own.

use crate::bind::Operand;
use crate::{Buffer, Error, Program, View, execute};

/// Lets `write` fill the elements of `out` in C order of these axes: where they lie if they lie
/// so, else in memory of their own from which they are copied. They are not zeroed first; if it
/// `continues`, they are what is there.
pub(crate) fn write_in_order<T>(
    out: &Operand<'_>,
    axes: &[usize],
    inputs: &[Operand<'_>],
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
    let made = View::c_order(view.dtype, &ordered.shape);
    let (made, ordered) = (Operand::new(&memory, &made)?, Operand::new(out.buffer(), &ordered)?);
    let mut copy = Program::new(vec![view.dtype], vec![]);
    copy.outputs.push(copy.input(0));
    if continues {
        execute(&copy, &[ordered], &[made])?;
    }
    let written = write(&mut memory.write().expect("nobody else has it"))?;
    execute(&copy, &[made], &[ordered])?;
    Ok(written)
}
