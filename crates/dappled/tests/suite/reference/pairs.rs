//! Pairs of an array and its reference, and commands that act on both.

use dappled::protocol::slice::KeyItem;
use dappled::view;
use dappled::{
    Array, ElementwiseOperand, GraphError, Limits, Session, UfuncOperand, elementwise, loop_dtype,
    ufunc, ufunc_in_place,
};
use dappled_kernels::{Bool, DType, Op};
use proptest::prelude::*;

use super::choices::Choices;
use super::value::{DTYPES, common};
use super::{ReferenceArray, Value};

/// Kind of a command. The seed selects its operands and parameters.
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

/// An array and its reference.
#[derive(Clone)]
pub struct ArrayPair {
    pub array: Array,
    pub plain: ReferenceArray,
}

pub struct TestState {
    pub session: Session,
    pub pairs: Vec<ArrayPair>,
}

pub const SHAPES: [&[usize]; 5] = [&[8, 9], &[2, 4, 9], &[9], &[8, 1], &[4, 3, 5]];

impl TestState {
    pub fn new(session: Session, shapes: &[&[usize]]) -> Self {
        let pairs = shapes.iter().zip([3, 3, 2, 1, 3]).map(|(shape, dtype)| {
            let count = shape.iter().product::<usize>();
            // Distinct values, so that a wrong element is noticed.
            let elements: Vec<f64> = (0..count).map(|at| (at as f64 - 20.0) * 0.75).collect();
            let plain = elements.iter().map(|&value| Value::F64(value)).collect();
            let array = Array::from_slice(&session, shape, &elements);
            let dtype = DTYPES[dtype];
            let array = array.cast_copy(dtype).unwrap();
            ArrayPair {
                array,
                plain: ReferenceArray::new(DType::Float64, shape, plain).cast(dtype),
            }
        });
        Self { pairs: pairs.collect(), session: session.clone() }
    }

    pub fn any(&self, choices: &mut Choices) -> ArrayPair {
        // Recent arrays are more likely, which produces views of views.
        let from = if choices.one_in(2) { self.pairs.len() / 2 } else { 0 };
        self.pairs[from + choices.below(self.pairs.len() - from)].clone()
    }

    /// An array that broadcasts with another: an existing one, or a slice of the other.
    fn fitting(
        &self,
        to: &ArrayPair,
        into: bool,
        choices: &mut Choices,
    ) -> Result<ArrayPair, GraphError> {
        let fits = |pair: &ArrayPair| {
            let both = super::broadcast(&pair.plain.shape, &to.plain.shape);
            both.is_some_and(|shape| !into || shape == to.plain.shape)
        };
        for _ in 0..6 {
            let pair = self.any(choices);
            if fits(&pair) {
                return Ok(pair);
            }
        }
        let mut items = Vec::new();
        for &length in &to.plain.shape {
            let all = length as i64;
            items.push(match choices.below(4) {
                0 if length > 0 => KeyItem::Slice(Some(0), Some(1), Some(1)),
                1 if length > 0 => KeyItem::Slice(Some(all - 1), None, Some(-1)),
                _ => KeyItem::Slice(Some(0), Some(all), Some(1)),
            });
        }
        if let Some(first) =
            items.first_mut().filter(|_| to.plain.shape[0] > 0 && choices.one_in(4))
        {
            *first = KeyItem::Index(0);
        }
        to.part(&items)
    }

    pub fn run(&mut self, (kind, seed): Command) -> Result<(), GraphError> {
        let choices = &mut Choices(seed);
        let own = self.any(choices);
        let made = match kind {
            Kind::Assign | Kind::Fill | Kind::Update => return self.write(kind, &own, choices),
            Kind::Compute => return own.array.materialize(),
            Kind::Part | Kind::Transpose | Kind::Diagonal | Kind::Reshape => {
                own.seen(kind, choices)?
            }
            Kind::Operate | Kind::Compare | Kind::Select => self.operate(kind, &own, choices)?,
            Kind::Cast => {
                let dtype = choices.of(&DTYPES);
                ArrayPair { array: own.array.cast(dtype)?, plain: own.plain.cast(dtype) }
            }
            Kind::Copy => ArrayPair { array: own.array.copy()?, plain: own.plain.copied() },
            Kind::Redistribute if own.plain.shape.is_empty() => return Ok(()),
            Kind::Redistribute => {
                let ranks = self.session.fabric().size();
                let distribution = choices.distribution(&own.plain.shape, ranks);
                let array = own.array.redistribute(&distribution)?;
                ArrayPair { array, plain: own.plain.copied() }
            }
        };
        self.pairs.push(match kind {
            Kind::Operate | Kind::Compare | Kind::Select | Kind::Cast => made.alike(),
            _ => made,
        });
        Ok(())
    }

