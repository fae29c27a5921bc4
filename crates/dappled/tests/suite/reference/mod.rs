//! Reference implementation of NumPy: eager, in one memory.
#![allow(dead_code)]

pub mod choices;
pub mod pairs;
pub mod value;

use std::cell::RefCell;
use std::rc::Rc;

use dappled::protocol::slice::KeyItem;
use dappled_kernels::{DType, Op, View};
pub use value::Value;

/// A strided view of shared elements.
#[derive(Clone, Debug)]
pub struct ReferenceArray {
    memory: Rc<RefCell<Vec<Value>>>,
    pub dtype: DType,
    offset: isize,
    pub shape: Vec<usize>,
    strides: Vec<isize>,
}

/// All indices of a shape, in C order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut found = vec![vec![]];
    for &length in shape {
        let longer = |index: Vec<usize>| (0..length).map(move |at| [&index[..], &[at]].concat());
        found = found.into_iter().flat_map(longer).collect();
    }
    found
}

fn c_strides(shape: &[usize]) -> Vec<isize> {
    let behind = |axis: usize| shape[axis + 1..].iter().product::<usize>() as isize;
    (0..shape.len()).map(behind).collect()
}

/// The shape that two shapes broadcast to.
pub fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let ndim = a.len().max(b.len());
    let length = |shape: &[usize], axis: usize| {
        (axis + shape.len()).checked_sub(ndim).map_or(1, |axis| shape[axis])
    };
    let both = |axis| match (length(a, axis), length(b, axis)) {
        (1, other) | (other, 1) => Some(other),
        (own, other) => (own == other).then_some(own),
    };
    (0..ndim).map(both).collect()
}

impl ReferenceArray {
    pub fn new(dtype: DType, shape: &[usize], elements: Vec<Value>) -> Self {
        let memory = Rc::new(RefCell::new(elements));
        Self { memory, dtype, offset: 0, shape: shape.to_vec(), strides: c_strides(shape) }
    }

    fn places(&self) -> Vec<usize> {
        let place = |index: Vec<usize>| {
            let steps = index.iter().zip(&self.strides).map(|(&at, stride)| at as isize * stride);
            (self.offset + steps.sum::<isize>()) as usize
        };
        indices(&self.shape).into_iter().map(place).collect()
    }

    pub fn values(&self) -> Vec<Value> {
        let memory = self.memory.borrow();
        self.places().into_iter().map(|place| memory[place]).collect()
    }

    pub fn part(&self, items: &[KeyItem]) -> Self {
        let (mut part, mut axis) = (self.clone(), 0);
        (part.shape, part.strides) = (Vec::new(), Vec::new());
        for item in items {
            match *item {
                KeyItem::NewAxis => {
                    part.shape.push(1);
                    part.strides.push(0);
                    continue;
                }
                KeyItem::Index(at) => part.offset += at as isize * self.strides[axis],
                KeyItem::Slice(Some(start), stop, Some(step)) => {
                    let stop = stop.unwrap_or(-1);
                    let count = (stop - start + step - step.signum()) / step;
                    part.offset += start as isize * self.strides[axis];
                    part.shape.push(count.max(0) as usize);
                    part.strides.push(step as isize * self.strides[axis]);
                }
                _ => panic!("the tests use no other items"),
            }
            axis += 1;
        }
        part
    }

    pub fn transposed(&self, axes: &[usize]) -> Self {
        let shape = axes.iter().map(|&axis| self.shape[axis]).collect();
        let strides = axes.iter().map(|&axis| self.strides[axis]).collect();
        Self { shape, strides, ..self.clone() }
    }

    pub fn diagonal(&self) -> Self {
        let mut found = self.clone();
        let (rows, columns) = (found.shape.remove(0), found.shape.remove(0));
        let step = found.strides.remove(0) + found.strides.remove(0);
        found.shape.push(rows.min(columns));
        found.strides.push(step);
        found
    }

