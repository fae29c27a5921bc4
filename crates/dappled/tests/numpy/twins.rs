//! Arrays in both worlds, and commands that do the same to both.

use dappled::graph::{
    Array, Given, GraphError, Limits, Operand, Session, loop_dtype, map, ufunc, ufunc_in_place,
};
use dappled::protocol::slice::Item;
use dappled::view;
use dappled_kernels::{Bool, DType, Op};
use proptest::prelude::*;

use super::dice::Dice;
use super::value::{DTYPES, common};
use super::{Plain, Value};

/// What a command does; on which arrays, and how, its seed says.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Part,
    Transpose,
    Diagonal,
    Reshape,
    Operate,
    Compare,
    Select,
    Cast,
    Copy,
    Assign,
    Fill,
    Update,
    Redistribute,
    Compute,
}

const KINDS: [(u32, Kind); 14] = [
    (6, Kind::Part),
    (2, Kind::Transpose),
    (1, Kind::Diagonal),
    (2, Kind::Reshape),
    (6, Kind::Operate),
    (1, Kind::Compare),
    (1, Kind::Select),
    (1, Kind::Cast),
    (2, Kind::Copy),
    (5, Kind::Assign),
    (1, Kind::Fill),
    (3, Kind::Update),
    (3, Kind::Redistribute),
    (1, Kind::Compute),
];

pub type Command = (Kind, u64);

pub fn command() -> impl Strategy<Value = Command> {
    let kinds = KINDS.map(|(weight, kind)| (weight, Just(kind)));
    (proptest::strategy::Union::new_weighted(kinds.to_vec()), any::<u64>())
}

/// One array, in both worlds.
#[derive(Clone)]
pub struct Twin {
    pub array: Array,
    pub plain: Plain,
}

pub struct World {
    pub session: Session,
    pub twins: Vec<Twin>,
}

pub const SHAPES: [&[usize]; 5] = [&[8, 9], &[2, 4, 9], &[9], &[8, 1], &[4, 3, 5]];

impl World {
    pub fn new(session: Session, shapes: &[&[usize]]) -> Self {
        let twins = shapes.iter().zip([3, 3, 2, 1, 3]).map(|(shape, dtype)| {
            let count = shape.iter().product::<usize>();
            // Values that differ, so that none can stand for another.
            let elements: Vec<f64> = (0..count).map(|at| (at as f64 - 20.0) * 0.75).collect();
            let plain = elements.iter().map(|&value| Value::F64(value)).collect();
            let array = Array::from_slice(&session, shape, &elements);
            let dtype = DTYPES[dtype];
            let array = array.cast_copy(dtype).unwrap();
            Twin { array, plain: Plain::new(DType::Float64, shape, plain).cast(dtype) }
        });
        Self { twins: twins.collect(), session: session.clone() }
    }

    pub fn any(&self, dice: &mut Dice) -> Twin {
        // Later arrays more often: views of views.
        let from = if dice.one_in(2) { self.twins.len() / 2 } else { 0 };
        self.twins[from + dice.below(self.twins.len() - from)].clone()
    }

    /// An array that fits another: any that does, or a part of the other.
    fn fitting(&self, to: &Twin, into: bool, dice: &mut Dice) -> Result<Twin, GraphError> {
        let fits = |twin: &Twin| {
            let both = super::broadcast(&twin.plain.shape, &to.plain.shape);
            both.is_some_and(|shape| !into || shape == to.plain.shape)
        };
        for _ in 0..6 {
            let twin = self.any(dice);
            if fits(&twin) {
                return Ok(twin);
            }
        }
        let mut items = Vec::new();
        for &length in &to.plain.shape {
            let all = length as i64;
            items.push(match dice.below(4) {
                0 if length > 0 => Item::Slice(Some(0), Some(1), Some(1)),
                1 if length > 0 => Item::Slice(Some(all - 1), None, Some(-1)),
                _ => Item::Slice(Some(0), Some(all), Some(1)),
            });
        }
        if let Some(first) = items.first_mut().filter(|_| to.plain.shape[0] > 0 && dice.one_in(4)) {
            *first = Item::Index(0);
        }
        to.part(&items)
    }

