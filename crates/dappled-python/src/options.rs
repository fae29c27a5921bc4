//! The arguments of `Distribution`, whatever they are, as a specification or a `ProtocolError`.

use dappled_protocol::rules::{self, Rule};
use dappled_protocol::{AxisSpec, Export, Meaning, Padding, ProtocolError, Spec, Value};
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyString};

use crate::convert::{self, dim_data, is_int, value};
use crate::labels::labels;

type Object<'a, 'py> = &'a Bound<'py, PyAny>;
type Read<T> = Result<T, ProtocolError>;

/// The arguments as they were given.
pub struct Options<'a, 'py> {
    pub shape: Object<'a, 'py>,
    pub dist: Option<Object<'a, 'py>>,
    pub nprocs: Option<Object<'a, 'py>>,
    pub grid_shape: Option<Object<'a, 'py>>,
    pub block_size: Option<Object<'a, 'py>>,
    pub bounds: Option<Object<'a, 'py>>,
    pub indices: Option<Object<'a, 'py>>,
    pub padding: Option<Object<'a, 'py>>,
    pub periodic: Option<Object<'a, 'py>>,
    pub one_to_one: Option<Object<'a, 'py>>,
}

/// An argument: its name, and the rule that it is under.
#[derive(Clone, Copy)]
pub struct Argument {
    pub name: &'static str,
    pub rule: &'static Rule,
}

const SHAPE: Argument = Argument { name: "shape", rule: &rules::L07 };
const DIST: Argument = Argument { name: "dist", rule: &rules::L06 };
const NPROCS: Argument = Argument { name: "nprocs", rule: &rules::L08 };
const GRID_SHAPE: Argument = Argument { name: "grid_shape", rule: &rules::L08 };
const BLOCK_SIZE: Argument = Argument { name: "block_size", rule: &rules::L14 };
const BOUNDS: Argument = Argument { name: "bounds", rule: &rules::L09 };
const INDICES: Argument = Argument { name: "indices", rule: &rules::L17 };
const PADDING: Argument = Argument { name: "padding", rule: &rules::L12 };
const PERIODIC: Argument = Argument { name: "periodic", rule: &rules::L13 };
const ONE_TO_ONE: Argument = Argument { name: "one_to_one", rule: &rules::L18 };

impl Options<'_, '_> {
    pub fn spec(&self) -> Read<Spec> {
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

    fn read_dist(&self, axes: &mut [AxisSpec]) -> Read<()> {
        let Some(dist) = self.dist else { return Ok(()) };
        let letters = DIST.items(dist, "a letter for each axis")?;
        DIST.expect_axes(dist, letters.len(), axes.len())?;
        for (dimension, (axis, letter)) in axes.iter_mut().zip(letters).enumerate() {
            let text = letter.cast::<PyString>().map(|text| text.to_string_lossy().into_owned());
            let mut letters = text.as_deref().unwrap_or_default().chars();
            axis.kind = match (letters.next(), letters.next()) {
                (Some(kind), None) => Some(kind),
                _ => {
                    return DIST.wrong(&letter, "one of 'b', 'c', 'u', 'n'").map_err(at(dimension));
                }
            };
        }
        Ok(())
    }

    fn read_structured(&self, axes: &mut [AxisSpec]) -> Read<()> {
        let is_cyclic = |axis: &AxisSpec| axis.kind == Some('c');
        let is_block = |axis: &AxisSpec| matches!(axis.kind, None | Some('b' | 'n'));
        BLOCK_SIZE.each(self.block_size, axes, is_cyclic, |axis, given| {
            axis.block_size = Some(BLOCK_SIZE.int(given)?);
            Ok(())
        })?;
        BOUNDS.each(self.bounds, axes, is_block, |axis, given| {
            axis.bounds = Some(BOUNDS.ints(given)?);
            Ok(())
        })?;
        PADDING.each(self.padding, axes, is_block, |axis, given| {
            let widths = if is_int(given) { None } else { Some(PADDING.ints(given)?) };
            axis.padding = Some(match widths {
                Some(widths) => Padding::Edges(widths),
                None => Padding::Uniform(PADDING.int(given)?),
            });
            Ok(())
        })?;
        PERIODIC.each(
            self.periodic,
            axes,
            |_| true,
            |axis, given| {
                axis.periodic = PERIODIC.flag(given)?;
                Ok(())
            },
        )
    }

    fn read_unstructured(&self, axes: &mut [AxisSpec]) -> Read<()> {
        let is_listed = |axis: &AxisSpec| axis.kind == Some('u');
        INDICES.each(self.indices, axes, is_listed, |axis, given| {
            let lists = INDICES.items(given, "a list of indices for each rank")?;
            let list = |list: &Bound<'_, PyAny>| match labels(list, None) {
                Value::Labels(labels) => Ok(labels.to_vec()),
                _ => INDICES.wrong(list, "a 1-D buffer or sequence of ints"),
            };
            axis.indices = Some(lists.iter().map(list).collect::<Read<_>>()?);
            Ok(())
        })?;
        ONE_TO_ONE.each(self.one_to_one, axes, is_listed, |axis, given| {
            axis.one_to_one = ONE_TO_ONE.flag(given)?;
            Ok(())
        })
    }
}