    fn operate(
        &self,
        kind: Kind,
        own: &ArrayPair,
        choices: &mut Choices,
    ) -> Result<ArrayPair, GraphError> {
        let other = self.fitting(own, false, choices)?;
        let op = match kind {
            Kind::Operate => choices.of(&[
                Op::Add,
                Op::Add,
                Op::Subtract,
                Op::Multiply,
                Op::Divide,
                Op::Minimum,
                Op::Maximum,
            ]),
            _ => choices.of(&[Op::Less, Op::Equal, Op::GreaterEqual]),
        };
        let dtype = common(own.plain.dtype, other.plain.dtype);
        let op = if loop_dtype(op, dtype).is_ok() { op } else { Op::Add };
        if choices.one_in(6) {
            let number = choices.of(&[0.5, 3.0, -1.25]);
            let dtype =
                if own.plain.dtype == DType::Float32 { DType::Float32 } else { DType::Float64 };
            let scalar = ReferenceArray::new(dtype, &[], vec![Value::F64(number).cast(dtype)]);
            let array = ufunc(
                &self.session,
                op,
                &[UfuncOperand::from(&own.array), UfuncOperand::from(number)],
            )?;
            return Ok(ArrayPair { array, plain: super::map(op, dtype, &[&own.plain, &scalar]) });
        }
        let array = ufunc(
            &self.session,
            op,
            &[UfuncOperand::from(&own.array), UfuncOperand::from(&other.array)],
        )?;
        let plain = super::map(op, loop_dtype(op, dtype)?, &[&own.plain, &other.plain]);
        let made = ArrayPair { array, plain };
        if !matches!(kind, Kind::Select) {
            return Ok(made);
        }
        let operands = [&made.array, &own.array, &other.array].map(ElementwiseOperand::from);
        let array = elementwise(&self.session, Op::Select.into(), dtype, &operands)?;
        let plain = super::map(Op::Select, dtype, &[&made.plain, &own.plain, &other.plain]);
        Ok(ArrayPair { array, plain })
    }

    fn write(&self, kind: Kind, own: &ArrayPair, choices: &mut Choices) -> Result<(), GraphError> {
        let other = self.fitting(own, true, choices)?;
        match kind {
            Kind::Fill => {
                let number = choices.of(&[0.0, 2.0, -7.5]);
                own.plain.fill(Value::F64(number));
                own.array.fill(number)
            }
            Kind::Update if common(own.plain.dtype, other.plain.dtype) == own.plain.dtype => {
                let op = choices.of(&[Op::Add, Op::Multiply, Op::Maximum]);
                let made = super::map(op, own.plain.dtype, &[&own.plain, &other.plain]);
                let given = [UfuncOperand::from(&own.array), UfuncOperand::from(&other.array)];
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

    /// Compares all arrays with their references, and describes the first difference.
    pub fn check(&self) -> Result<(), String> {
        for (at, pair) in self.pairs.iter().enumerate() {
            let found = values(&pair.array).map_err(|error| error.to_string())?;
            let wanted = pair.plain.values();
            let bits =
                |values: &[Value]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
            if pair.array.shape() != pair.plain.shape || bits(&found) != bits(&wanted) {
                return Err(format!(
                    "array {at} of shape {:?}: {found:?}, wanted {:?} {wanted:?}",
                    pair.array.shape(),
                    pair.plain.shape
                ));
            }
        }
        Ok(())
    }
}

impl ArrayPair {
    /// Gives the reference the strides of the array: whether a reshape copies depends on them.
    fn alike(self) -> Self {
        Self { plain: self.plain.laid_out_as(self.array.view()), ..self }
    }

    fn part(&self, items: &[KeyItem]) -> Result<ArrayPair, GraphError> {
        Ok(ArrayPair { array: self.array.slice(items)?, plain: self.plain.part(items) })
    }

    /// A random view.
    fn seen(&self, kind: Kind, choices: &mut Choices) -> Result<ArrayPair, GraphError> {
        let shape = &self.plain.shape;
        match kind {
            Kind::Transpose => {
                let axes = choices.shuffled(shape.len());
                let array = self.array.transposed(&axes);
                Ok(ArrayPair { array, plain: self.plain.transposed(&axes) })
            }
            Kind::Diagonal if shape.len() > 1 => {
                let seen = view::diagonal(self.array.view(), 0, 0, 1);
                Ok(ArrayPair { array: self.array.with_view(seen), plain: self.plain.diagonal() })
            }
            Kind::Reshape => {
                let shape = choices.shape(shape.iter().product());
                let plain = self.plain.reshaped(&shape);
                let array = match view::reshape_view(self.array.view(), &shape) {
                    Some(seen) => self.array.with_view(seen),
                    None => {
                        let copy = self.array.copy()?;
                        let seen =
                            view::reshape_view(copy.view(), &shape).expect("a copy in C order");
                        copy.with_view(seen)
                    }
                };
                Ok(ArrayPair { array, plain })
            }
            _ => self.part(&choices.items(shape)),
        }
    }
}

/// All elements, gathered.
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

/// Combinations of replicated or distributed arrays, and eager or deferred operations.
pub fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        3 => Just(Limits { replicate_below: 0, eager_max: 0 }),
        1 => Just(Limits { replicate_below: 1 << 20, eager_max: 1 << 20 }),
        1 => Just(Limits { replicate_below: 0, eager_max: 1 << 20 }),
        1 => Just(Limits { replicate_below: 1 << 20, eager_max: 0 }),
        1 => Just(Limits { replicate_below: 300, eager_max: 20 }),
    ]
}

pub fn ranks() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), Just(2), Just(3), Just(4), Just(7)]
}
