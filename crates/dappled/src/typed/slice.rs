//! Slices: the `s!` macro and the expressions that it accepts.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use dappled_protocol::slice::KeyItem;

/// As many full slices as the other items leave axes: NumPy's `...`.
#[derive(Clone, Copy, Debug)]
pub struct Ellipsis;

/// A new axis of length 1: NumPy's `newaxis`.
#[derive(Clone, Copy, Debug)]
pub struct NewAxis;

/// An expression that [`s!`](crate::s) accepts: an integer, a range, [`Ellipsis`] or [`NewAxis`].
pub trait SliceItem {
    /// The item of the key.
    fn key_item(self) -> KeyItem;
}

/// The key of a slice, as NumPy writes it in brackets.
///
/// Each item is an index, which removes its axis; a range, optionally with a step after `;`;
/// [`NewAxis`](crate::prelude::NewAxis) or [`Ellipsis`](crate::prelude::Ellipsis). Negative bounds
/// count from the end of the axis. Axes without an item are taken in full.
///
/// | NumPy | `s!` |
/// |---|---|
/// | `a[0, -1]` | `s![0, -1]` |
/// | `a[1:-1, :]` | `s![1..-1, ..]` |
/// | `a[::2]` | `s![..;2]` |
/// | `a[::-1]` | `s![..;-1]` |
/// | `a[..., None]` | `s![Ellipsis, NewAxis]` |
///
/// ```
/// use dappled::prelude::*;
///
/// let cx = Context::init()?;
/// let a = Array::<i64>::arange(&cx, 0, 12, 1).reshape([3, 4])?;
/// assert_eq!(a.slice(s![1..-1, ..;-2]).to_vec()?, [7, 5]);
/// assert_eq!(a.slice(s![-1]).to_vec()?, [8, 9, 10, 11]);
/// assert_eq!(a.slice(s![.., NewAxis, 0]).shape(), [3, 1]);
/// # Ok::<(), dappled::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    () => {{
        const NO_ITEMS: [$crate::protocol::slice::KeyItem; 0] = [];
        NO_ITEMS
    }};
    ($($item:expr $(; $step:expr)?),+ $(,)?) => {
        [$({
            // A range that ends before it starts: `1..-1` counts its end from that of the axis.
            #[allow(clippy::reversed_empty_ranges)]
            let item = $item;
            $crate::typed::slice::key_item(item, None $(.or(Some($step)))?)
        }),+]
    };
}

/// The item of a key, with a step if it is a range. Called by [`s!`](crate::s).
#[doc(hidden)]
pub fn key_item(item: impl SliceItem, step: Option<i64>) -> KeyItem {
    match (item.key_item(), step) {
        (KeyItem::Slice(start, stop, _), Some(step)) => KeyItem::Slice(start, stop, Some(step)),
        (_, Some(step)) => panic!("a step of {step} without a range"),
        (item, None) => item,
    }
}

impl SliceItem for KeyItem {
    fn key_item(self) -> KeyItem {
        self
    }
}

impl SliceItem for Ellipsis {
    fn key_item(self) -> KeyItem {
        KeyItem::Ellipsis
    }
}

impl SliceItem for NewAxis {
    fn key_item(self) -> KeyItem {
        KeyItem::NewAxis
    }
}

impl SliceItem for RangeFull {
    fn key_item(self) -> KeyItem {
        KeyItem::Slice(None, None, None)
    }
}

/// The exclusive bound of an inclusive one; the end of the axis for -1.
fn after(last: i64) -> Option<i64> {
    (last != -1).then_some(last.saturating_add(1))
}

macro_rules! integer_items {
    ($($Int:ty)*) => {$(
        impl SliceItem for $Int {
            fn key_item(self) -> KeyItem {
                KeyItem::Index(self as i64)
            }
        }

        impl SliceItem for Range<$Int> {
            fn key_item(self) -> KeyItem {
                KeyItem::Slice(Some(self.start as i64), Some(self.end as i64), None)
            }
        }

        impl SliceItem for RangeFrom<$Int> {
            fn key_item(self) -> KeyItem {
                KeyItem::Slice(Some(self.start as i64), None, None)
            }
        }

        impl SliceItem for RangeTo<$Int> {
            fn key_item(self) -> KeyItem {
                KeyItem::Slice(None, Some(self.end as i64), None)
            }
        }

        impl SliceItem for RangeInclusive<$Int> {
            fn key_item(self) -> KeyItem {
                KeyItem::Slice(Some(*self.start() as i64), after(*self.end() as i64), None)
            }
        }

        impl SliceItem for RangeToInclusive<$Int> {
            fn key_item(self) -> KeyItem {
                KeyItem::Slice(None, after(self.end as i64), None)
            }
        }
    )*};
}

integer_items! { i32 i64 isize usize }
