//! Copies of elements between strides.

use crate::config::COPY_CHUNK_BYTES;
/// Copies elements from one stride to another.
///
/// # Safety
/// All source elements must be valid for reads and all destination elements valid for writes.
pub(crate) unsafe fn copy_strided(
    from: (*const u8, isize),
    to: (*mut u8, isize),
    count: usize,
    itemsize: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match itemsize {
            1 => copy_sized::<1>(from, to, count),
            2 => copy_sized::<2>(from, to, count),
            4 => copy_sized::<4>(from, to, count),
            8 => copy_sized::<8>(from, to, count),
            _ => copy_sized::<16>(from, to, count),
        }
    }
}

/// Copies elements from memory that no thread writes, not even between the elements.
///
/// # Safety
/// As for [`copy_strided`]; the bytes between the source elements must be valid for reads too.
pub(crate) unsafe fn copy_strided_readonly(
    from: (*const u8, isize),
    to: (*mut u8, isize),
    count: usize,
    itemsize: usize,
) {
    let item = itemsize as isize;
    // SAFETY: guaranteed by the caller.
    unsafe {
        match itemsize {
            _ if from.1 != 2 * item || to.1 != item => copy_strided(from, to, count, itemsize),
            1 => copy_every_second::<1>(from.0, to.0, count),
            2 => copy_every_second::<2>(from.0, to.0, count),
            4 => copy_every_second::<4>(from.0, to.0, count),
            8 => copy_every_second::<8>(from.0, to.0, count),
            _ => copy_every_second::<16>(from.0, to.0, count),
        }
    }
}

/// Copies items of `N` bytes, with special loops for contiguous destinations.
///
/// # Safety
/// As for [`copy_strided`].
unsafe fn copy_sized<const N: usize>(from: (*const u8, isize), to: (*mut u8, isize), count: usize) {
    let item = N as isize;
    // SAFETY: guaranteed by the caller; arrays of bytes need no alignment.
    unsafe {
        match from.1 {
            _ if to.1 != item => copy_items::<N>(from, to, count),
            step if step == item => copy_bytes(from.0, to.0, count * N),
            step if step == -item => copy_reversed::<N>(from.0, to.0, count),
            0 => copy_repeated::<N>(from.0, to.0, count),
            _ => copy_items::<N>(from, to, count),
        }
    }
}

/// Copies bytes to the same address or to a disjoint range; a program may store an input into
/// itself.
///
/// # Safety
/// The source must be valid for reads and the destination for writes; both are equal or disjoint.
unsafe fn copy_bytes(from: *const u8, to: *mut u8, count: usize) {
    for start in (0..count).step_by(COPY_CHUNK_BYTES) {
        let (from, to) = (from.wrapping_add(start), to.wrapping_add(start));
        // SAFETY: guaranteed by the caller; `copy` permits equal addresses.
        unsafe { std::ptr::copy(from, to, COPY_CHUNK_BYTES.min(count - start)) };
    }
}

/// Copies items in reverse order, several at a time.
///
/// # Safety
/// As for [`copy_strided`], for contiguous items of `N` bytes that end at `last`; source and
/// destination are disjoint.
unsafe fn copy_reversed<const N: usize>(last: *const u8, to: *mut u8, count: usize) {
    let first = last.wrapping_sub((count.max(1) - 1) * N);
    // SAFETY: guaranteed by the caller; arrays of bytes need no alignment.
    let (from, to) = unsafe {
        (
            std::slice::from_raw_parts(first.cast::<[u8; N]>(), count),
            std::slice::from_raw_parts_mut(to.cast::<[u8; N]>(), count),
        )
    };
    to.iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = *from);
}

/// Copies every second item, several at a time, by reading the items between them too.
///
/// # Safety
/// As for [`copy_strided_readonly`], for items of `N` bytes that are the first of each pair; source
/// and destination are disjoint.
unsafe fn copy_every_second<const N: usize>(from: *const u8, to: *mut u8, count: usize) {
    let pairs = count.max(1) - 1;
    // SAFETY: guaranteed by the caller; the items between are in the same memory.
    let (of_pairs, to_all) = unsafe {
        (
            std::slice::from_raw_parts(from.cast::<[[u8; N]; 2]>(), pairs),
            std::slice::from_raw_parts_mut(to.cast::<[u8; N]>(), pairs),
        )
    };
    to_all.iter_mut().zip(of_pairs).for_each(|(to, pair)| *to = pair[0]);
    let (last_from, last_to) = (from.wrapping_add(pairs * 2 * N), to.wrapping_add(pairs * N));
    // SAFETY: the last item, which is not followed by another one.
    unsafe { copy_items::<N>((last_from, 0), (last_to, 0), count - pairs) };
}

/// Copies one item to every destination item.
///
/// # Safety
/// As for [`copy_reversed`], with a single source item.
unsafe fn copy_repeated<const N: usize>(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: guaranteed by the caller; a count of 0 reads nothing.
    let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<[u8; N]>(), count) };
    if count > 0 {
        // SAFETY: as above.
        to.fill(unsafe { from.cast::<[u8; N]>().read() });
    }
}

/// Copies items of `N` bytes one by one.
///
/// # Safety
/// As for [`copy_strided`], for items of `N` bytes.
unsafe fn copy_items<const N: usize>(from: (*const u8, isize), to: (*mut u8, isize), count: usize) {
    let (mut read, mut written) = (from.0, to.0);
    for _ in 0..count {
        // SAFETY: guaranteed by the caller; `[u8; N]` needs no alignment.
        unsafe { written.cast::<[u8; N]>().write(read.cast::<[u8; N]>().read()) };
        (read, written) = (read.wrapping_offset(from.1), written.wrapping_offset(to.1));
    }
}
