//! Parsing of the arguments of `Distribution` into a specification or a `ProtocolError`.

use dappled_protocol::rules::{self, Rule};
use dappled_protocol::{AxisSpec, Export, Meaning, Padding, ProtocolError, Spec, Value};
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyString};

use super::convert::{dim_data_value, is_int, to_value};
use super::labels::labels_value;
use crate::config::MAX_PROTOCOL_SEQUENCE_LENGTH;

type ObjectRef<'a, 'py> = &'a Bound<'py, PyAny>;
type ProtocolResult<T> = Result<T, ProtocolError>;

/// The arguments of `Distribution`, unparsed.
pub struct DistributionOptions<'a, 'py> {
    pub shape: ObjectRef<'a, 'py>,
    pub dist: Option<ObjectRef<'a, 'py>>,
    pub nprocs: Option<ObjectRef<'a, 'py>>,
    pub grid_shape: Option<ObjectRef<'a, 'py>>,
    pub block_size: Option<ObjectRef<'a, 'py>>,
    pub bounds: Option<ObjectRef<'a, 'py>>,
    pub indices: Option<ObjectRef<'a, 'py>>,
    pub padding: Option<ObjectRef<'a, 'py>>,
    pub periodic: Option<ObjectRef<'a, 'py>>,
    pub one_to_one: Option<ObjectRef<'a, 'py>>,
}

/// An argument's name, and the rule that it must follow.
#[derive(Clone, Copy)]
pub struct DistributionOption {
    pub name: &'static str,
    pub rule: &'static Rule,
}

const SHAPE: DistributionOption = DistributionOption { name: "shape", rule: &rules::L07 };
const DIST: DistributionOption = DistributionOption { name: "dist", rule: &rules::L06 };
const NPROCS: DistributionOption = DistributionOption { name: "nprocs", rule: &rules::L08 };
const GRID_SHAPE: DistributionOption = DistributionOption { name: "grid_shape", rule: &rules::L08 };
const BLOCK_SIZE: DistributionOption = DistributionOption { name: "block_size", rule: &rules::L14 };
const BOUNDS: DistributionOption = DistributionOption { name: "bounds", rule: &rules::L09 };
const INDICES: DistributionOption = DistributionOption { name: "indices", rule: &rules::L17 };
const PADDING: DistributionOption = DistributionOption { name: "padding", rule: &rules::L12 };
const PERIODIC: DistributionOption = DistributionOption { name: "periodic", rule: &rules::L13 };
const ONE_TO_ONE: DistributionOption = DistributionOption { name: "one_to_one", rule: &rules::L18 };

impl DistributionOptions<'_, '_> {
    pub fn spec(&self) -> ProtocolResult<Spec> {
        let shape = SHAPE.ints(self.shape)?;
        let axis = |&size: &u64| AxisSpec { size, ..AxisSpec::default() };
        let mut axes: Vec<AxisSpec> = shape.iter().map(axis).collect();
        self.read_dist(&mut axes)?;
        if let Some(grid_shape) = self.grid_shape {
            let grid = GRID_SHAPE.ints(grid_shape)?;
            GRID_SHAPE.expect_axes(grid_shape, grid.len(), axes.len())?;
            axes.iter_mut().zip(grid).for_each(|(axis, ranks)| axis.grid = Some(ranks));
        }
        self.read_structured(&mut axes)?;
        self.read_unstructured(&mut axes)?;
        let nprocs = self.nprocs.map(|nprocs| NPROCS.int(nprocs)).transpose()?;
        Ok(Spec { axes, nprocs })
    }

