//! Comparisons with one value that write bits, with AVX-512 mask registers.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::compare::x86::{
    EQUAL, FLOAT32, FLOAT64, GREATER, INT64, LESS, LESS_EQUAL, NOT_EQUAL, in_streams, item,
};
use crate::config::MASK_PREFETCH_BYTES;

#[target_feature(enable = "avx512f")]
pub(crate) fn bits<const KIND: u8, const COMPARISON: u8>(
    values: &[u8],
    other: &[u8],
    words: &mut [u64],
) {
    let other = repeated(other);
    let bits_of = |values: &[u8]| bits_of::<KIND, COMPARISON>(values, other);
    in_streams(values, 64 * item(KIND), words, bits_of);
}

/// The bits of 64 elements.
#[inline]
#[target_feature(enable = "avx512f")]
fn bits_of<const KIND: u8, const COMPARISON: u8>(values: &[u8], other: __m512i) -> u64 {
    let in_vector = 64 / item(KIND);
    let mut word = 0;
    for (at, vector) in values.as_chunks::<64>().0.iter().enumerate() {
        _mm_prefetch::<_MM_HINT_T0>(vector.as_ptr().wrapping_add(MASK_PREFETCH_BYTES).cast());
        // SAFETY: both are 64 bytes, and every bit pattern is valid.
        let vector = unsafe { transmute::<[u8; 64], __m512i>(*vector) };
        word |= compare_vector::<KIND, COMPARISON>(vector, other) << (at * in_vector);
    }
    word
}

#[inline]
#[target_feature(enable = "avx512f")]
fn repeated(one: &[u8]) -> __m512i {
    match *one {
        [a, b, c, d] => _mm512_set1_epi32(i32::from_ne_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => _mm512_set1_epi64(i64::from_ne_bytes([a, b, c, d, e, f, g, h])),
        _ => unreachable!("an element of 4 or 8 bytes"),
    }
}

/// One bit per element of a vector. Floats are compared with quiet instructions.
#[inline]
#[target_feature(enable = "avx512f")]
fn compare_vector<const KIND: u8, const COMPARISON: u8>(a: __m512i, b: __m512i) -> u64 {
    match KIND {
        FLOAT64 => float64::<COMPARISON>(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)),
        FLOAT32 => float32::<COMPARISON>(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)),
        INT64 => int64::<COMPARISON>(a, b),
        _ => int32::<COMPARISON>(a, b),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn float64<const COMPARISON: u8>(a: __m512d, b: __m512d) -> u64 {
    match COMPARISON {
        LESS => _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b).into(),
        LESS_EQUAL => _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b).into(),
        EQUAL => _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b).into(),
        NOT_EQUAL => _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(a, b).into(),
        GREATER => _mm512_cmp_pd_mask::<_CMP_GT_OQ>(a, b).into(),
        _ => _mm512_cmp_pd_mask::<_CMP_GE_OQ>(a, b).into(),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn float32<const COMPARISON: u8>(a: __m512, b: __m512) -> u64 {
    match COMPARISON {
        LESS => _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b).into(),
        LESS_EQUAL => _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b).into(),
        EQUAL => _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b).into(),
        NOT_EQUAL => _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(a, b).into(),
        GREATER => _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b).into(),
        _ => _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, b).into(),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn int64<const COMPARISON: u8>(a: __m512i, b: __m512i) -> u64 {
    match COMPARISON {
        LESS => _mm512_cmplt_epi64_mask(a, b).into(),
        LESS_EQUAL => _mm512_cmple_epi64_mask(a, b).into(),
        EQUAL => _mm512_cmpeq_epi64_mask(a, b).into(),
        NOT_EQUAL => _mm512_cmpneq_epi64_mask(a, b).into(),
        GREATER => _mm512_cmpgt_epi64_mask(a, b).into(),
        _ => _mm512_cmpge_epi64_mask(a, b).into(),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn int32<const COMPARISON: u8>(a: __m512i, b: __m512i) -> u64 {
    match COMPARISON {
        LESS => _mm512_cmplt_epi32_mask(a, b).into(),
        LESS_EQUAL => _mm512_cmple_epi32_mask(a, b).into(),
        EQUAL => _mm512_cmpeq_epi32_mask(a, b).into(),
        NOT_EQUAL => _mm512_cmpneq_epi32_mask(a, b).into(),
        GREATER => _mm512_cmpgt_epi32_mask(a, b).into(),
        _ => _mm512_cmpge_epi32_mask(a, b).into(),
    }
}
