//! Fingerprints of collective operations: ranks compare them to detect divergence.
//!
//! A fingerprint has one hash for each aspect of an operation, so that the error can name the
//! difference. Values of replicated operands are part of it: scalars; arrays of up to 64 bytes; a
//! sample of larger arrays, or all elements with `DAPPLED_CHECK=1`. A factor of `time.time()` is
//! therefore detected.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use dappled_fabric::{FabricError, FieldHashes};
use dappled_kernels::{DType, Program, Scalar};

static CHECK_ALL: OnceLock<bool> = OnceLock::new();

/// Sets whether all elements of replicated operands are compared, or a sample (`DAPPLED_CHECK`).
///
/// The first call decides.
pub fn set_check_all(all: bool) {
    let _ = CHECK_ALL.set(all);
}

/// Returns true if all elements of replicated operands are compared.
pub fn is_check_all() -> bool {
    CHECK_ALL.get().copied().unwrap_or(false)
}

/// An aspect of an operation that can differ between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FingerprintField {
    /// The operation and its axes.
    Operation,
    /// Scalar operands.
    Scalars,
    /// Shapes and dtypes.
    Shape,
    /// Slices that are read or written.
    View,
    /// Identities of distributed arrays.
    Array,
    /// Distributions.
    Distribution,
    /// Elements of replicated operands, and states of random generators.
    Contents,
    /// Arguments of the NumPy function that the program called.
    Call,
}

/// One hash for each aspect of an operation.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fingerprint([u64; 8]);

impl Fingerprint {
    /// The fingerprint of an operation that a value identifies.
    pub fn of(operation: impl Hash) -> Self {
        Self::default().with(FingerprintField::Operation, operation)
    }

    /// Adds a value to the hash of an aspect.
    pub fn with(mut self, field: FingerprintField, value: impl Hash) -> Self {
        let mut hasher = FnvHasher(self.0[field as usize].wrapping_add(FNV_OFFSET_BASIS));
        value.hash(&mut hasher);
        self.0[field as usize] = hasher.finish();
        self
    }

    /// Adds the steps and constants of a program.
    pub fn with_program(self, program: &Program) -> Self {
        let Program { inputs, constants, steps, outputs } = program;
        let dtypes = constants.iter().map(Scalar::dtype);
        self.with(FingerprintField::Operation, (steps, outputs))
            .with(FingerprintField::Shape, (inputs, dtypes.collect::<Vec<DType>>()))
            .with(FingerprintField::Scalars, constants)
    }

    /// The hash that ranks compare.
    pub fn hash(&self) -> u64 {
        fnv_hash(self.0)
    }

    /// The hash of the aspects that a description contains.
    pub fn description_hash(&self) -> u64 {
        let [operation, scalars, shape, view, _, _, contents, _] = self.0;
        fnv_hash([operation, scalars, shape, view, contents])
    }

    /// 16-bit hashes of the aspects, which are sent with messages.
    pub fn field_hashes(&self) -> FieldHashes {
        self.0.map(|hash| (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) as u16)
    }
}

/// Advice for ranks that diverged: the difference, and possible causes. None if there is none.
pub fn divergence_hint(error: &FabricError) -> Option<&'static str> {
    let FabricError::OperationsDiffer { tags, .. } = error else { return None };
    let [one, other] = [tags[0].field_hashes, tags[1].field_hashes];
    let differs = |field: FingerprintField| one[field as usize] != other[field as usize];
    let drawn = tags.iter().all(|tag| tag.label.to_string().starts_with("random numbers"));
    if drawn && differs(FingerprintField::Contents) {
        return Some(
            "the states of the generators differ: is one seeded by the rank, or used more often?",
        );
    }
    let hints = [
        (FingerprintField::Call, "the arguments of the function differ"),
        (FingerprintField::Operation, ""),
        (FingerprintField::Shape, "the shapes or dtypes differ"),
        (
            FingerprintField::Scalars,
            "the scalars differ: is a generator not seeded, or a clock read?",
        ),
        (FingerprintField::View, "the indices or slices differ: do they depend on the rank?"),
        (FingerprintField::Distribution, "the distributions differ"),
        (
            FingerprintField::Array,
            "the arrays differ: are they taken from a set, or chosen by the rank?",
        ),
        (
            FingerprintField::Contents,
            "the elements of a replicated operand differ: is it drawn from a generator that is not \
             seeded alike, or read from a file that differs?",
        ),
    ];
    let hint = hints.iter().find(|(field, _)| differs(*field));
    hint.map(|(_, text)| *text).filter(|text| !text.is_empty())
}

/// Returns true if ranks may have diverged because they iterate over a set in different orders.
pub fn may_be_set_order(error: &FabricError) -> bool {
    let FabricError::OperationsDiffer { tags, .. } = error else { return false };
    let [one, other] = [tags[0].field_hashes, tags[1].field_hashes];
    let differs = |field: FingerprintField| one[field as usize] != other[field as usize];
    // Arrays created in a call differ if its arguments do.
    !differs(FingerprintField::Call)
        && (differs(FingerprintField::Operation) || differs(FingerprintField::Array))
}

/// FNV-1a hash of a value; equal in all processes.
pub(crate) fn fnv_hash(value: impl Hash) -> u64 {
    let mut hasher = FnvHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// FNV's offset basis: with a start of 0, sequences of zeros of any length would collide.
const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a hasher over 64-bit words; deterministic, so ranks can compare hashes.
#[derive(Default)]
pub(crate) struct FnvHasher(u64);

impl FnvHasher {
    pub fn new() -> Self {
        Self(FNV_OFFSET_BASIS)
    }

    /// The rotation moves the high bits down.
    fn write_word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

impl Hasher for FnvHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_word(byte.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.write_word(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_word(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.write_word(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_word(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_word(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
