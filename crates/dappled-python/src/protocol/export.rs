//! Validation of exports, of one rank and of all ranks.

use dappled_protocol::rules::{self, RULES};
use dappled_protocol::{Export, Meaning, ProtocolError, Value, Version, version};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::convert;
use super::distribution::PyDistribution;
use super::options::DistributionOption;
use crate::errors::Raise;

/// Check the export of one rank's `__distarray__()` against every local rule.
///
/// Returns None, or raises `ProtocolError` for the first rule that the export breaks.
///
/// >>> import numpy
/// >>> from dappled import protocol
/// >>> export = {'__version__': '0.10.0', 'buffer': numpy.zeros(3),
/// ...           'dim_data': ({'dist_type': 'b', 'size': 5, 'proc_grid_size': 2,
/// ...                         'proc_grid_rank': 0, 'start': 0, 'stop': 3},)}
/// >>> protocol.validate(export)
/// >>> export['dim_data'][0]['stop'] = 4
/// >>> protocol.validate(export)
/// Traceback (most recent call last):
/// ...
/// dappled.protocol.ProtocolError: L11: dimension 0, 'stop': got 4, expected start 0 + extent 3 = 3
#[pyfunction]
pub fn validate(export: &Bound<'_, PyAny>) -> PyResult<()> {
    Export::read(&convert::export_value(export)).map(drop).map_err(Raise::raise)
}

/// Check the exports of all ranks, in rank order, against every rule, local and collective.
///
/// Returns the `Distribution` that they describe.
///
/// >>> from dappled import protocol
/// >>> import numpy
/// >>> distribution = protocol.Distribution((5,), 'c', nprocs=2)
/// >>> exports = [protocol.Piece(numpy.zeros(distribution.local_shape(rank)),
/// ...                           distribution.dim_data(rank)).__distarray__()
/// ...            for rank in range(2)]
/// >>> protocol.validate_all(exports) == distribution
/// True
#[pyfunction]
pub fn validate_all(exports: &Bound<'_, PyAny>) -> PyResult<PyDistribution> {
    const EXPORTS: DistributionOption = DistributionOption { name: "exports", rule: &rules::C02 };
    let exports =
        EXPORTS.items(exports, "a list of exports in rank order").map_err(Raise::raise)?;
    let read = |(rank, export): (u64, &Bound<'_, PyAny>)| {
        let read = Export::read(&convert::export_value(export));
        read.map_err(|error| error.with_rank(rank).raise())
    };
    let read = (0..).zip(&exports).map(read).collect::<PyResult<Vec<_>>>()?;
    dappled_protocol::Distribution::from_exports(&read)
        .map(PyDistribution::from)
        .map_err(Raise::raise)
}

/// Return the rules of the protocol: a dict from each id to its text.
///
/// >>> from dappled import protocol
/// >>> protocol.rules()['L14']
/// 'cyclic: `block_size` an int >= 1, absent means 1'
#[pyfunction(name = "rules")]
pub fn rule_texts(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for rule in RULES {
        table.set_item(rule.id, rule.text)?;
    }
    Ok(table)
}

/// The `version=` argument: its meaning, or the error to raise when it is used.
#[derive(Clone)]
pub struct VersionArgument(Result<Meaning, ProtocolError>);

impl VersionArgument {
    /// The default version.
    pub const CURRENT: VersionArgument = VersionArgument(Ok(Meaning::Current));

    pub fn meaning(self) -> PyResult<Meaning> {
        self.0.map_err(Raise::raise)
    }
}

impl FromPyObject<'_, '_> for VersionArgument {
    type Error = PyErr;

    fn extract(version: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let value = convert::to_value(&version);
        let read = match &value {
            Value::Text(text) => text.parse::<Version>().ok().and_then(Version::meaning),
            _ => None,
        };
        let expected = || format!("a string major.minor.patch, one of {}", version::READABLE);
        let error =
            || ProtocolError::new(&rules::L02, expected()).with_key("version").with_value(value);
        Ok(VersionArgument(read.ok_or_else(error)))
    }
}
