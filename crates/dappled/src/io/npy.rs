//! NumPy's `.npy` format: a header with dtype and shape, then the elements.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use dappled_kernels::DType;

use super::outcome::share_outcome;
use crate::array::Array;
use crate::error::{NpyError, Result};
use crate::session::Session;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The elements begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// Longer headers are those of structured dtypes, which are not supported.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// The dtypes of `.npy` files that the core reads, in native byte order.
const DTYPES: [(&str, DType); 14] = [
    ("|b1", DType::Bool),
    ("|i1", DType::Int8),
    ("<i2", DType::Int16),
    ("<i4", DType::Int32),
    ("<i8", DType::Int64),
    ("|u1", DType::UInt8),
    ("<u2", DType::UInt16),
    ("<u4", DType::UInt32),
    ("<u8", DType::UInt64),
    ("<f2", DType::Float16),
    ("<f4", DType::Float32),
    ("<f8", DType::Float64),
    ("<c8", DType::Complex64),
    ("<c16", DType::Complex128),
];

/// The header of an `.npy` file.
///
/// ```
/// use dappled::io::NpyHeader;
/// use dappled_kernels::DType;
///
/// let header = NpyHeader { dtype: DType::Float64, is_fortran_order: false, shape: vec![3, 4] };
/// let bytes = header.to_bytes();
/// assert_eq!(bytes.len() % 64, 0);
/// assert_eq!(NpyHeader::read(&mut &bytes[..]), Ok((header, 128)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// The dtype of the elements.
    pub dtype: DType,
    /// Whether the elements are in Fortran order.
    pub is_fortran_order: bool,
    /// The shape.
    pub shape: Vec<usize>,
}

impl NpyHeader {
    /// The header as version 1.0 of the format, padded so that the elements are aligned.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (descr, _) = DTYPES.iter().find(|(_, dtype)| *dtype == self.dtype).expect("a row");
        let order = if self.is_fortran_order { "True" } else { "False" };
        let lengths: Vec<String> = self.shape.iter().map(|length| format!("{length},")).collect();
        let shape = match &lengths[..] {
            [one] => one.clone(),
            all => all.join(" ").trim_end_matches(',').to_string(),
        };
        let mut text =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}");
        let before = MAGIC.len() + 4;
        let total = (before + text.len() + 1).next_multiple_of(ALIGNMENT);
        text.extend(std::iter::repeat_n(' ', total - before - text.len() - 1));
        text.push('\n');
        let length = u16::try_from(text.len()).expect("at most 64 axes").to_le_bytes();
        [MAGIC, &[1, 0], &length, text.as_bytes()].concat()
    }

    /// Reads a header; returns it and its length, or the reason why it cannot be read.
    pub fn read(file: &mut impl Read) -> std::result::Result<(Self, u64), String> {
        let mut read = |count: usize| {
            let mut bytes = vec![0; count];
            file.read_exact(&mut bytes).map(|()| bytes).map_err(|error| error.to_string())
        };
        let start = read(MAGIC.len() + 2)?;
        if !start.starts_with(MAGIC) {
            return Err("is not an .npy file".into());
        }
        let width = if start[MAGIC.len()] == 1 { 2 } else { 4 };
        let digits = read(width)?;
        let length = digits.iter().rev().fold(0, |all, &byte| all << 8 | usize::from(byte));
        if length > MAX_HEADER_BYTES {
            return Err(format!("has a header of {length} bytes, more than {MAX_HEADER_BYTES}"));
        }
        let text = read(length)?;
        let header = Self::parse(&String::from_utf8_lossy(&text))?;
        Ok((header, (start.len() + width + length) as u64))
    }

    /// Parses the dictionary of a header.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let value = |key: &str| {
            let (_, rest) = text.split_once(&format!("'{key}':"))?;
            Some(rest.trim_start())
        };
        let invalid = || format!("has an invalid header: {}", text.trim());
        let descr = value("descr").ok_or_else(invalid)?;
        let descr = descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next());
        let known = DTYPES.iter().find(|(name, _)| Some(*name) == descr);
        let dtype = known.ok_or_else(|| {
            let all: Vec<&str> = DTYPES.iter().map(|(name, _)| *name).collect();
            format!("has dtype {}, expected one of {}", descr.unwrap_or("?"), all.join(" "))
        })?;
        let is_fortran_order = value("fortran_order").ok_or_else(invalid)?.starts_with("True");
        let shape = value("shape").and_then(|rest| rest.strip_prefix('(')).ok_or_else(invalid)?;
        let (shape, _) = shape.split_once(')').ok_or_else(invalid)?;
        let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
        let shape = lengths.map(str::parse).collect::<std::result::Result<_, _>>();
        Ok(Self { dtype: dtype.1, is_fortran_order, shape: shape.map_err(|_| invalid())? })
    }
}

