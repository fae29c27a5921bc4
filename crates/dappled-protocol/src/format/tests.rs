//! Formats with equal and with different meanings.

use proptest::prelude::*;

use super::canonical;

#[cfg(target_endian = "little")]
#[test]
fn one_spelling_for_one_meaning() {
    let long = if size_of::<std::ffi::c_long>() == 8 { "<q" } else { "<i" };
    let rows = [
        ("", "B"),
        ("B", "B"),
        ("?", "?"),
        ("d", "<d"),
        ("<d", "<d"),
        ("=d", "<d"),
        ("@d", "<d"),
        (">d", ">d"),
        ("!d", ">d"),
        ("q", "<q"),
        ("l", long),
        ("@l", long),
        ("=l", "<i"),
        (">L", ">I"),
        ("n", "<q"),
        ("N", "<Q"),
        ("Zd", "<Zd"),
        ("D", "<Zd"),
        (">Zf", ">Zf"),
        ("5s", "5s"),
        ("3w", "<3w"),
        (">3w", ">3w"),
        ("(2,3)f", "(2,3)<f"),
        ("T{d:x:=i:y:}", "T{<d:x:<i:y:}"),
        ("T{>d:x:i:<l=d:b:c:3x}", "T{>d:x:>i:<l=d:b:c:3x}"),
        ("T{b:a:xxxxxxx(2)d:b:}", "T{b:a:xxxxxxx(2)<d:b:}"),
        ("é&Z", "é&Z"),
    ];
    for (format, expected) in rows {
        assert_eq!(canonical(format), expected, "{format}");
    }
}

proptest! {
    #[test]
    fn any_text_has_a_canonical_form(format in "[@=<>!^ 0-9(),:T{}Zbhilqfdgsxé]{0,12}") {
        let once = canonical(&format);
        prop_assert_eq!(canonical(&once), once.clone());
    }
}
