//! The tables that NumPy generated; see `make_tables.py` and `make_operations.py`.

use std::collections::HashMap;
use std::path::Path;

use dappled_kernels::{CpuVariant, DType, Op};

use super::{assert_same, run_in};

/// The rows of a table.
pub fn table(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/tables/{name}.txt"));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("# NumPy 2."), "made by NumPy");
    text.lines().skip(1).map(|line| line.split(' ').map(str::to_string).collect()).collect()
}

/// Bytes from their hexadecimal digits.
pub fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

pub fn dtype(name: &str) -> DType {
    name.parse().unwrap()
}

pub fn op(name: &str) -> Op {
    Op::from_numpy_name(name).unwrap_or_else(|| panic!("{name}"))
}

/// The arguments of a table: two for binary operations, one for unary ones.
pub struct Operands(HashMap<DType, [Vec<u8>; 3]>);

impl Operands {
    pub fn read(name: &str) -> Self {
        let row = |row: &Vec<String>| (dtype(&row[0]), [1, 2, 3].map(|at| bytes(&row[at])));
        Self(table(name).iter().map(row).collect())
    }

    pub fn of(&self, op: Op, dtype: DType) -> Vec<&[u8]> {
        let [a, b, single] = &self.0[&dtype];
        if op.arity() == 2 { vec![a, b] } else { vec![single] }
    }
}

/// Runs an operation in every variant, and compares bits.
pub fn check(op: Op, dtype: DType, args: &[&[u8]], expected: &[u8]) {
    for variant in CpuVariant::available() {
        let found = run_in(variant, op, dtype, args);
        let what = format!("{op} {dtype} to {}, {variant:?}", op.result(dtype));
        assert_same(op.result(dtype), &found, expected, &what);
    }
}
