//! Canonical form of PEP 3118 format strings.

#[cfg(test)]
mod tests;

use std::ffi::c_long;
use std::iter::Peekable;
use std::str::Chars;

use crate::value::Buffer;

/// Returns the canonical format and the item size of a buffer, for comparison.
pub fn dtype(buffer: &Buffer) -> (String, u64) {
    (canonical(&buffer.format), buffer.itemsize)
}

/// Returns the format with explicit byte order and canonical integer codes. Unknown codes are kept,
/// so this never fails.
///
/// Alignment is dropped: it shows in the item size.
///
/// ```text
/// on a little-endian machine   d, <d, =d -> <d      !2d -> >2d
/// where a long has 8 bytes     l, q -> <q           =l, i -> <i
/// ```
pub fn canonical(format: &str) -> String {
    let (count, out) = (String::new(), String::new());
    let rest = format.chars().peekable();
    let mut reader = FormatReader { rest, big: IS_BIG_ENDIAN, standard: false, count, out };
    while let Some(code) = reader.rest.next() {
        reader.item(code);
    }
    // In the buffer protocol an absent format means bytes.
    let all = reader.out + &reader.count;
    if all.is_empty() { "B".to_owned() } else { all }
}

/// Whether the machine is big-endian.
const IS_BIG_ENDIAN: bool = cfg!(target_endian = "big");

/// Integer codes, each with its native and its standard size in bytes.
const INTEGER_CODES: [(char, usize, usize); 10] = [
    ('h', 2, 2),
    ('H', 2, 2),
    ('i', 4, 4),
    ('I', 4, 4),
    ('l', size_of::<c_long>(), 4),
    ('L', size_of::<c_long>(), 4),
    ('q', 8, 8),
    ('Q', 8, 8),
    ('n', size_of::<isize>(), size_of::<isize>()),
    ('N', size_of::<usize>(), size_of::<usize>()),
];

/// Other codes with a byte order. Python spells the complex types `Zf` and `Zd` of PEP 3118 as `F`
/// and `D`.
const OTHER_CODES: [(char, &str); 8] = [
    ('e', "e"),
    ('f', "f"),
    ('d', "d"),
    ('g', "g"),
    ('w', "w"),
    ('u', "u"),
    ('F', "Zf"),
    ('D', "Zd"),
];

struct FormatReader<'a> {
    rest: Peekable<Chars<'a>>,
    /// The current byte order; applies until the next prefix.
    big: bool,
    standard: bool,
    /// The pending repeat count, which follows the byte order in the output.
    count: String,
    out: String,
}

impl FormatReader<'_> {
    /// Handles one character of the format, outside names and shapes.
    fn item(&mut self, code: char) {
        match code {
            '@' | '^' => (self.big, self.standard) = (IS_BIG_ENDIAN, false),
            '=' => (self.big, self.standard) = (IS_BIG_ENDIAN, true),
            '<' => (self.big, self.standard) = (false, true),
            '>' | '!' => (self.big, self.standard) = (true, true),
            '0'..='9' => self.count.push(code),
            ':' => self.copy(code, ':'),
            '(' => self.copy(code, ')'),
            _ if code.is_ascii_whitespace() => {}
            _ => {
                let item = self.canonical_item(code);
                self.out.push_str(&item);
            }
        }
    }

    /// Returns a code with its byte order, if it has one, and its count.
    fn canonical_item(&mut self, code: char) -> String {
        let count = std::mem::take(&mut self.count);
        let order = if self.big { '>' } else { '<' };
        let complex = |part: &char| matches!(part, 'f' | 'd' | 'g');
        if code == 'Z'
            && let Some(part) = self.rest.next_if(complex)
        {
            return format!("{order}{count}Z{part}");
        }
        if let Some((_, native, standard)) = INTEGER_CODES.iter().find(|entry| entry.0 == code) {
            let code = integer(code, if self.standard { *standard } else { *native });
            return format!("{order}{count}{code}");
        }
        match OTHER_CODES.iter().find(|entry| entry.0 == code) {
            Some((_, name)) => format!("{order}{count}{name}"),
            None => format!("{count}{code}"),
        }
    }

    /// Copies a name or a shape up to its end.
    fn copy(&mut self, start: char, end: char) {
        self.out.push(start);
        for part in self.rest.by_ref() {
            self.out.push(part);
            if part == end {
                return;
            }
        }
    }
}

/// Returns the standard code of an integer of this size, with the sign of `code`.
fn integer(code: char, bytes: usize) -> char {
    let signed = match bytes {
        2 => 'h',
        4 => 'i',
        _ => 'q',
    };
    if code.is_ascii_uppercase() { signed.to_ascii_uppercase() } else { signed }
}