impl Array {
    /// Saves the array as an `.npy` file. Collective.
    pub fn save_npy(&self, path: &Path) -> Result<()> {
        let (dtype, shape) = (self.dtype(), self.shape().to_vec());
        let header = NpyHeader { dtype, is_fortran_order: false, shape };
        self.write_raw(path, &header.to_bytes())
    }

    /// Loads an array from an `.npy` file, each rank its local piece. Collective.
    pub fn load_npy(session: &Session, path: &Path) -> Result<Array> {
        let name = path.display().to_string();
        let opened = File::open(path);
        let failed = opened.as_ref().map(drop).map_err(|error| match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::other(error.to_string()),
        });
        share_outcome(session, "reading a file", &name, failed)?;
        let mut file = opened.expect("no rank failed");
        let (header, offset) =
            NpyHeader::read(&mut file).map_err(|reason| NpyError { path: name, reason })?;
        let mut shape = header.shape;
        if header.is_fortran_order {
            shape.reverse();
        }
        let distribution = match session.should_replicate(&shape, header.dtype.itemsize()) {
            true => session.replicated_distribution(&shape),
            false => session.block_distribution(&shape),
        };
        let array = Array::read_raw(session, path, offset, header.dtype, distribution)?;
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        Ok(if header.is_fortran_order { array.transposed(&axes) } else { array })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_numpys() {
        let text = |shape: &[usize]| {
            let header =
                NpyHeader { dtype: DType::Int32, is_fortran_order: true, shape: shape.to_vec() };
            let bytes = header.to_bytes();
            assert_eq!(NpyHeader::read(&mut &bytes[..]), Ok((header, bytes.len() as u64)));
            String::from_utf8_lossy(&bytes[10..]).trim_end().to_string()
        };
        let dictionary =
            |shape: &str| format!("{{'descr': '<i4', 'fortran_order': True, 'shape': {shape}, }}");
        assert_eq!(text(&[]), dictionary("()"));
        assert_eq!(text(&[5]), dictionary("(5,)"));
        assert_eq!(text(&[3, 4, 0]), dictionary("(3, 4, 0)"));
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let read = |bytes: &[u8]| NpyHeader::read(&mut &bytes[..]).unwrap_err();
        assert_eq!(read(b"PK\x03\x04 a zip file"), "is not an .npy file");
        assert!(read(b"\x93NUM").contains("fill whole buffer"));
        let mut big = MAGIC.to_vec();
        big.extend([2, 0, 255, 255, 255, 0]);
        assert!(read(&big).contains("more than 65536"), "{}", read(&big));
        let with = |text: &str| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend([1, 0, text.len() as u8, 0]);
            bytes.extend(text.as_bytes());
            read(&bytes)
        };
        assert!(with("{'descr': '>f8', 'fortran_order': False, 'shape': (3,), }").contains(">f8"));
        assert!(with("{'descr': '<f8', 'shape': (3,), }").contains("invalid header"));
        assert!(with("{'descr': '<f8', 'fortran_order': False, 'shape': (x,), }").contains("(x,)"));
    }
}