    pub fn run(&mut self, (kind, seed): Command) -> Result<(), GraphError> {
        let dice = &mut Dice(seed);
        let own = self.any(dice);
        let made = match kind {
            Kind::Assign | Kind::Fill | Kind::Update => return self.write(kind, &own, dice),
            Kind::Compute => return own.array.compute(),
            Kind::Part | Kind::Transpose | Kind::Diagonal | Kind::Reshape => {
                own.seen(kind, dice)?
            }
            Kind::Operate | Kind::Compare | Kind::Select => self.operate(kind, &own, dice)?,
            Kind::Cast => {
                let dtype = dice.of(&DTYPES);
                Twin { array: own.array.cast(dtype)?, plain: own.plain.cast(dtype) }
            }
            Kind::Copy => Twin { array: own.array.copied()?, plain: own.plain.copied() },
            Kind::Redistribute if own.plain.shape.is_empty() => return Ok(()),
            Kind::Redistribute => {
                let ranks = self.session.fabric().size();
                let distribution = dice.distribution(&own.plain.shape, ranks);
                let array = own.array.redistributed(&distribution)?;
                Twin { array, plain: own.plain.copied() }
            }
        };
        self.twins.push(match kind {
            Kind::Operate | Kind::Compare | Kind::Select | Kind::Cast => made.alike(),
            _ => made,
        });
        Ok(())
    }

    fn operate(&self, kind: Kind, own: &Twin, dice: &mut Dice) -> Result<Twin, GraphError> {
        let other = self.fitting(own, false, dice)?;
        let op = match kind {
            Kind::Operate => dice.of(&[
                Op::Add,
                Op::Add,
                Op::Subtract,
                Op::Multiply,
                Op::Divide,
                Op::Minimum,
                Op::Maximum,
            ]),
            _ => dice.of(&[Op::Less, Op::Equal, Op::GreaterEqual]),
        };
        let dtype = common(own.plain.dtype, other.plain.dtype);
        let op = if loop_dtype(op, dtype).is_ok() { op } else { Op::Add };
        if dice.one_in(6) {
            let number = dice.of(&[0.5, 3.0, -1.25]);
            let dtype =
                if own.plain.dtype == DType::Float32 { DType::Float32 } else { DType::Float64 };
            let scalar = Plain::new(dtype, &[], vec![Value::F64(number).cast(dtype)]);
            let array = ufunc(&self.session, op, &[Given::from(&own.array), Given::from(number)])?;
            return Ok(Twin { array, plain: super::map(op, dtype, &[&own.plain, &scalar]) });
        }
        let array =
            ufunc(&self.session, op, &[Given::from(&own.array), Given::from(&other.array)])?;
        let plain = super::map(op, loop_dtype(op, dtype)?, &[&own.plain, &other.plain]);
        let made = Twin { array, plain };
        if !matches!(kind, Kind::Select) {
            return Ok(made);
        }
        let operands = [&made.array, &own.array, &other.array].map(Operand::from);
        let array = map(&self.session, Op::Select.into(), dtype, &operands)?;
        let plain = super::map(Op::Select, dtype, &[&made.plain, &own.plain, &other.plain]);
        Ok(Twin { array, plain })
    }

