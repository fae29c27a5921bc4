//! Integration tests of the Fourier transforms.

mod definition;
