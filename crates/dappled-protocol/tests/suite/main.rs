//! Integration tests of the protocol: axis maps, exchange sets, slices and rules.

mod axis_maps;
mod exchange;
mod rules;
mod slices;
/// Shared with the tests of `dappled`, so it is not in this folder.
#[path = "../common/mod.rs"]
mod strategies;