    fn read_dist(&self, axes: &mut [AxisSpec]) -> ProtocolResult<()> {
        let Some(dist) = self.dist else { return Ok(()) };
        let letters = DIST.items(dist, "a letter for each axis")?;
        DIST.expect_axes(dist, letters.len(), axes.len())?;
        for (dimension, (axis, letter)) in axes.iter_mut().zip(letters).enumerate() {
            let text = letter.cast::<PyString>().map(|text| text.to_string_lossy().into_owned());
            let mut letters = text.as_deref().unwrap_or_default().chars();
            axis.kind = match (letters.next(), letters.next()) {
                (Some(kind), None) => Some(kind),
                _ => {
                    return DIST
                        .invalid(&letter, "one of 'b', 'c', 'u', 'n'")
                        .map_err(with_dimension(dimension));
                }
            };
        }
        Ok(())
    }

    fn read_structured(&self, axes: &mut [AxisSpec]) -> ProtocolResult<()> {
        let is_cyclic = |axis: &AxisSpec| axis.kind == Some('c');
        let is_block = |axis: &AxisSpec| matches!(axis.kind, None | Some('b' | 'n'));
        BLOCK_SIZE.for_each_axis(self.block_size, axes, is_cyclic, |axis, value| {
            axis.block_size = Some(BLOCK_SIZE.int(value)?);
            Ok(())
        })?;
        BOUNDS.for_each_axis(self.bounds, axes, is_block, |axis, value| {
            axis.bounds = Some(BOUNDS.ints(value)?);
            Ok(())
        })?;
        PADDING.for_each_axis(self.padding, axes, is_block, |axis, value| {
            let widths = if is_int(value) { None } else { Some(PADDING.ints(value)?) };
            axis.padding = Some(match widths {
                Some(widths) => Padding::Edges(widths),
                None => Padding::Uniform(PADDING.int(value)?),
            });
            Ok(())
        })?;
        PERIODIC.for_each_axis(
            self.periodic,
            axes,
            |_| true,
            |axis, value| {
                axis.periodic = PERIODIC.flag(value)?;
                Ok(())
            },
        )
    }

    fn read_unstructured(&self, axes: &mut [AxisSpec]) -> ProtocolResult<()> {
        let is_unstructured = |axis: &AxisSpec| axis.kind == Some('u');
        INDICES.for_each_axis(self.indices, axes, is_unstructured, |axis, value| {
            let lists = INDICES.items(value, "a list of indices for each rank")?;
            let list = |list: &Bound<'_, PyAny>| match labels_value(list, None) {
                Value::Labels(labels) => Ok(labels.to_vec()),
                _ => INDICES.invalid(list, "a 1-D buffer or sequence of ints"),
            };
            axis.indices = Some(lists.iter().map(list).collect::<ProtocolResult<_>>()?);
            Ok(())
        })?;
        ONE_TO_ONE.for_each_axis(self.one_to_one, axes, is_unstructured, |axis, value| {
            axis.one_to_one = ONE_TO_ONE.flag(value)?;
            Ok(())
        })
    }
}

impl DistributionOption {
    /// Gives every axis its entry; a single value goes to all axes that the option applies to.
    fn for_each_axis(
        self,
        given: Option<ObjectRef<'_, '_>>,
        axes: &mut [AxisSpec],
        has_use: impl Fn(&AxisSpec) -> bool,
        set: impl Fn(&mut AxisSpec, ObjectRef<'_, '_>) -> ProtocolResult<()>,
    ) -> ProtocolResult<()> {
        let Some(given) = given else { return Ok(()) };
        if is_int(given) || matches!(to_value(given), Value::Bool(_)) {
            let mut users = axes.iter_mut().enumerate().filter(|(_, axis)| has_use(axis));
            return users.try_for_each(|(dimension, axis)| {
                set(axis, given).map_err(with_dimension(dimension))
            });
        }
        let entries = self.items(given, "one value, or an entry for each axis")?;
        self.expect_axes(given, entries.len(), axes.len())?;
        for (dimension, (axis, entry)) in axes.iter_mut().zip(&entries).enumerate() {
            if !entry.is_none() {
                set(axis, entry).map_err(with_dimension(dimension))?;
            }
        }
        Ok(())
    }

