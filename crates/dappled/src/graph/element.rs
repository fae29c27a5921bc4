//! One element of memory that is here: read and written without a plan, and without waiting.

use dappled_kernels::Scalar;

use super::Array;

impl Array {
    /// The element at this place of the base, if its memory is here and nobody writes it.
    #[inline]
    pub fn ready_element(&self, offset: usize) -> Option<Scalar> {
        let dtype = self.dtype();
        self.versions.with_current(|node| {
            let memory = node.whole_memory()?.read().ok()?;
            Some(Scalar::from_bytes(dtype, &memory[offset..offset + dtype.itemsize()]))
        })
    }

    /// Writes an element at this place of the base, of the array's dtype, if its memory is here and
    /// nobody needs it as it was; false if not.
    #[inline]
    pub fn write_ready(&self, offset: usize, value: Scalar) -> bool {
        let bytes = value.bytes();
        let written = self.versions.with_writable(|memory| {
            memory.write().ok()?[offset..offset + bytes.len()].copy_from_slice(bytes);
            Some(())
        });
        written.is_some()
    }
}
