//! The rules of the protocol, each with accepted and rejected inputs.

mod collective;
mod dims;
mod examples;
mod local;
mod properties;
mod writing;

use dappled_protocol::rules::{self, RULES};
use dappled_protocol::{Buffer, Export, Meaning, Value};

/// Changes of a dictionary: a key with its new value, or None to remove it.
type Changes<'a> = &'a [(&'a str, Option<Value>)];

fn int(number: i128) -> Value {
    Value::Int(number)
}

fn pair(left: i128, right: i128) -> Value {
    Value::List(vec![int(left), int(right)])
}

fn labels(labels: &[i64]) -> Value {
    Value::Labels(labels.into())
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn empty() -> Value {
    Value::dict::<&str>([])
}

fn buffer(shape: &[u64], format: &str, itemsize: u64) -> Value {
    Value::Buffer(Buffer { shape: shape.to_vec(), format: format.to_owned(), itemsize })
}

/// A block dimension without the optional keys.
fn block(size: u64, [rank, grid]: [u64; 2], [start, stop]: [u64; 2]) -> Value {
    let numbers = [
        ("size", size),
        ("proc_grid_rank", rank),
        ("proc_grid_size", grid),
        ("start", start),
        ("stop", stop),
    ];
    with(&Value::dict(numbers.map(|(key, number)| (key, number.into()))), "dist_type", text("b"))
}

/// A cyclic dimension in blocks of 2.
fn cyclic(size: u64, [rank, grid]: [u64; 2]) -> Value {
    let block = block(size, [rank, grid], [2 * rank, 0]);
    let changes = [("dist_type", Some(text("c"))), ("block_size", Some(int(2))), ("stop", None)];
    changed(&block, &changes)
}

/// An unstructured dimension with `one_to_one`.
fn unstructured(size: u64, [rank, grid]: [u64; 2], indices: &[i64]) -> Value {
    let changes = [
        ("dist_type", Some(text("u"))),
        ("indices", Some(labels(indices))),
        ("one_to_one", Some(Value::Bool(true))),
        ("start", None),
        ("stop", None),
    ];
    changed(&block(size, [rank, grid], [0, 0]), &changes)
}

/// An undistributed dimension of 0.9.
fn undistributed(size: u64) -> Value {
    Value::dict([("dist_type", text("n")), ("size", size.into())])
}

fn changed(dict: &Value, changes: Changes<'_>) -> Value {
    let Value::Dict(mut dict) = dict.clone() else { panic!("not a dict: {dict}") };
    for (key, value) in changes.iter().cloned() {
        match value {
            Some(value) => dict.entries.insert(key.to_owned(), value),
            None => dict.entries.remove(key),
        };
    }
    Value::Dict(dict)
}

fn with(dict: &Value, key: &str, value: Value) -> Value {
    changed(dict, &[(key, Some(value))])
}

/// The export of these dimensions, with a buffer of doubles.
fn export(version: &str, shape: &[u64], dims: &[Value]) -> Value {
    Value::dict([
        ("__version__", text(version)),
        ("buffer", buffer(shape, "d", 8)),
        ("dim_data", Value::List(dims.to_vec())),
    ])
}

/// Reads one dimension; returns "ok" or the message.
fn verdict(meaning: Meaning, extent: Option<u64>, dim: &Value) -> String {
    let shape = extent.map(|extent| [extent]);
    let dim_data = Value::List(vec![dim.clone()]);
    said(Export::from_dim_data(&dim_data, shape.as_ref().map(|shape| &shape[..]), meaning))
}

fn said<T>(result: Result<T, dappled_protocol::ProtocolError>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "ok".to_owned())
}

#[test]
fn rules_are_in_order() {
    let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    let local = (1..=18).map(|number| format!("L{number:02}"));
    let all: Vec<String> = local.chain((1..=8).map(|number| format!("C{number:02}"))).collect();
    assert_eq!(ids, all);
    assert!(RULES.iter().all(|rule| !rule.text.is_empty() && !rule.text.contains('\n')));
}

#[test]
fn a_rule_is_known_by_its_id() {
    assert_eq!(RULES[11], &rules::L12);
    assert_ne!(rules::L12, rules::L13);
    assert_eq!(format!("{:?}", rules::L12), "Rule(L12)");
    assert_eq!(rules::L07.to_string(), "L07: `size` is an int >= 0");
}
