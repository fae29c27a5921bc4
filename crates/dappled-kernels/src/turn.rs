//! Columns into rows: what lies across the rows of a tile is read by whole cache lines.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::mem::transmute;

#[cfg(target_arch = "x86_64")]
type Four = (__m128i, __m128i, __m128i, __m128i);

/// A rectangle of items of one size: columns, each contiguous, a stride apart, to be written as
/// rows a pitch apart.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub from: *const u8,
    pub stride: isize,
    pub to: *mut u8,
    pub pitch: isize,
    pub rows: usize,
    pub columns: usize,
}

impl Turn {
    /// Copies items of so many bytes: 1, 2, 4, 8 or 16.
    ///
    /// # Safety
    /// From each column `rows` items may be read; to each row as many as there are columns may
    /// be written, and none of them is read.
    pub unsafe fn run(self, itemsize: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match itemsize {
                1 => self.items::<u8>(0, 0),
                2 => self.items::<u16>(0, 0),
                4 => self.words(),
                8 => self.double_words(),
                _ => self.items::<u128>(0, 0),
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

    /// One by one, but for so many first rows of so many first columns.
    ///
    /// # Safety
    /// As for [`Turn::run`], the items being of this type.
    unsafe fn items<T: Copy>(&self, done_rows: usize, done_columns: usize) {
        for column in 0..self.columns {
            for row in if column < done_columns { done_rows } else { 0 }..self.rows {
                let item = self.source::<T>(row, column);
                // SAFETY: the caller's promise; no alignment is asked for.
                unsafe { self.target::<T>(row, column).write_unaligned(item.read_unaligned()) };
            }
        }
    }

    /// Four columns, as vectors of 16 bytes: as many as are whole.
    ///
    /// # Safety
    /// As for [`Turn::run`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn four(&self, column: usize, itemsize: usize) -> impl Iterator<Item = Four> {
        let count = self.rows * itemsize / 16;
        // SAFETY: the caller's promise; bytes need no alignment.
        let line = |at: usize| unsafe {
            std::slice::from_raw_parts(self.source::<[u8; 16]>(0, column + at), count)
        };
        let lines = line(0).iter().zip(line(1)).zip(line(2)).zip(line(3));
        lines.map(|(((&a, &b), &c), &d)| (vector(a), vector(b), vector(c), vector(d)))
    }

    /// Items of 4 bytes, four rows of four columns at a time, within the CPU's registers.
    ///
    /// # Safety
    /// As for [`Turn::run`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn words(&self) {
        for column in (0..self.columns / 4 * 4).step_by(4) {
            let mut row = self.target::<u32>(0, column).cast::<[u8; 16]>();
            // SAFETY: the caller's promise; every x86-64 has SSE2.
            unsafe {
                for (a, b, c, d) in self.four(column, 4) {
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
        // SAFETY: the caller's promise.
        unsafe { self.items::<u32>(self.rows / 4 * 4, self.columns / 4 * 4) }
    }

    /// Items of 8 bytes, two rows of four columns at a time.
    ///
    /// # Safety
    /// As for [`Turn::run`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn double_words(&self) {
        for column in (0..self.columns / 4 * 4).step_by(4) {
            let mut row = self.target::<u64>(0, column).cast::<[u8; 16]>();
            // SAFETY: as in `words`.
            unsafe {
                for (a, b, c, d) in self.four(column, 8) {
                    *row = bytes(_mm_unpacklo_epi64(a, b));
                    *row.wrapping_add(1) = bytes(_mm_unpacklo_epi64(c, d));
                    row = row.wrapping_byte_offset(self.pitch);
                    *row = bytes(_mm_unpackhi_epi64(a, b));
                    *row.wrapping_add(1) = bytes(_mm_unpackhi_epi64(c, d));
                    row = row.wrapping_byte_offset(self.pitch);
                }
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.items::<u64>(self.rows / 2 * 2, self.columns / 4 * 4) }
    }

    /// # Safety
    /// As for [`Turn::run`].
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn words(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.items::<u32>(0, 0) }
    }

    /// # Safety
    /// As for [`Turn::run`].
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn double_words(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.items::<u64>(0, 0) }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn vector(bytes: [u8; 16]) -> __m128i {
    // SAFETY: any sixteen bytes are such a vector.
    unsafe { transmute::<[u8; 16], __m128i>(bytes) }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bytes(vector: __m128i) -> [u8; 16] {
    // SAFETY: a vector is sixteen bytes.
    unsafe { transmute::<__m128i, [u8; 16]>(vector) }
}
