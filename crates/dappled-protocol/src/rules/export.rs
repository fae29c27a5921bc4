//! L01 to L04: the export of one rank as a whole.

use super::{Rule, RuleCheck, RuleResult};
use crate::error::ProtocolError;
use crate::value::{Buffer, Dict, Value};
use crate::version::{Meaning, READABLE, Version};

/// The keys of an export.
pub static L01: Rule = Rule {
    id: "L01",
    text: "the export is a dict with exactly the keys `__version__`, `buffer`, `dim_data`",
    check: RuleCheck::Export(l01),
};

/// The version.
pub static L02: Rule = Rule {
    id: "L02",
    text: "`__version__` is a string `major.minor.patch` that we read",
    check: RuleCheck::Export(l02),
};

/// The buffer.
pub static L03: Rule =
    Rule { id: "L03", text: "`buffer` supports PEP 3118", check: RuleCheck::Export(l03) };

/// The dimension dictionaries.
pub static L04: Rule = Rule {
    id: "L04",
    text: "`dim_data` is a tuple (list tolerated) of dicts, as many as the buffer has \
           dimensions; empty for a 0-d buffer",
    check: RuleCheck::Export(l04),
};

const EXPORT_KEYS: [&str; 3] = ["__version__", "buffer", "dim_data"];

/// The part of an export that has been read.
pub(crate) struct ExportDraft<'a> {
    value: &'a Value,
    pub(crate) version: Version,
    pub(crate) meaning: Meaning,
    pub(crate) buffer: Option<&'a Buffer>,
    pub(crate) dicts: Vec<&'a Dict>,
}

impl<'a> ExportDraft<'a> {
    /// Creates a draft of an export that has not been read.
    pub(crate) fn new(value: &'a Value) -> Self {
        let (version, meaning) = (Version::CURRENT, Meaning::Current);
        ExportDraft { value, version, meaning, buffer: None, dicts: Vec::new() }
    }

    fn dict(&self) -> Result<&'a Dict, ProtocolError> {
        match self.value {
            Value::Dict(dict) => Ok(dict),
            other => {
                let expected = format!("a dict with exactly the keys {}", EXPORT_KEYS.join(", "));
                Err(ProtocolError::new(&L01, expected).with_value(other))
            }
        }
    }

    fn get(&self, key: &'static str) -> Result<&'a Value, ProtocolError> {
        let expected = || format!("exactly the keys {}", EXPORT_KEYS.join(", "));
        let value = self.dict()?.entries.get(key);
        value.ok_or_else(|| ProtocolError::new(&L01, expected()).with_key(key))
    }
}

fn l01(export: &mut ExportDraft<'_>) -> RuleResult {
    let dict = export.dict()?;
    EXPORT_KEYS.into_iter().try_for_each(|key| export.get(key).map(drop))?;
    let error = ProtocolError::new(&L01, format!("exactly the keys {}", EXPORT_KEYS.join(", ")));
    if let Some((key, value)) =
        dict.entries.iter().find(|(key, _)| !EXPORT_KEYS.contains(&key.as_str()))
    {
        return Err(error.with_key(key).with_value(value));
    }
    match dict.non_text_keys.first() {
        Some(key) => Err(error.with_value(format_args!("the key {key}"))),
        None => Ok(()),
    }
}

fn l02(export: &mut ExportDraft<'_>) -> RuleResult {
    let value = export.get("__version__")?;
    let version = match value {
        Value::Text(text) => text.parse::<Version>().ok(),
        _ => None,
    };
    let readable = version.and_then(|version| Some((version, version.meaning()?)));
    let expected = || format!("a string major.minor.patch, one of {READABLE}");
    let error = || ProtocolError::new(&L02, expected()).with_key("__version__").with_value(value);
    (export.version, export.meaning) = readable.ok_or_else(error)?;
    Ok(())
}

fn l03(export: &mut ExportDraft<'_>) -> RuleResult {
    let Value::Buffer(buffer) = export.get("buffer")? else {
        let error = ProtocolError::new(&L03, "an object that supports PEP 3118");
        return Err(error.with_key("buffer").with_value(export.get("buffer")?));
    };
    export.buffer = Some(buffer);
    Ok(())
}

fn l04(export: &mut ExportDraft<'_>) -> RuleResult {
    let ndim = export.buffer.map(|buffer| buffer.shape.len());
    export.dicts = dimension_dicts(export.get("dim_data")?, ndim)?;
    Ok(())
}

/// Returns the dictionaries of `dim_data`, by L04. Without a buffer any number is allowed.
pub(crate) fn dimension_dicts(
    dim_data: &Value,
    ndim: Option<usize>,
) -> Result<Vec<&Dict>, ProtocolError> {
    let wrong = |expected: String| ProtocolError::new(&L04, expected).with_key("dim_data");
    let Value::List(items) = dim_data else {
        return Err(wrong("a tuple of dicts".to_owned()).with_value(dim_data));
    };
    if let Some(ndim) = ndim.filter(|ndim| *ndim != items.len()) {
        let tuple = format!("a tuple of {}", items.len());
        return Err(wrong(format!("{ndim}, one for each dimension")).with_value(tuple));
    }
    let dict = |(dimension, item)| dimension_dict(item).map_err(|e| e.with_dimension(dimension));
    items.iter().enumerate().map(dict).collect()
}

/// Returns one dictionary of `dim_data`, by L04.
pub(crate) fn dimension_dict(value: &Value) -> Result<&Dict, ProtocolError> {
    match value {
        Value::Dict(dict) => Ok(dict),
        _ => Err(ProtocolError::new(&L04, "a dict").with_key("dim_data").with_value(value)),
    }
}
