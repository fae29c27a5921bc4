//! Real transforms by complex transforms of half the length.
//!
//! Even and odd elements are packed into complex numbers; a pass over the spectrum separates them
//! again.

use num_complex::Complex;
use rayon::prelude::*;

use crate::config::UNPACK_CHUNK_ELEMENTS;
use crate::plan_cache::Float;
use crate::twiddles::Twiddles;

/// Converts the spectrum of the packed pairs, in all but the last element, to that of the real
/// values. `twiddles` are those of the full length, forward.
pub fn unpack_spectrum<T: Float>(spectrum: &mut [Complex<T>], twiddles: &Twiddles<T>, scale: T) {
    let half = spectrum.len() - 1;
    let first = spectrum[0];
    spectrum[0] = Complex::new((first.re + first.im) * scale, T::zero());
    spectrum[half] = Complex::new((first.re - first.im) * scale, T::zero());
    let pairs = (half - 1) / 2;
    if half.is_multiple_of(2) {
        spectrum[half / 2] = spectrum[half / 2].conj() * scale;
    }
    let (front, back) = spectrum[1..half].split_at_mut(half - 1 - pairs);
    let chunks = front[..pairs]
        .par_chunks_mut(UNPACK_CHUNK_ELEMENTS)
        .zip(back.par_rchunks_mut(UNPACK_CHUNK_ELEMENTS));
    chunks.enumerate().for_each(|(number, (front, back))| {
        let pairs = front.iter_mut().zip(back.iter_mut().rev());
        for (k, (one, other)) in (1 + number * UNPACK_CHUNK_ELEMENTS..).zip(pairs) {
            unpack_pair(one, other, twiddles.at(k), scale * T::nearest(0.5));
        }
    });
}

/// Converts the elements k and half - k.
fn unpack_pair<T: Float>(one: &mut Complex<T>, other: &mut Complex<T>, root: Complex<T>, half: T) {
    let even = *one + other.conj();
    let odd = *one - other.conj();
    // Multiplies `odd` by -i and by the root.
    let rotated = Complex::new(odd.im, -odd.re) * root;
    *one = (even + rotated) * half;
    *other = (even - rotated).conj() * half;
}

/// Returns twice element k of the spectrum of the packed pairs, from elements k and half - k of the
/// half spectrum. `root` is that of the full length, inverse.
pub fn pack_element<T: Float>(one: Complex<T>, other: Complex<T>, root: Complex<T>) -> Complex<T> {
    let even = one + other.conj();
    let odd = (one - other.conj()) * root;
    Complex::new(even.re - odd.im, even.im + odd.re)
}
