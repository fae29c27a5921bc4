//! Real values two by two as complex ones: a transform of half the length, and what it takes to make
//! of its result the spectrum of the real values.

use num_complex::Complex;
use rayon::prelude::*;

use crate::plans::Float;
use crate::twiddles::Twiddles;

const CHUNK: usize = 1 << 13;

/// From the spectrum of the pairs, in all but the last element, that of the values; `twiddles` are of
/// the whole length, forward.
pub fn unfold<T: Float>(spectrum: &mut [Complex<T>], twiddles: &Twiddles<T>, scale: T) {
    let half = spectrum.len() - 1;
    let first = spectrum[0];
    spectrum[0] = Complex::new((first.re + first.im) * scale, T::zero());
    spectrum[half] = Complex::new((first.re - first.im) * scale, T::zero());
    let pairs = (half - 1) / 2;
    if half.is_multiple_of(2) {
        spectrum[half / 2] = spectrum[half / 2].conj() * scale;
    }
    let (front, back) = spectrum[1..half].split_at_mut(half - 1 - pairs);
    let chunks = front[..pairs].par_chunks_mut(CHUNK).zip(back.par_rchunks_mut(CHUNK));
    chunks.enumerate().for_each(|(number, (front, back))| {
        let pairs = front.iter_mut().zip(back.iter_mut().rev());
        for (k, (one, other)) in (1 + number * CHUNK..).zip(pairs) {
            unfold_pair(one, other, twiddles.at(k), scale * T::of(0.5));
        }
    });
}

/// The elements k from both ends.
fn unfold_pair<T: Float>(one: &mut Complex<T>, other: &mut Complex<T>, root: Complex<T>, half: T) {
    let even = *one + other.conj();
    let odd = *one - other.conj();
    // odd times -i times the root
    let turned = Complex::new(odd.im, -odd.re) * root;
    *one = (even + turned) * half;
    *other = (even - turned).conj() * half;
}

/// Element k of the spectrum of the pairs, twice: from the elements k of both ends of the spectrum of
/// the values; `root` is of the whole length, inverse.
pub fn folded<T: Float>(one: Complex<T>, other: Complex<T>, root: Complex<T>) -> Complex<T> {
    let even = one + other.conj();
    let odd = (one - other.conj()) * root;
    Complex::new(even.re - odd.im, even.im + odd.re)
}