    /// A view if strides can express the new shape, otherwise a copy.
    pub fn reshaped(&self, shape: &[usize]) -> Self {
        let places: Vec<isize> = self.places().into_iter().map(|place| place as isize).collect();
        let at = |flat: isize| places.get(flat as usize).map_or(0, |place| place - self.offset);
        let strides: Vec<isize> = c_strides(shape).into_iter().map(at).collect();
        let found = Self { shape: shape.to_vec(), strides, ..self.clone() };
        let same = found.places().into_iter().map(|place| place as isize).eq(places);
        if same { found } else { Self::new(self.dtype, shape, self.values()) }
    }

    /// A copy with the strides of a view.
    pub fn laid_out_as(&self, view: &View) -> Self {
        let item = view.dtype.itemsize() as isize;
        let strides: Vec<isize> = view.strides.iter().map(|stride| stride / item).collect();
        let found = Self { offset: view.offset as isize / item, strides, ..self.copied() };
        let mut memory = vec![Value::I64(0); self.values().len()];
        for (place, value) in found.places().into_iter().zip(self.values()) {
            memory[place] = value;
        }
        Self { memory: Rc::new(RefCell::new(memory)), ..found }
    }

    pub fn copied(&self) -> Self {
        Self::new(self.dtype, &self.shape, self.values())
    }

    pub fn cast(&self, dtype: DType) -> Self {
        let values = self.values().into_iter().map(|value| value.cast(dtype)).collect();
        Self::new(dtype, &self.shape, values)
    }

    fn repeated(&self, shape: &[usize]) -> Vec<Value> {
        let new_axes = shape.len() - self.shape.len();
        let mut strides = vec![0; new_axes];
        let axes = self.shape.iter().zip(&self.strides);
        strides.extend(axes.map(|(&length, &stride)| if length == 1 { 0 } else { stride }));
        Self { shape: shape.to_vec(), strides, ..self.clone() }.values()
    }

    pub fn assign(&self, value: &ReferenceArray) {
        let values = value.repeated(&self.shape);
        let mut memory = self.memory.borrow_mut();
        for (place, value) in self.places().into_iter().zip(values) {
            memory[place] = value.cast(self.dtype);
        }
    }

    pub fn fill(&self, value: Value) {
        self.assign(&ReferenceArray::new(self.dtype, &[], vec![value]));
    }
}

/// An element-wise operation in a loop of this dtype on arrays that broadcast.
pub fn map(op: Op, dtype: DType, args: &[&ReferenceArray]) -> ReferenceArray {
    let shapes = args.iter().map(|arg| arg.shape.clone());
    let shape = shapes.reduce(|a, b| broadcast(&a, &b).expect("they fit")).expect("an argument");
    let args: Vec<Vec<Value>> = args.iter().map(|arg| arg.repeated(&shape)).collect();
    let count = shape.iter().product::<usize>();
    let element = |at: usize| {
        let args: Vec<Value> = args.iter().map(|arg| arg[at]).collect();
        value::apply(op, dtype, &args)
    };
    ReferenceArray::new(op.result(dtype), &shape, (0..count).map(element).collect())
}

/// A sequential reduction in C order; reduced axes keep length 1.
pub fn fold(
    array: &ReferenceArray,
    axes: &[usize],
    step: impl Fn(Value, Value) -> Value,
) -> ReferenceArray {
    let lengths = array.shape.iter().enumerate();
    let shape: Vec<usize> =
        lengths.map(|(axis, &length)| if axes.contains(&axis) { 1 } else { length }).collect();
    let strides = c_strides(&shape);
    let mut found: Vec<Option<Value>> = vec![None; shape.iter().product()];
    for (index, value) in indices(&array.shape).into_iter().zip(array.values()) {
        let kept = index.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
        let place: usize = kept.map(|(axis, &at)| at * strides[axis] as usize).sum();
        found[place] = Some(found[place].map_or(value, |before| step(before, value)));
    }
    let found = found.into_iter().map(|value| value.expect("no empty array is folded"));
    ReferenceArray::new(array.dtype, &shape, found.collect())
}
