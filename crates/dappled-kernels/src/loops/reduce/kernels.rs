//! The generic loops of reductions and scans, each compiled to a kernel.

use std::marker::PhantomData;

use super::ReduceRule;
use crate::config::ROWS_PER_PASS;
use crate::loops::multiversion::MultiversionLoop;
use crate::types::element::{typed, typed_mut};

pub(crate) struct ReduceRowsLoop<F>(PhantomData<F>);

impl<F: ReduceRule> MultiversionLoop for ReduceRowsLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let accs = typed_mut::<F::Item>(out);
        match <[&[u8]; ROWS_PER_PASS]>::try_from(args) {
            Ok(rows) => reduce_rows::<F, ROWS_PER_PASS>(accs, rows),
            Err(_) => args.iter().for_each(|&row| reduce_rows::<F, 1>(accs, [row])),
        }
    }
}

/// Reduces one value of each row into accumulators, eight of them at a time.
#[inline(always)]
fn reduce_rows<F: ReduceRule, const N: usize>(accs: &mut [F::Item], rows: [&[u8]; N]) {
    let rows = rows.map(|row| typed::<F::Item>(row)[..accs.len()].as_chunks::<8>());
    let (accs, rest) = accs.as_chunks_mut::<8>();
    for (at, accs) in accs.iter_mut().enumerate() {
        let mut now = *accs;
        for (values, _) in &rows {
            let values = &values[at];
            // Every lane is written; a conditional write would become a branch.
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

pub(crate) struct ReduceRunsLoop<F>(PhantomData<F>);

impl<F: ReduceRule> MultiversionLoop for ReduceRunsLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let accs = typed_mut::<F::Item>(out);
        let (values, takes_first_value) = (typed::<F::Item>(args[0]), args[1][0] != 0);
        let len = values.len() / accs.len().max(1);
        for (acc, run) in accs.iter_mut().zip(values.chunks_exact(len)) {
            *acc = match run {
                [first, rest @ ..] if takes_first_value => F::run(*first, rest),
                _ => F::run(*acc, run),
            };
        }
    }
}

pub(crate) struct SummarizeLoop<F>(PhantomData<F>);

impl<F: ReduceRule> MultiversionLoop for SummarizeLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        F::part(typed(args[0]), typed_mut(out));
    }
}

pub(crate) struct JoinStatesLoop<F>(PhantomData<F>);

impl<F: ReduceRule> MultiversionLoop for JoinStatesLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        F::join(typed_mut(out), typed(args[0]));
    }
}

pub(crate) struct FinishStateLoop<F>(PhantomData<F>);

impl<F: ReduceRule> MultiversionLoop for FinishStateLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let acc = &mut typed_mut::<F::Item>(out)[0];
        *acc = F::finish(*acc, typed(args[0]));
    }
}

pub(crate) struct BeginStateLoop<F>(PhantomData<F>);

impl<F: ReduceRule> MultiversionLoop for BeginStateLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        F::begin(typed::<F::Item>(args[0])[0], typed_mut(out));
    }
}

pub(crate) struct ScanLineLoop<F>(PhantomData<F>);

impl<F: ReduceRule> MultiversionLoop for ScanLineLoop<F> {
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

pub(crate) struct ScanRowLoop<F>(PhantomData<F>);

impl<F: ReduceRule> MultiversionLoop for ScanRowLoop<F> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let out = typed_mut::<F::Item>(out);
        let (before, values) = (&typed(args[0])[..out.len()], &typed(args[1])[..out.len()]);
        for ((result, &before), &value) in out.iter_mut().zip(before).zip(values) {
            *result = F::apply(before, value);
        }
    }
}
