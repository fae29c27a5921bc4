//! What ranks must agree on when they do something together: a hash of what is done.
//!
//! Values that are on every rank are a part of it: numbers, and arrays of a few bytes, or of any size
//! with `DAPPLED_CHECK=1`. So `time.time()` as a factor is found.

use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use dappled_kernels::{Buffer, DType, Program, Scalar, View};

use super::small::collected;
use crate::run::RunError;

/// Whole operands of up to so many bytes are compared.
const FEW: usize = 64;

static CHECK_ALL: LazyLock<bool> =
    LazyLock::new(|| std::env::var("DAPPLED_CHECK").is_ok_and(|value| value == "1"));

/// The bytes that a view shows of an array that every rank has, if they are to be compared.
pub(super) fn compared(buffer: &Buffer, view: &View) -> Result<Option<Buffer>, RunError> {
    let mut view = view.clone();
    // What is repeated is looked at once.
    for (length, stride) in view.shape.iter_mut().zip(view.strides.iter()) {
        *length = if *stride == 0 { (*length).min(1) } else { *length };
    }
    match view.len() * view.dtype.itemsize() {
        0 => Ok(None),
        bytes if bytes <= FEW || *CHECK_ALL => collected(buffer, &view).map(Some),
        _ => Ok(None),
    }
}

/// An assignment for people: what is done, to how much, and the numbers in it.
pub(super) fn said<T: ToString>(
    program: &Program,
    shape: &[T],
    values: &[(DType, Buffer)],
) -> String {
    let steps: Vec<String> = program.steps.iter().map(|step| step.op.to_string()).collect();
    let numbers = program.constants.iter().map(ToString::to_string);
    let arrays = values.iter().map(|(dtype, buffer)| shown(*dtype, buffer));
    let with: Vec<String> = numbers.chain(arrays).collect();
    let mut text = format!(" of shape {}", crate::view::tuple(shape));
    if !steps.is_empty() {
        text += &format!(": {}", steps.join(", "));
    }
    if !with.is_empty() {
        text += &format!(" with {}", with.join(", "));
    }
    text
}

/// The first values of an array.
fn shown(dtype: DType, buffer: &Buffer) -> String {
    let Ok(bytes) = buffer.read() else { return String::new() };
    let items = bytes.chunks_exact(dtype.itemsize()).take(4);
    let items = items.map(|item| Scalar::from_bytes(dtype, item).to_string());
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A hash that is the same in every process, and costs little.
pub(super) fn hashed(what: impl Hash) -> u64 {
    let mut hasher = Words(0);
    what.hash(&mut hasher);
    hasher.finish()
}

/// Hashes words, soon.
#[derive(Default)]
pub(super) struct Words(u64);

impl Words {
    /// FNV-1a on words; the turn brings the high bits down.
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.word(byte.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.word(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.word(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.word(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.word(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.word(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