    fn write(&self, kind: Kind, own: &Twin, dice: &mut Dice) -> Result<(), GraphError> {
        let other = self.fitting(own, true, dice)?;
        match kind {
            Kind::Fill => {
                let number = dice.of(&[0.0, 2.0, -7.5]);
                own.plain.fill(Value::F64(number));
                own.array.fill(number)
            }
            Kind::Update if common(own.plain.dtype, other.plain.dtype) == own.plain.dtype => {
                let op = dice.of(&[Op::Add, Op::Multiply, Op::Maximum]);
                let made = super::map(op, own.plain.dtype, &[&own.plain, &other.plain]);
                let given = [Given::from(&own.array), Given::from(&other.array)];
                ufunc_in_place(&own.array, op, &given)?;
                own.plain.assign(&made);
                Ok(())
            }
            _ => {
                own.array.assign(&other.array)?;
                own.plain.assign(&other.plain.copied());
                Ok(())
            }
        }
    }

    /// The first array that is not as it should be.
    pub fn check(&self) -> Result<(), String> {
        for (at, twin) in self.twins.iter().enumerate() {
            let found = values(&twin.array).map_err(|error| error.to_string())?;
            let wanted = twin.plain.values();
            let bits =
                |values: &[Value]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
            if twin.array.shape() != twin.plain.shape || bits(&found) != bits(&wanted) {
                return Err(format!(
                    "array {at} of shape {:?}: {found:?}, wanted {:?} {wanted:?}",
                    twin.array.shape(),
                    twin.plain.shape
                ));
            }
        }
        Ok(())
    }
}

impl Twin {
    /// Results lie in the order of what they were made from: whether reshaping copies them depends
    /// on it.
    fn alike(self) -> Self {
        Self { plain: self.plain.laid_out_as(self.array.view()), ..self }
    }

    fn part(&self, items: &[Item]) -> Result<Twin, GraphError> {
        Ok(Twin { array: self.array.part(items)?, plain: self.plain.part(items) })
    }

    /// A view.
    fn seen(&self, kind: Kind, dice: &mut Dice) -> Result<Twin, GraphError> {
        let shape = &self.plain.shape;
        match kind {
            Kind::Transpose => {
                let axes = dice.shuffled(shape.len());
                let array = self.array.transposed(&axes);
                Ok(Twin { array, plain: self.plain.transposed(&axes) })
            }
            Kind::Diagonal if shape.len() > 1 => {
                let seen = view::diagonal(self.array.view(), 0, 0, 1);
                Ok(Twin { array: self.array.with_view(seen), plain: self.plain.diagonal() })
            }
            Kind::Reshape => {
                let shape = dice.shape(shape.iter().product());
                let plain = self.plain.reshaped(&shape);
                let array = match view::reshaped(self.array.view(), &shape) {
                    Some(seen) => self.array.with_view(seen),
                    None => {
                        let copy = self.array.copied()?;
                        let seen = view::reshaped(copy.view(), &shape).expect("a copy in C order");
                        copy.with_view(seen)
                    }
                };
                Ok(Twin { array, plain })
            }
            _ => self.part(&dice.items(shape)),
        }
    }
}

/// All values of an array, gathered.
pub fn values(array: &Array) -> Result<Vec<Value>, GraphError> {
    Ok(match array.dtype() {
        DType::Bool => {
            array.to_vec::<Bool>()?.into_iter().map(|value| Value::Truth(value.is_true())).collect()
        }
        DType::Int64 => array.to_vec()?.into_iter().map(Value::I64).collect(),
        DType::Float32 => array.to_vec()?.into_iter().map(Value::F32).collect(),
        _ => array.to_vec()?.into_iter().map(Value::F64).collect(),
    })
}

/// Nothing is small; all is small and ready; all is small but in pieces.
pub fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        3 => Just(Limits { whole_below: 0, at_once: 0 }),
        1 => Just(Limits { whole_below: 1 << 20, at_once: 1 << 20 }),
        1 => Just(Limits { whole_below: 0, at_once: 1 << 20 }),
        1 => Just(Limits { whole_below: 1 << 20, at_once: 0 }),
        1 => Just(Limits { whole_below: 300, at_once: 20 }),
    ]
}

pub fn ranks() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), Just(2), Just(3), Just(4), Just(7)]
}
