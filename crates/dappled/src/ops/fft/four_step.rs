//! Bailey's four-step algorithm (1990) for a distributed line.
//!
//! The line is a matrix: columns are transformed, elements multiplied by twiddle factors, rows
//! transformed, and the result is read by columns. An all-to-all makes lines local before each
//! step; received blocks are read in place.

use std::borrow::Cow;
use std::ops::Range;

use dappled_fabric::{keep, take_buffer};
use dappled_fft::parts::{
    ColumnBlock, MatrixPart, StackedParts, transform_columns, transform_rows,
};
use dappled_fft::{Direction, Float};
use dappled_kernels::element::{Element, bytes_of, typed, typed_mut, typed_or_copied};
use dappled_kernels::{Buffer, DTypeKind, View};
use dappled_protocol::Distribution;
use num_complex::Complex;

use super::{OPERATION, Precision, block_ranges, is_single};
use crate::array::Array;
use crate::error::Result;
use crate::error::RunError;
use crate::run::collective;
use crate::session::Session;
use crate::view::byte_range;

/// A line as a matrix in row-major order.
pub(super) struct LineMatrix {
    pub rows: usize,
    pub columns: usize,
    /// Elements of each column spectrum that are computed: all, or the first half for real values.
    pub computed_rows: usize,
    /// Elements of the result.
    pub output_length: usize,
}

impl LineMatrix {
    /// Transforms a line; the result is in blocks. Collective.
    pub fn transform(&self, line: &Array, direction: Direction, scale: f64) -> Result<Array> {
        match is_single(line.dtype()) {
            true => self.transform_as::<f32>(line, direction, scale),
            false => self.transform_as::<f64>(line, direction, scale),
        }
    }

    fn transform_as<T: Precision<Spectrum = Complex<T>>>(
        &self,
        line: &Array,
        direction: Direction,
        scale: f64,
    ) -> Result<Array>
    where
        Complex<T>: Element,
    {
        let session = line.session();
        let columns = self.transform_columns::<T>(line, direction)?;
        let rows = self.transform_rows(session, &columns, direction, scale)?;
        session.buffer_pool().recycle(columns);
        self.to_line::<T>(session, rows)
    }

    /// This rank's columns, transformed and multiplied by twiddle factors.
    fn transform_columns<T: Precision<Spectrum = Complex<T>>>(
        &self,
        line: &Array,
        direction: Direction,
    ) -> Result<Buffer>
    where
        Complex<T>: Element,
    {
        let session = line.session();
        let (buffer, view) = line.contiguous_local_part(&self.row_distribution(session))?;
        let memory = buffer.read().map_err(RunError::from)?;
        let own = &memory[byte_range(&view)];
        let ranges = block_ranges(session, self.columns);
        let (item, stride) = (view.dtype.itemsize(), self.columns);
        let pack = |range: &Range<usize>| pack_columns(own, stride * item, range, item);
        let received =
            collective::all_to_all_remote_bytes(session, OPERATION, ranges.iter().map(pack))?;
        let range = ranges[session.fabric().rank() as usize].clone();
        let result = View::c_order(complex_dtype::<T>(), &[self.computed_rows, range.len()]);
        let target =
            session.buffer_pool().allocate(result.len() * size_of::<Complex<T>>(), &result);
        if !result.is_empty() {
            let block = ColumnBlock {
                width: range.len(),
                height: self.rows,
                first: range.start,
                line_length: self.rows * self.columns,
            };
            let blocks =
                Blocks { own, own_stride: stride, own_column: range.start, received, session };
            let mut bytes = target.write().map_err(RunError::from)?;
            let out = typed_mut::<Complex<T>>(&mut bytes[..result.len() * size_of::<Complex<T>>()]);
            match view.dtype.kind() {
                DTypeKind::Complex => blocks.with_parts(range.len(), |parts| {
                    transform_columns(&StackedParts::Complex(parts), out, block, direction);
                }),
                _ => blocks.with_parts(range.len(), |parts| {
                    transform_columns(&StackedParts::<T>::Real(parts), out, block, direction);
                }),
            }
        }
        Ok(target)
    }

