//! Cache-blocked transpose.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::mem::transmute;

#[cfg(target_arch = "x86_64")]
type FourVectors = (__m128i, __m128i, __m128i, __m128i);

/// A rectangle to transpose: contiguous source columns, `stride` apart, become rows, `pitch` apart.
#[derive(Clone, Copy)]
pub(crate) struct Transpose {
    pub from: *const u8,
    pub stride: isize,
    pub to: *mut u8,
    pub pitch: isize,
    pub rows: usize,
    pub columns: usize,
}

impl Transpose {
    /// Transposes items of 1, 2, 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// Each column must have `rows` items valid for reads; each row must have `columns` items valid
    /// for writes; source and destination are disjoint.
    pub unsafe fn run(self, itemsize: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match itemsize {
                1 => self.copy_items::<u8>(0, 0),
                2 => self.copy_items::<u16>(0, 0),
                4 => self.transpose_u32(),
                8 => self.transpose_u64(),
                _ => self.copy_items::<u128>(0, 0),
            }
        }
    }

    fn source<T>(&self, row: usize, column: usize) -> *const T {
        let start = self.from.wrapping_offset((column as isize).wrapping_mul(self.stride));
        start.cast::<T>().wrapping_add(row)
    }

    fn target<T>(&self, row: usize, column: usize) -> *mut T {
        let start = self.to.wrapping_offset((row as isize).wrapping_mul(self.pitch));
        start.cast::<T>().wrapping_add(column)
    }

    /// Copies item by item, except the first `done_rows` rows of the first `done_columns` columns.
    ///
    /// # Safety
    /// As for [`Transpose::run`], for items of this type.
    unsafe fn copy_items<T: Copy>(&self, done_rows: usize, done_columns: usize) {
        for column in 0..self.columns {
            for row in if column < done_columns { done_rows } else { 0 }..self.rows {
                let item = self.source::<T>(row, column);
                // SAFETY: guaranteed by the caller; unaligned access.
                unsafe { self.target::<T>(row, column).write_unaligned(item.read_unaligned()) };
            }
        }
    }

    /// Four columns in step, as vectors of 16 bytes; a partial last vector is omitted.
    ///
    /// # Safety
    /// As for [`Transpose::run`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn four_columns(
        &self,
        column: usize,
        itemsize: usize,
    ) -> impl Iterator<Item = FourVectors> {
        let count = self.rows * itemsize / 16;
        // SAFETY: guaranteed by the caller; bytes need no alignment.
        let line = |at: usize| unsafe {
            std::slice::from_raw_parts(self.source::<[u8; 16]>(0, column + at), count)
        };
        let lines = line(0).iter().zip(line(1)).zip(line(2)).zip(line(3));
        lines.map(|(((&a, &b), &c), &d)| (vector(a), vector(b), vector(c), vector(d)))
    }

    /// Transposes items of 4 bytes, four rows of four columns at a time, in vector registers.
    ///
    /// # Safety
    /// As for [`Transpose::run`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn transpose_u32(&self) {
        for column in (0..self.columns / 4 * 4).step_by(4) {
            let mut row = self.target::<u32>(0, column).cast::<[u8; 16]>();
            // SAFETY: guaranteed by the caller; every x86-64 has SSE2.
            unsafe {
                for (a, b, c, d) in self.four_columns(column, 4) {
                    let (low, high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
                    let (low_too, high_too) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
                    *row = bytes(_mm_unpacklo_epi64(low, low_too));
                    row = row.wrapping_byte_offset(self.pitch);
                    *row = bytes(_mm_unpackhi_epi64(low, low_too));
                    row = row.wrapping_byte_offset(self.pitch);
                    *row = bytes(_mm_unpacklo_epi64(high, high_too));
                    row = row.wrapping_byte_offset(self.pitch);
                    *row = bytes(_mm_unpackhi_epi64(high, high_too));
                    row = row.wrapping_byte_offset(self.pitch);
                }
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.copy_items::<u32>(self.rows / 4 * 4, self.columns / 4 * 4) }
    }

    /// Transposes items of 8 bytes, two rows of four columns at a time.
    ///
    /// # Safety
    /// As for [`Transpose::run`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn transpose_u64(&self) {
        for column in (0..self.columns / 4 * 4).step_by(4) {
            let mut row = self.target::<u64>(0, column).cast::<[u8; 16]>();
            // SAFETY: as in `transpose_u32`.
            unsafe {
                for (a, b, c, d) in self.four_columns(column, 8) {
                    *row = bytes(_mm_unpacklo_epi64(a, b));
                    *row.wrapping_add(1) = bytes(_mm_unpacklo_epi64(c, d));
                    row = row.wrapping_byte_offset(self.pitch);
                    *row = bytes(_mm_unpackhi_epi64(a, b));
                    *row.wrapping_add(1) = bytes(_mm_unpackhi_epi64(c, d));
                    row = row.wrapping_byte_offset(self.pitch);
                }
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.copy_items::<u64>(self.rows / 2 * 2, self.columns / 4 * 4) }
    }

    /// Transposes items of 4 bytes.
    ///
    /// # Safety
    /// As for [`Transpose::run`].
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn transpose_u32(&self) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.copy_items::<u32>(0, 0) }
    }

    /// Transposes items of 8 bytes.
    ///
    /// # Safety
    /// As for [`Transpose::run`].
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn transpose_u64(&self) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.copy_items::<u64>(0, 0) }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn vector(bytes: [u8; 16]) -> __m128i {
    // SAFETY: any sixteen bytes are a valid vector.
    unsafe { transmute::<[u8; 16], __m128i>(bytes) }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bytes(vector: __m128i) -> [u8; 16] {
    // SAFETY: a vector is sixteen initialised bytes.
    unsafe { transmute::<__m128i, [u8; 16]>(vector) }
}
