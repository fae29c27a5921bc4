//! Operations of one expression on small arrays, put together as they are asked for and computed when the
//! expression ends: `a * b + c * 2.0` is one loop, and nothing is stored on the way.
//!
//! Only who asks can tell that a result is an operand of the next operation and nothing else. What is
//! put together is no array yet: arrays whose result would be in C order, all of them here, numbers, and steps.

use std::sync::Arc;

use dappled_kernels::{Axes, DType, Kind, Op, Scalar, View};
use smallvec::SmallVec;

use super::node::Node;
use super::recipe::{MOST, Place, Recipe, Step};
use super::{Array, Session};
use crate::view::is_c_like;

/// What an operation of an expression reads.
#[derive(Clone, Copy)]
pub enum Term<'a> {
    /// An array.
    Array(&'a Array),
    /// What was put together so far.
    Soon(&'a Soon),
    /// A number of the operation's dtype.
    Number(Scalar),
}

/// Operations of one expression that are not computed yet.
#[derive(Clone)]
pub struct Soon {
    pub(super) session: Session,
    pub(super) shape: Axes<usize>,
    pub(super) inputs: SmallVec<[Input; 4]>,
    pub(super) recipe: Recipe,
    /// Where each step was asked for: known to who asked.
    pub(super) marks: [u32; MOST[2]],
}

/// Elements: the version that they are of, and where they begin in its memory.
#[derive(Clone)]
pub(super) struct Input {
    pub node: Arc<Node>,
    pub offset: usize,
    /// How far apart they are along each axis, where they do not lie one after the other in C order.
    pub strides: Option<Arc<[isize]>>,
}

impl Soon {
    /// An operation on a term or two, asked for at this mark. None if it is not so simple, or too much.
    pub fn new(op: Op, terms: &[Term<'_>], mark: u32) -> Option<Box<Self>> {
        let dtype = loop_of(op, terms)?;
        let (mut made, args) = match *terms {
            [Term::Soon(soon)] => (soon.copied(), [soon.recipe.last(), Place::NOWHERE]),
            [Term::Soon(soon), other] => {
                let mut made = soon.copied();
                let other = made.place(other);
                (made, [soon.recipe.last(), other])
            }
            [first, Term::Soon(soon)] => {
                let mut made = soon.copied();
                let first = made.place(first);
                (made, [first, soon.recipe.last()])
            }
            _ => {
                let (mut made, mut args) = (Self::empty(terms)?, [Place::NOWHERE; 2]);
                args.iter_mut().zip(terms).for_each(|(arg, &term)| *arg = made.place(term));
                (made, args)
            }
        };
        made.marks[made.recipe.steps.len()] = mark;
        made.recipe.steps.push(Step { op, dtype, args });
        Some(made)
    }

    fn copied(&self) -> Box<Self> {
        Box::new(self.clone())
    }

    /// Nothing yet, of the shape of the first array.
    fn empty(terms: &[Term<'_>]) -> Option<Box<Self>> {
        let array = terms.iter().find_map(|term| match term {
            Term::Array(array) => Some(array),
            _ => None,
        })?;
        let (inputs, recipe, marks) = (SmallVec::new(), Recipe::new(), [0; _]);
        let (session, shape) = (array.session().clone(), Axes::from_slice(array.shape()));
        Some(Box::new(Self { session, shape, inputs, recipe, marks }))
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Is there no element?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.recipe.dtype()
    }

    /// Where a term is, which fits.
    fn place(&mut self, term: Term<'_>) -> Place {
        match term {
            Term::Number(value) => self.recipe.constant(value),
            Term::Soon(soon) => self.take(soon),
            Term::Array(array) => {
                let (node, view) = (array.versions.current(), array.view());
                let strides = (!view.is_contiguous()).then(|| view.strides[..].into());
                self.input(&Input { node, offset: view.offset, strides }, array.dtype())
            }
        }
    }

    /// An array that is read twice is one input.
    fn input(&mut self, input: &Input, dtype: DType) -> Place {
        let same = |(known, of): (&Input, &DType)| {
            (*of, known.offset, &known.strides) == (dtype, input.offset, &input.strides)
                && Arc::ptr_eq(&known.node, &input.node)
        };
        let known = self.inputs.iter().zip(self.recipe.inputs.iter()).position(same);
        Place::input(known.unwrap_or_else(|| {
            self.inputs.push(input.clone());
            self.recipe.inputs.push(dtype);
            self.inputs.len() - 1
        }))
    }

    /// All that another has put together; its last result.
    fn take(&mut self, other: &Soon) -> Place {
        let mut places = [Place::NOWHERE; MOST[0]];
        let inputs = other.inputs.iter().zip(other.recipe.inputs.iter());
        for (place, (input, &dtype)) in places.iter_mut().zip(inputs) {
            *place = self.input(input, dtype);
        }
        let (own, more) = (self.recipe.steps.len(), other.recipe.steps.len());
        self.marks[own..own + more].copy_from_slice(&other.marks[..more]);
        self.recipe.take(&other.recipe, &places);
        self.recipe.last()
    }
}

/// The dtype of an operation on terms that all lie alike, where it is simple and not too much.
fn loop_of(op: Op, terms: &[Term<'_>]) -> Option<DType> {
    let dtype = terms.iter().find_map(Term::dtype)?;
    let shape = terms.iter().find_map(Term::shape)?;
    // There are cheaper powers, and some that raise; of complex numbers see `unfused`.
    let other = op == Op::Power || dtype.kind() == Kind::Complex || !op.has_loop(dtype);
    let fits = |term: &Term<'_>| term.fits(shape, dtype);
    (!other && terms.iter().all(fits) && is_moderate(terms)).then_some(dtype)
}

fn is_moderate(terms: &[Term<'_>]) -> bool {
    let mut counts = [0, 0, 1];
    for term in terms {
        let more = match term {
            Term::Array(_) => [1, 0, 0],
            Term::Number(_) => [0, 1, 0],
            Term::Soon(soon) => soon.recipe.counts(),
        };
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
    }
    counts.iter().zip(MOST).all(|(&count, most)| count <= most)
}

impl Term<'_> {
    /// Of what is no number.
    fn dtype(&self) -> Option<DType> {
        match self {
            Term::Array(array) => Some(array.dtype()),
            Term::Soon(soon) => Some(soon.dtype()),
            Term::Number(_) => None,
        }
    }

    fn shape(&self) -> Option<&[usize]> {
        match self {
            Term::Array(array) => Some(array.shape()),
            Term::Soon(soon) => Some(&soon.shape),
            Term::Number(_) => None,
        }
    }

    /// Is it all here, in memory that nobody outside may write meanwhile, and is what is made of it in C order?
    fn fits(&self, shape: &[usize], dtype: DType) -> bool {
        match self {
            Term::Number(value) => value.dtype() == dtype,
            Term::Soon(soon) => *soon.shape == *shape && soon.dtype() == dtype,
            Term::Array(array) => {
                let view = array.view();
                view.dtype == dtype
                    && *view.shape == *shape
                    && !array.is_lent()
                    && array.versions.with_current(|node| is_readable(node, view))
            }
        }
    }
}

/// Are its elements here, and aligned where they lie one after the other? Others are copied, which is worth
/// while where what is made of them is in C order as well.
fn is_readable(node: &Node, view: &View) -> bool {
    let Some(memory) = node.whole_memory() else { return false };
    match view.is_contiguous() {
        true => (memory.as_ptr().addr() + view.offset).is_multiple_of(view.dtype.itemsize()),
        false => is_c_like(view),
    }
}