    /// The distribution of the line in blocks of whole rows.
    fn row_distribution(&self, session: &Session) -> Distribution {
        let length = self.rows * self.columns;
        let regular = session.block_distribution(&[length]);
        let bound = |range: &Range<usize>| (range.end * self.columns) as u64;
        let mut bounds = vec![0];
        bounds.extend(block_ranges(session, self.rows).iter().map(bound));
        let ends = block_ranges(session, length);
        if ends.iter().map(|range| range.end as u64).eq(bounds[1..].iter().copied()) {
            return regular;
        }
        let mut spec = Distribution::spec(&[length as u64]).nprocs(session.fabric().size());
        spec.axes[0].bounds = Some(bounds);
        spec.build().expect("bounds of whole rows are valid")
    }

    /// This rank's rows, transformed and transposed.
    fn transform_rows<T: Precision<Spectrum = Complex<T>>>(
        &self,
        session: &Session,
        columns: &Buffer,
        direction: Direction,
        scale: f64,
    ) -> Result<Transposed<T>>
    where
        Complex<T>: Element,
    {
        let rank = session.fabric().rank() as usize;
        let (down, across) =
            (block_ranges(session, self.computed_rows), block_ranges(session, self.columns));
        let width = across[rank].len();
        let memory = columns.read().map_err(RunError::from)?;
        let piece = &typed::<Complex<T>>(&memory)[..self.computed_rows * width];
        let rows_of = |range: &Range<usize>| &piece[range.start * width..range.end * width];
        let received = collective::all_to_all_remote_bytes(
            session,
            OPERATION,
            down.iter().map(|range| copy_bytes(bytes_of(rows_of(range)))),
        )?;
        let count = down[rank].len();
        let mut transposed = Transposed::new(session, self.columns, count);
        if transposed.len() > 0 {
            let parts: Vec<Cow<'_, [Complex<T>]>> = received
                .iter()
                .enumerate()
                .map(|(peer, bytes)| match peer == rank {
                    true => Cow::Borrowed(rows_of(&down[rank])),
                    false => typed_or_copied(bytes),
                })
                .collect();
            let inputs: Vec<(&[Complex<T>], usize)> =
                parts.iter().zip(&across).map(|(part, range)| (&part[..], range.len())).collect();
            transposed
                .with_mut(|out| transform_rows(&inputs, out, direction, T::nearest(scale)))?;
        }
        received.into_iter().for_each(keep);
        Ok(transposed)
    }

    /// The spectrum in order, in the default blocks.
    fn to_line<T: Precision<Spectrum = Complex<T>>>(
        &self,
        session: &Session,
        transposed: Transposed<T>,
    ) -> Result<Array>
    where
        Complex<T>: Element,
    {
        let rank = session.fabric().rank() as usize;
        let ends = block_ranges(session, self.output_length);
        // The lines of the transposed matrix that contain each rank's block of the result.
        let lines: Vec<Range<usize>> = ends
            .iter()
            .map(|range| range.start / self.rows..range.end.div_ceil(self.rows))
            .collect();
        let own = lines[rank].clone();
        let mut target = take_buffer(own.len() * self.rows * size_of::<Complex<T>>());
        let target_elements = typed_mut::<Complex<T>>(&mut target);
        self.exchange_columns(session, &transposed, &lines, |at, column, value| {
            target_elements[at * self.rows + column] = value;
        })?;
        if self.computed_rows < self.rows {
            let mirrored: Vec<Range<usize>> = lines
                .iter()
                .map(|range| self.columns - range.end..self.columns - range.start)
                .collect();
            let mirrored_columns = 1..self.rows - self.computed_rows + 1;
            self.exchange_columns(session, &transposed, &mirrored, |at, column, value| {
                if mirrored_columns.contains(&column) {
                    let line = own.len() - 1 - at;
                    target_elements[line * self.rows + self.rows - column] = value.conj();
                }
            })?;
        }
        let skipped = ends[rank].start - own.start * self.rows;
        let view = View::c_order(complex_dtype::<T>(), &[ends[rank].len()]);
        let buffer = session.buffer_pool().allocate(view.len() * size_of::<Complex<T>>(), &view);
        let start = skipped * size_of::<Complex<T>>();
        let bytes = view.len() * size_of::<Complex<T>>();
        buffer.write().map_err(RunError::from)?[..bytes]
            .copy_from_slice(&target[start..start + bytes]);
        keep(target);
        let blocks = session.block_distribution(&[self.output_length]);
        Ok(Array::from_owned_piece(session, blocks, buffer, view))
    }

