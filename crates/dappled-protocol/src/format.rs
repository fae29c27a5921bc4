//! The format of a buffer's elements (PEP 3118), in one spelling for each meaning.

#[cfg(test)]
mod tests;

use std::ffi::c_long;
use std::iter::Peekable;
use std::str::Chars;

use crate::value::Buffer;

/// The type of a buffer's elements, to compare: the canonical format and the bytes of one.
pub fn dtype(buffer: &Buffer) -> (String, u64) {
    (canonical(&buffer.format), buffer.itemsize)
}

/// The format with every number's byte order and size said the same way. What is not
/// known is kept, so that this never fails.
///
/// Alignment is left out: it would show in the size of an element.
///
/// ```text
/// on a little-endian machine   d, <d, =d -> <d      !2d -> >2d
/// where a long has 8 bytes     l, q -> <q           =l, i -> <i
/// ```
pub fn canonical(format: &str) -> String {
    let (count, out) = (String::new(), String::new());
    let rest = format.chars().peekable();
    let mut reader = Reader { rest, big: BIG, standard: false, count, out };
    while let Some(code) = reader.rest.next() {
        reader.item(code);
    }
    // The buffer protocol takes no format for bytes.
    let all = reader.out + &reader.count;
    if all.is_empty() { "B".to_owned() } else { all }
}

/// Is this machine's byte order the big-endian one?
const BIG: bool = cfg!(target_endian = "big");

/// The codes of integers, each with the bytes of a native one, and of a standard one.
const INTEGERS: [(char, usize, usize); 10] = [
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

/// Codes other than integers for which the byte order matters. `F` and `D` are how Python
/// itself spells the complex numbers that PEP 3118 calls `Zf` and `Zd`.
const OTHERS: [(char, &str); 8] = [
    ('e', "e"),
    ('f', "f"),
    ('d', "d"),
    ('g', "g"),
    ('w', "w"),
    ('u', "u"),
    ('F', "Zf"),
    ('D', "Zd"),
];

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    /// The byte order said last holds until another is.
    big: bool,
    standard: bool,
    /// The repeat count stands behind the byte order, so it waits until its code is there.
    count: String,
    out: String,
}

impl Reader<'_> {
    /// One character of the format, outside names and shapes.
    fn item(&mut self, code: char) {
        match code {
            '@' | '^' => (self.big, self.standard) = (BIG, false),
            '=' => (self.big, self.standard) = (BIG, true),
            '<' => (self.big, self.standard) = (false, true),
            '>' | '!' => (self.big, self.standard) = (true, true),
            '0'..='9' => self.count.push(code),
            ':' => self.copy(code, ':'),
            '(' => self.copy(code, ')'),
            _ if code.is_ascii_whitespace() => {}
            _ => {
                let item = self.spelled(code);
                self.out.push_str(&item);
            }
        }
    }

    /// The code with its byte order, where it has one, and its count.
    fn spelled(&mut self, code: char) -> String {
        let count = std::mem::take(&mut self.count);
        let order = if self.big { '>' } else { '<' };
        let complex = |part: &char| matches!(part, 'f' | 'd' | 'g');
        if code == 'Z'
            && let Some(part) = self.rest.next_if(complex)
        {
            return format!("{order}{count}Z{part}");
        }
        if let Some((_, native, standard)) = INTEGERS.iter().find(|entry| entry.0 == code) {
            let code = integer(code, if self.standard { *standard } else { *native });
            return format!("{order}{count}{code}");
        }
        match OTHERS.iter().find(|entry| entry.0 == code) {
            Some((_, name)) => format!("{order}{count}{name}"),
            None => format!("{count}{code}"),
        }
    }

    /// A name or a shape, as it is, up to its end.
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

/// The standard code of an integer of so many bytes, signed as `code` is.
fn integer(code: char, bytes: usize) -> char {
    let signed = match bytes {
        2 => 'h',
        4 => 'i',
        _ => 'q',
    };
    if code.is_ascii_uppercase() { signed.to_ascii_uppercase() } else { signed }
}