    fn int(self, object: ObjectRef<'_, '_>) -> ProtocolResult<u64> {
        let integer = is_int(object).then(|| object.extract::<u64>().ok()).flatten();
        integer.map_or_else(|| self.invalid(object, "an int >= 0 and < 2^63"), Ok)
    }

    fn flag(self, object: ObjectRef<'_, '_>) -> ProtocolResult<bool> {
        match to_value(object) {
            Value::Bool(flag) => Ok(flag),
            _ => self.invalid(object, "a bool"),
        }
    }

    fn ints(self, object: ObjectRef<'_, '_>) -> ProtocolResult<Vec<u64>> {
        let items = self.items(object, "a sequence of ints")?;
        let int = |(dimension, item): (usize, &Bound<'_, PyAny>)| {
            self.int(item).map_err(|error| {
                if self.name == "shape" { with_dimension(dimension)(error) } else { error }
            })
        };
        items.iter().enumerate().map(int).collect()
    }

    /// Returns the items of an object with a length and an iterator.
    pub fn items<'py>(
        self,
        object: ObjectRef<'_, 'py>,
        expected: &str,
    ) -> ProtocolResult<Vec<Bound<'py, PyAny>>> {
        let read = || -> PyResult<Vec<Bound<'py, PyAny>>> {
            let length = object.len()?;
            let too_long = length > MAX_PROTOCOL_SEQUENCE_LENGTH;
            // Reads one item more than the length, which may be wrong.
            object.try_iter()?.take(if too_long { 0 } else { length + 1 }).collect()
        };
        match read() {
            Ok(items) if object.len().is_ok_and(|length| length == items.len()) => Ok(items),
            _ => self.invalid(object, expected),
        }
    }

    fn expect_axes(
        self,
        object: ObjectRef<'_, '_>,
        given: usize,
        axes: usize,
    ) -> ProtocolResult<()> {
        match given == axes {
            true => Ok(()),
            false => {
                Err(ProtocolError::new(&rules::L04, format!("{axes} entries, one for each axis"))
                    .with_key(self.name)
                    .with_value(to_value(object)))
            }
        }
    }

    fn invalid<T>(self, object: ObjectRef<'_, '_>, expected: &str) -> ProtocolResult<T> {
        Err(ProtocolError::new(self.rule, expected)
            .with_key(self.name)
            .with_value(to_value(object)))
    }
}

fn with_dimension(dimension: usize) -> impl Fn(ProtocolError) -> ProtocolError {
    move |error| error.with_dimension(dimension)
}

/// Builds the exports of all ranks, without buffers, from their dimension dictionaries.
pub fn exports_from_dim_data(
    per_rank: ObjectRef<'_, '_>,
    local_shapes: Option<ObjectRef<'_, '_>>,
    meaning: Meaning,
) -> ProtocolResult<Vec<Export>> {
    const PER_RANK: DistributionOption = DistributionOption { name: "per_rank", rule: &rules::L04 };
    const LOCAL_SHAPES: DistributionOption =
        DistributionOption { name: "local_shapes", rule: &rules::L04 };
    let ranks = PER_RANK.items(per_rank, "a list with the dim_data of each rank")?;
    let shapes = match local_shapes {
        Some(shapes) => {
            LOCAL_SHAPES.items(shapes, "a list with the shape of each rank's buffer")?
        }
        None => Vec::new(),
    };
    if local_shapes.is_some() && shapes.len() != ranks.len() {
        return Err(ProtocolError::new(
            &rules::L04,
            format!("{} shapes, one for each rank", ranks.len()),
        )
        .with_key("local_shapes")
        .with_value(format!("{} shapes", shapes.len())));
    }
    let read = |(rank, dims): (usize, &Bound<'_, PyAny>)| {
        let shape = shapes.get(rank).map(|shape| LOCAL_SHAPES.ints(shape)).transpose()?;
        Export::from_dim_data(&dim_data_value(dims, shape.as_deref()), shape.as_deref(), meaning)
            .map_err(|error| error.with_rank(rank as u64))
    };
    ranks.iter().enumerate().map(read).collect()
}