    /// All-to-all of lines of the transposed matrix; passes line, column and value to `write`.
    fn exchange_columns<T: Precision<Spectrum = Complex<T>>>(
        &self,
        session: &Session,
        transposed: &Transposed<T>,
        lines: &[Range<usize>],
        mut write: impl FnMut(usize, usize, Complex<T>),
    ) -> Result<()>
    where
        Complex<T>: Element,
    {
        let rank = session.fabric().rank() as usize;
        let down = block_ranges(session, self.computed_rows);
        let width = down[rank].len();
        let memory = transposed.buffer.read().map_err(RunError::from)?;
        let values = &typed::<Complex<T>>(&memory)[..transposed.len()];
        let lines_of = |range: &Range<usize>| &values[range.start * width..range.end * width];
        let received = collective::all_to_all_remote_bytes(
            session,
            OPERATION,
            lines.iter().map(|range| copy_bytes(bytes_of(lines_of(range)))),
        )?;
        for (peer, bytes) in received.into_iter().enumerate() {
            let elements: Cow<'_, [Complex<T>]> = match peer == rank {
                true => Cow::Borrowed(lines_of(&lines[rank])),
                false => typed_or_copied(&bytes),
            };
            let (first, width) = (down[peer].start, down[peer].len().max(1));
            for (at, line) in elements.chunks_exact(width).enumerate() {
                for (column, &value) in line.iter().enumerate() {
                    write(at, first + column, value);
                }
            }
            drop(elements);
            keep(bytes);
        }
        Ok(())
    }
}

/// The transposed rows of a rank: a line for each column of the matrix.
struct Transposed<T> {
    buffer: Buffer,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Precision<Spectrum = Complex<T>>> Transposed<T>
where
    Complex<T>: Element,
{
    fn new(session: &Session, lines: usize, width: usize) -> Self {
        let view = View::c_order(complex_dtype::<T>(), &[lines, width]);
        let buffer = session.buffer_pool().allocate(view.len() * size_of::<Complex<T>>(), &view);
        Self { buffer, len: view.len(), element: std::marker::PhantomData }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn with_mut(&mut self, act: impl FnOnce(&mut [Complex<T>])) -> Result<()> {
        let mut bytes = self.buffer.write().map_err(RunError::from)?;
        act(&mut typed_mut::<Complex<T>>(&mut bytes)[..self.len]);
        Ok(())
    }
}

/// The row blocks of a matrix: this rank's own, and the columns that other ranks sent.
struct Blocks<'a> {
    own: &'a [u8],
    own_stride: usize,
    own_column: usize,
    received: Vec<Vec<u8>>,
    session: &'a Session,
}

impl Blocks<'_> {
    /// Runs `act` with the blocks in rank order, as parts with `width` columns.
    fn with_parts<V: Element>(self, width: usize, act: impl FnOnce(Vec<MatrixPart<'_, V>>)) {
        let rank = self.session.fabric().rank() as usize;
        let elements: Vec<Cow<'_, [V]>> =
            self.received.iter().map(|bytes| typed_or_copied(bytes)).collect();
        let own = typed_or_copied(self.own);
        let parts = elements
            .iter()
            .enumerate()
            .map(|(peer, values)| match peer == rank {
                true => MatrixPart {
                    values: &own[..],
                    stride: self.own_stride,
                    first_column: self.own_column,
                },
                false => MatrixPart { values: &values[..], stride: width, first_column: 0 },
            })
            .collect();
        act(parts);
        drop(elements);
        self.received.into_iter().for_each(keep);
    }
}

fn complex_dtype<T>() -> dappled_kernels::DType
where
    T: Float,
    Complex<T>: Element,
{
    <Complex<T> as Element>::DTYPE
}

/// Copies a range of columns of a matrix, whose rows have `row_bytes` bytes, into a message.
fn pack_columns(matrix: &[u8], row_bytes: usize, range: &Range<usize>, item: usize) -> Vec<u8> {
    let size = range.len() * item;
    let rows = matrix.len() / row_bytes.max(1);
    let mut packed = take_buffer(rows * size);
    if size > 0 {
        for (target, row) in packed.chunks_exact_mut(size).zip(matrix.chunks_exact(row_bytes)) {
            target.copy_from_slice(&row[range.start * item..range.end * item]);
        }
    }
    packed
}

fn copy_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut copy = take_buffer(bytes.len());
    copy.copy_from_slice(bytes);
    copy
}
