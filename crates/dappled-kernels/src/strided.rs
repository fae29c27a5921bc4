//! Copies of elements from one stride to another.

/// Copies elements from one stride to another.
///
/// # Safety
/// All elements at both strides must be in memory that may be read, and written, here.
pub(crate) unsafe fn copy_strided(
    from: (*const u8, isize),
    to: (*mut u8, isize),
    count: usize,
    itemsize: usize,
) {
    // SAFETY: the caller's promise.
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

/// The same from memory that nobody writes meanwhile, not even between the elements.
///
/// # Safety
/// As for [`copy_strided`], and what is between the elements that are read may be read as well.
pub(crate) unsafe fn copy_from_still(
    from: (*const u8, isize),
    to: (*mut u8, isize),
    count: usize,
    itemsize: usize,
) {
    let item = itemsize as isize;
    // SAFETY: the caller's promise.
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

/// The same of items of `N` bytes: what is written one after the other has loops of its own for the
/// commonest ways in which it is read.
///
/// # Safety
/// As for [`copy_strided`].
unsafe fn copy_sized<const N: usize>(from: (*const u8, isize), to: (*mut u8, isize), count: usize) {
    let item = N as isize;
    // SAFETY: the caller's promise; arrays of bytes need no alignment.
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

/// Bytes that are copied at once: from 4 KiB on the system's copy uses an instruction that is ten times
/// slower on some CPUs where the target lies a little behind the source, counted in pages.
const AT_ONCE: usize = 2048;

/// Copies bytes; both places may be the same: a program may store an input into itself.
///
/// # Safety
/// All of them may be read, and written; both places are the same, or share no byte.
unsafe fn copy_bytes(from: *const u8, to: *mut u8, count: usize) {
    for start in (0..count).step_by(AT_ONCE) {
        let (from, to) = (from.wrapping_add(start), to.wrapping_add(start));
        // SAFETY: the caller's promise; `copy` allows that both are the same.
        unsafe { std::ptr::copy(from, to, AT_ONCE.min(count - start)) };
    }
}

/// Copies items that lie backwards: in loops of several at a time, as both are contiguous.
///
/// # Safety
/// As for [`copy_strided`], the items being of `N` bytes, one before the other, and written nowhere
/// where they are read.
unsafe fn copy_reversed<const N: usize>(last: *const u8, to: *mut u8, count: usize) {
    let first = last.wrapping_sub((count.max(1) - 1) * N);
    // SAFETY: the caller's promise; arrays of bytes need no alignment.
    let (from, to) = unsafe {
        (
            std::slice::from_raw_parts(first.cast::<[u8; N]>(), count),
            std::slice::from_raw_parts_mut(to.cast::<[u8; N]>(), count),
        )
    };
    to.iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = *from);
}

/// Copies every second item: in loops of several at a time, as what lies between is read as well.
///
/// # Safety
/// As for [`copy_from_still`], the items being of `N` bytes, each the first of two, and written nowhere
/// where they are read.
unsafe fn copy_every_second<const N: usize>(from: *const u8, to: *mut u8, count: usize) {
    let pairs = count.max(1) - 1;
    // SAFETY: the caller's promise; what lies between two items is in the same memory.
    let (of_pairs, to_all) = unsafe {
        (
            std::slice::from_raw_parts(from.cast::<[[u8; N]; 2]>(), pairs),
            std::slice::from_raw_parts_mut(to.cast::<[u8; N]>(), pairs),
        )
    };
    to_all.iter_mut().zip(of_pairs).for_each(|(to, pair)| *to = pair[0]);
    let (last_from, last_to) = (from.wrapping_add(pairs * 2 * N), to.wrapping_add(pairs * N));
    // SAFETY: the last one, which has nothing behind it.
    unsafe { copy_items::<N>((last_from, 0), (last_to, 0), count - pairs) };
}

/// Writes one item everywhere.
///
/// # Safety
/// As for [`copy_reversed`], all being read from one place.
unsafe fn copy_repeated<const N: usize>(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: the caller's promise; a count of 0 reads nothing.
    let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<[u8; N]>(), count) };
    if count > 0 {
        // SAFETY: as above.
        to.fill(unsafe { from.cast::<[u8; N]>().read() });
    }
}

/// # Safety
/// As for [`copy_strided`], the items being of `N` bytes.
unsafe fn copy_items<const N: usize>(from: (*const u8, isize), to: (*mut u8, isize), count: usize) {
    let (mut read, mut written) = (from.0, to.0);
    for _ in 0..count {
        // SAFETY: the caller's promise; `[u8; N]` needs no alignment.
        unsafe { written.cast::<[u8; N]>().write(read.cast::<[u8; N]>().read()) };
        (read, written) = (read.wrapping_offset(from.1), written.wrapping_offset(to.1));
    }
}