impl Argument {
    /// Gives every axis its entry: one value is for all axes that have a use for it.
    fn each(
        self,
        given: Option<Object<'_, '_>>,
        axes: &mut [AxisSpec],
        has_use: impl Fn(&AxisSpec) -> bool,
        set: impl Fn(&mut AxisSpec, Object<'_, '_>) -> Read<()>,
    ) -> Read<()> {
        let Some(given) = given else { return Ok(()) };
        if is_int(given) || matches!(value(given), Value::Bool(_)) {
            let mut users = axes.iter_mut().enumerate().filter(|(_, axis)| has_use(axis));
            return users.try_for_each(|(dimension, axis)| set(axis, given).map_err(at(dimension)));
        }
        let entries = self.items(given, "one value, or an entry for each axis")?;
        self.expect_axes(given, entries.len(), axes.len())?;
        for (dimension, (axis, entry)) in axes.iter_mut().zip(&entries).enumerate() {
            if !entry.is_none() {
                set(axis, entry).map_err(at(dimension))?;
            }
        }
        Ok(())
    }

    fn int(self, object: Object<'_, '_>) -> Read<u64> {
        let found = is_int(object).then(|| object.extract::<u64>().ok()).flatten();
        found.map_or_else(|| self.wrong(object, "an int >= 0 and < 2^63"), Ok)
    }

    fn flag(self, object: Object<'_, '_>) -> Read<bool> {
        match value(object) {
            Value::Bool(flag) => Ok(flag),
            _ => self.wrong(object, "a bool"),
        }
    }

    fn ints(self, object: Object<'_, '_>) -> Read<Vec<u64>> {
        let items = self.items(object, "a sequence of ints")?;
        let int = |(dimension, item): (usize, &Bound<'_, PyAny>)| {
            self.int(item)
                .map_err(|error| if self.name == "shape" { at(dimension)(error) } else { error })
        };
        items.iter().enumerate().map(int).collect()
    }

    /// The items of anything that has a length and can be gone through.
    pub fn items<'py>(
        self,
        object: Object<'_, 'py>,
        expected: &str,
    ) -> Read<Vec<Bound<'py, PyAny>>> {
        let read = || -> PyResult<Vec<Bound<'py, PyAny>>> {
            let length = object.len()?;
            let too_long = length > convert::LONGEST;
            // One more than its length says: it may not be true.
            object.try_iter()?.take(if too_long { 0 } else { length + 1 }).collect()
        };
        match read() {
            Ok(items) if object.len().is_ok_and(|length| length == items.len()) => Ok(items),
            _ => self.wrong(object, expected),
        }
    }

    fn expect_axes(self, object: Object<'_, '_>, given: usize, axes: usize) -> Read<()> {
        match given == axes {
            true => Ok(()),
            false => {
                Err(ProtocolError::new(&rules::L04, format!("{axes} entries, one for each axis"))
                    .with_key(self.name)
                    .with_value(value(object)))
            }
        }
    }

    fn wrong<T>(self, object: Object<'_, '_>, expected: &str) -> Read<T> {
        Err(ProtocolError::new(self.rule, expected).with_key(self.name).with_value(value(object)))
    }
}

fn at(dimension: usize) -> impl Fn(ProtocolError) -> ProtocolError {
    move |error| error.with_dimension(dimension)
}

/// The exports of all ranks without their buffers.
pub fn from_dim_data(
    per_rank: Object<'_, '_>,
    local_shapes: Option<Object<'_, '_>>,
    meaning: Meaning,
) -> Read<Vec<Export>> {
    const PER_RANK: Argument = Argument { name: "per_rank", rule: &rules::L04 };
    const LOCAL_SHAPES: Argument = Argument { name: "local_shapes", rule: &rules::L04 };
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
        Export::from_dim_data(&dim_data(dims, shape.as_deref()), shape.as_deref(), meaning)
            .map_err(|error| error.with_rank(rank as u64))
    };
    ranks.iter().enumerate().map(read).collect()
}
