//! Reads and writes of single elements in local memory, without a plan and without blocking.

use dappled_kernels::Scalar;

use super::Array;

impl Array {
    /// The element at a byte offset of the base, if it is in local memory that is not being
    /// written.
    #[inline]
    pub fn try_get_element(&self, offset: usize) -> Option<Scalar> {
        let dtype = self.dtype();
        self.storage.with_current(|node| {
            let memory = node.replicated_buffer()?.read().ok()?;
            Some(Scalar::from_bytes(dtype, &memory[offset..offset + dtype.itemsize()]))
        })
    }

    /// Writes an element at a byte offset of the base; the scalar has the array's dtype.
    ///
    /// Returns false if the memory is not local, or the current version has other holders.
    #[inline]
    pub fn try_set_element(&self, offset: usize, value: Scalar) -> bool {
        let bytes = value.bytes();
        let written = self.storage.with_writable(|memory| {
            memory.write().ok()?[offset..offset + bytes.len()].copy_from_slice(bytes);
            Some(())
        });
        written.is_some()
    }
}
