//! The loops of folds, each a kernel: accumulators, results or a state are what it writes.

use std::marker::PhantomData;

use super::fold::Folding;
use super::loops::Loop;
use crate::element::{typed, typed_mut};

/// Rows that are best folded together: memory is read in as many streams, and accumulators are read
/// and written once for all of them.
pub(crate) const TOGETHER: usize = 8;

pub(super) struct Rows<F>(PhantomData<F>);

impl<F: Folding> Loop for Rows<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let accs = typed_mut::<F::Item>(out);
        match <[&[u8]; TOGETHER]>::try_from(args) {
            Ok(rows) => fold_rows::<F, TOGETHER>(accs, rows),
            Err(_) => args.iter().for_each(|&row| fold_rows::<F, 1>(accs, [row])),
        }
    }
}

/// Eight accumulators at a time take a value of each row.
#[inline(always)]
fn fold_rows<F: Folding, const N: usize>(accs: &mut [F::Item], rows: [&[u8]; N]) {
    let rows = rows.map(|row| typed::<F::Item>(row)[..accs.len()].as_chunks::<8>());
    let (accs, rest) = accs.as_chunks_mut::<8>();
    for (at, accs) in accs.iter_mut().enumerate() {
        let mut now = *accs;
        for (values, _) in &rows {
            let values = &values[at];
            // All are always written: a choice between two would become a branch.
            now = std::array::from_fn(|lane| F::apply(now[lane], values[lane]));
        }
        *accs = now;
    }
    for (_, tail) in &rows {
        for (acc, &value) in rest.iter_mut().zip(*tail) {
            *acc = F::apply(*acc, value);
        }
    }
}

pub(super) struct Runs<F>(PhantomData<F>);

impl<F: Folding> Loop for Runs<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let accs = typed_mut::<F::Item>(out);
        let (values, fresh) = (typed::<F::Item>(args[0]), args[1][0] != 0);
        let len = values.len() / accs.len().max(1);
        for (acc, run) in accs.iter_mut().zip(values.chunks_exact(len)) {
            *acc = match run {
                [first, rest @ ..] if fresh => F::run(*first, rest),
                _ => F::run(*acc, run),
            };
        }
    }
}

pub(super) struct PartLoop<F>(PhantomData<F>);

impl<F: Folding> Loop for PartLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        F::part(typed(args[0]), typed_mut(out));
    }
}

pub(super) struct JoinLoop<F>(PhantomData<F>);

impl<F: Folding> Loop for JoinLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        F::join(typed_mut(out), typed(args[0]));
    }
}

pub(super) struct FinishLoop<F>(PhantomData<F>);

impl<F: Folding> Loop for FinishLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let acc = &mut typed_mut::<F::Item>(out)[0];
        *acc = F::finish(*acc, typed(args[0]));
    }
}

pub(super) struct BeginLoop<F>(PhantomData<F>);

impl<F: Folding> Loop for BeginLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        F::begin(typed::<F::Item>(args[0])[0], typed_mut(out));
    }
}

pub(super) struct Line<F>(PhantomData<F>);

impl<F: Folding> Loop for Line<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let [acc, results @ ..] = typed_mut::<F::Item>(out) else { return };
        let mut acc = *acc;
        for (result, &value) in results.iter_mut().zip(typed(args[0])) {
            acc = F::apply(acc, value);
            *result = acc;
        }
    }
}

pub(super) struct Step<F>(PhantomData<F>);

impl<F: Folding> Loop for Step<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let out = typed_mut::<F::Item>(out);
        let (before, values) = (&typed(args[0])[..out.len()], &typed(args[1])[..out.len()]);
        for ((result, &before), &value) in out.iter_mut().zip(before).zip(values) {
            *result = F::apply(before, value);
        }
    }
}
