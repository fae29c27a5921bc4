//! Comparisons with one value as bits, by AVX-512: a vector's truths are bits from the start.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::compare::x86::{
    AHEAD, EQUAL, FLOAT32, FLOAT64, GREATER, INT64, LESS, LESS_EQUAL, NOT_EQUAL, in_streams, item,
};

#[target_feature(enable = "avx512f")]
pub(super) fn bits<const KIND: u8, const HOW: u8>(values: &[u8], other: &[u8], words: &mut [u64]) {
    let other = repeated(other);
    let bits_of = |values: &[u8]| bits_of::<KIND, HOW>(values, other);
    in_streams(values, 64 * item(KIND), words, bits_of);
}

/// The bits of 64 elements.
#[inline]
#[target_feature(enable = "avx512f")]
fn bits_of<const KIND: u8, const HOW: u8>(values: &[u8], other: __m512i) -> u64 {
    let in_vector = 64 / item(KIND);
    let mut word = 0;
    for (at, vector) in values.as_chunks::<64>().0.iter().enumerate() {
        _mm_prefetch::<_MM_HINT_T0>(vector.as_ptr().wrapping_add(AHEAD).cast());
        // SAFETY: both are 64 bytes, any of which mean something.
        let vector = unsafe { transmute::<[u8; 64], __m512i>(*vector) };
        word |= truths::<KIND, HOW>(vector, other) << (at * in_vector);
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

/// A bit for each element of a vector. Floats are compared by the instructions that raise no flag.
#[inline]
#[target_feature(enable = "avx512f")]
fn truths<const KIND: u8, const HOW: u8>(a: __m512i, b: __m512i) -> u64 {
    match KIND {
        FLOAT64 => float64::<HOW>(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)),
        FLOAT32 => float32::<HOW>(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)),
        INT64 => int64::<HOW>(a, b),
        _ => int32::<HOW>(a, b),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn float64<const HOW: u8>(a: __m512d, b: __m512d) -> u64 {
    match HOW {
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
fn float32<const HOW: u8>(a: __m512, b: __m512) -> u64 {
    match HOW {
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
fn int64<const HOW: u8>(a: __m512i, b: __m512i) -> u64 {
    match HOW {
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
fn int32<const HOW: u8>(a: __m512i, b: __m512i) -> u64 {
    match HOW {
        LESS => _mm512_cmplt_epi32_mask(a, b).into(),
        LESS_EQUAL => _mm512_cmple_epi32_mask(a, b).into(),
        EQUAL => _mm512_cmpeq_epi32_mask(a, b).into(),
        NOT_EQUAL => _mm512_cmpneq_epi32_mask(a, b).into(),
        GREATER => _mm512_cmpgt_epi32_mask(a, b).into(),
        _ => _mm512_cmpge_epi32_mask(a, b).into(),
    }
}
