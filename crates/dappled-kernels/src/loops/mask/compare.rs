//! Comparisons with one value that write bits, without an intermediate byte per element.
//!
//! They raise no floating-point flags.

use crate::loops::variant::CpuVariant;
use crate::types::dtype::DType;
use crate::types::op::table::Op;

/// Compares elements with one value and writes one bit each, in words of 64.
///
/// # Safety
/// The CPU must support the instructions of the kernel's variant.
pub(crate) type CompareKernel = unsafe fn(values: &[u8], other: &[u8], words: &mut [u64]);

/// The kernel of a comparison, if there is one.
pub(crate) fn compare_kernel(op: Op, dtype: DType, variant: CpuVariant) -> Option<CompareKernel> {
    #[cfg(target_arch = "x86_64")]
    if variant.min(CpuVariant::best()) >= CpuVariant::Avx2 {
        return x86::compare_kernel(
            op,
            dtype,
            variant.min(CpuVariant::best()) == CpuVariant::Avx512,
        );
    }
    None
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::CompareKernel;
    use crate::config::{COMPARE_STREAMS, MASK_PREFETCH_BYTES};
    use crate::loops::mask::compare_avx512;
    use crate::types::dtype::DType;
    use crate::types::op::table::Op;

    pub const FLOAT64: u8 = 0;
    pub const FLOAT32: u8 = 1;
    pub const INT64: u8 = 2;
    pub const INT32: u8 = 3;

    pub const LESS: u8 = 0;
    pub const LESS_EQUAL: u8 = 1;
    pub const EQUAL: u8 = 2;
    pub const NOT_EQUAL: u8 = 3;
    pub const GREATER: u8 = 4;
    pub const GREATER_EQUAL: u8 = 5;

    pub fn compare_kernel(op: Op, dtype: DType, is_wide: bool) -> Option<CompareKernel> {
        match dtype {
            DType::Float64 => in_order::<FLOAT64>(op, is_wide),
            DType::Float32 => in_order::<FLOAT32>(op, is_wide),
            DType::Int64 => in_order::<INT64>(op, is_wide),
            DType::Int32 => in_order::<INT32>(op, is_wide),
            _ => None,
        }
    }

    fn in_order<const KIND: u8>(op: Op, is_wide: bool) -> Option<CompareKernel> {
        match op {
            Op::Less => Some(of::<KIND, LESS>(is_wide)),
            Op::LessEqual => Some(of::<KIND, LESS_EQUAL>(is_wide)),
            Op::Equal => Some(of::<KIND, EQUAL>(is_wide)),
            Op::NotEqual => Some(of::<KIND, NOT_EQUAL>(is_wide)),
            Op::Greater => Some(of::<KIND, GREATER>(is_wide)),
            Op::GreaterEqual => Some(of::<KIND, GREATER_EQUAL>(is_wide)),
            _ => None,
        }
    }

    fn of<const KIND: u8, const COMPARISON: u8>(is_wide: bool) -> CompareKernel {
        if is_wide { compare_avx512::bits::<KIND, COMPARISON> } else { bits::<KIND, COMPARISON> }
    }

    pub const fn item(kind: u8) -> usize {
        if matches!(kind, FLOAT64 | INT64) { 8 } else { 4 }
    }

    #[target_feature(enable = "avx2")]
    fn bits<const KIND: u8, const COMPARISON: u8>(values: &[u8], other: &[u8], words: &mut [u64]) {
        let other = repeated::<KIND>(other);
        let bits_of = |values: &[u8]| bits_of::<KIND, COMPARISON>(values, other);
        in_streams(values, 64 * item(KIND), words, bits_of);
    }

    /// Computes words of `word` bytes each, interleaving several streams of memory.
    #[inline(always)]
    pub fn in_streams(
        values: &[u8],
        word: usize,
        words: &mut [u64],
        bits_of: impl Fn(&[u8]) -> u64,
    ) {
        assert!(values.len() == word * words.len(), "each word needs 64 elements");
        let part = words.len() / COMPARE_STREAMS;
        let (streams, rest) = words.split_at_mut(part * COMPARE_STREAMS);
        let (in_streams, others) = values.split_at(part * COMPARE_STREAMS * word);
        for at in 0..part {
            for stream in 0..COMPARE_STREAMS {
                let at = stream * part + at;
                streams[at] = bits_of(&in_streams[at * word..(at + 1) * word]);
            }
        }
        for (found, values) in rest.iter_mut().zip(others.chunks_exact(word)) {
            *found = bits_of(values);
        }
    }

    /// The bits of 64 elements.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits_of<const KIND: u8, const COMPARISON: u8>(values: &[u8], other: __m256i) -> u64 {
        let (vectors, _) = values.as_chunks::<32>();
        let in_vector = 32 / item(KIND);
        let mut word = 0;
        for line in values.as_chunks::<64>().0 {
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().wrapping_add(MASK_PREFETCH_BYTES).cast());
        }
        for (at, &vector) in vectors.iter().enumerate() {
            // SAFETY: both are 32 bytes, and every bit pattern is valid.
            let vector = unsafe { transmute::<[u8; 32], __m256i>(vector) };
            word |=
                u64::from(compare_vector::<KIND, COMPARISON>(vector, other)) << (at * in_vector);
        }
        word
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn repeated<const KIND: u8>(one: &[u8]) -> __m256i {
        match *one {
            [a, b, c, d] => _mm256_set1_epi32(i32::from_ne_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => {
                _mm256_set1_epi64x(i64::from_ne_bytes([a, b, c, d, e, f, g, h]))
            }
            _ => unreachable!("an element of 4 or 8 bytes"),
        }
    }

    /// One bit per element of a vector. Floats are compared with quiet instructions; for integers
    /// the CPU has equal and greater.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn compare_vector<const KIND: u8, const COMPARISON: u8>(a: __m256i, b: __m256i) -> u32 {
        let (swaps, inverts) = (
            matches!(COMPARISON, LESS | GREATER_EQUAL),
            !matches!(COMPARISON, EQUAL | LESS | GREATER),
        );
        let (more, less) = if swaps { (b, a) } else { (a, b) };
        let is_equality = matches!(COMPARISON, EQUAL | NOT_EQUAL);
        match KIND {
            FLOAT64 => {
                let (a, b) = (_mm256_castsi256_pd(a), _mm256_castsi256_pd(b));
                _mm256_movemask_pd(float64::<COMPARISON>(a, b)) as u32
            }
            FLOAT32 => {
                let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
                _mm256_movemask_ps(float32::<COMPARISON>(a, b)) as u32
            }
            INT64 => {
                let found = match is_equality {
                    true => _mm256_cmpeq_epi64(a, b),
                    false => _mm256_cmpgt_epi64(more, less),
                };
                let signs = _mm256_movemask_pd(_mm256_castsi256_pd(found)) as u32;
                if inverts { !signs & 0xf } else { signs }
            }
            _ => {
                let found = match is_equality {
                    true => _mm256_cmpeq_epi32(a, b),
                    false => _mm256_cmpgt_epi32(more, less),
                };
                let signs = _mm256_movemask_ps(_mm256_castsi256_ps(found)) as u32;
                if inverts { !signs & 0xff } else { signs }
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn float64<const COMPARISON: u8>(a: __m256d, b: __m256d) -> __m256d {
        match COMPARISON {
            LESS => _mm256_cmp_pd::<_CMP_LT_OQ>(a, b),
            LESS_EQUAL => _mm256_cmp_pd::<_CMP_LE_OQ>(a, b),
            EQUAL => _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b),
            NOT_EQUAL => _mm256_cmp_pd::<_CMP_NEQ_UQ>(a, b),
            GREATER => _mm256_cmp_pd::<_CMP_GT_OQ>(a, b),
            _ => _mm256_cmp_pd::<_CMP_GE_OQ>(a, b),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn float32<const COMPARISON: u8>(a: __m256, b: __m256) -> __m256 {
        match COMPARISON {
            LESS => _mm256_cmp_ps::<_CMP_LT_OQ>(a, b),
            LESS_EQUAL => _mm256_cmp_ps::<_CMP_LE_OQ>(a, b),
            EQUAL => _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b),
            NOT_EQUAL => _mm256_cmp_ps::<_CMP_NEQ_UQ>(a, b),
            GREATER => _mm256_cmp_ps::<_CMP_GT_OQ>(a, b),
            _ => _mm256_cmp_ps::<_CMP_GE_OQ>(a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::element::Element;
    use crate::types::element::bytes_of;

    fn checked<T: Element + PartialOrd + std::fmt::Debug>(few: &[T]) {
        let values: Vec<T> = (0..64 * 11).map(|at| few[at * 7 % 31 % few.len()]).collect();
        let expected = |op: Op, a: &T, b: &T| match op {
            Op::Less => a < b,
            Op::LessEqual => a <= b,
            Op::Equal => a == b,
            Op::NotEqual => a != b,
            Op::Greater => a > b,
            _ => a >= b,
        };
        for op in Op::ALL_BUT_CAST.into_iter().filter(|op| op.is_comparison()) {
            let loops = CpuVariant::available().filter_map(|of| compare_kernel(op, T::DTYPE, of));
            for (bits, other) in loops.flat_map(|bits| few.iter().map(move |other| (bits, other))) {
                let mut words = [0; 11];
                // SAFETY: the variant is available on this CPU.
                unsafe { bits(bytes_of(&values), bytes_of(&[*other]), &mut words) };
                for (at, value) in values.iter().enumerate() {
                    let found = words[at / 64] >> (at % 64) & 1 == 1;
                    assert_eq!(found, expected(op, value, other), "{value:?} {op:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn each_element_has_its_bit() {
        let floats = [0.0, -0.0, 1.5, -2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        checked(&floats);
        checked(&floats.map(|float| float as f32));
        checked(&[0i64, 1, -1, i64::MAX, i64::MIN]);
        checked(&[0i32, 1, -1, i32::MAX, i32::MIN]);
    }
}
