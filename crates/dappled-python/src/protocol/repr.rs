//! The text of a distribution: the call that constructs it, if there is one.

use dappled_protocol::{AxisSpec, Distribution, Padding, Spec};

use crate::config::MAX_REPR_ITEMS;

pub fn distribution_repr(distribution: &Distribution) -> String {
    let shape = tuple(distribution.shape());
    let dist = distribution.dist();
    let grid = tuple(distribution.grid_shape());
    match distribution.to_spec() {
        Some(spec) => constructor_call(&spec, &shape, &dist, &grid),
        None => format!(
            "<Distribution of shape {shape}, '{dist}', over grid {grid}: a slice, or imported>"
        ),
    }
}

fn constructor_call(spec: &Spec, shape: &str, dist: &str, grid: &str) -> String {
    let product: u64 = spec.axes.iter().filter_map(|axis| axis.grid).product();
    let grid_argument = match spec.nprocs {
        Some(nprocs) if nprocs != product => format!("nprocs={nprocs}"),
        _ => format!("grid_shape={grid}"),
    };
    type OptionText = fn(&AxisSpec) -> Option<String>;
    let options: [(&str, OptionText); 6] = [
        ("block_size", |axis| {
            axis.block_size.filter(|&size| size != 1).map(|size| size.to_string())
        }),
        ("bounds", |axis| axis.bounds.as_deref().map(list)),
        ("indices", |axis| {
            axis.indices
                .as_ref()
                .map(|lists| list(&lists.iter().map(|labels| list(labels)).collect::<Vec<_>>()))
        }),
        ("padding", |axis| axis.padding.as_ref().map(padding)),
        ("periodic", |axis| axis.periodic.then(|| "True".to_owned())),
        ("one_to_one", |axis| axis.one_to_one.then(|| "True".to_owned())),
    ];
    let options =
        options.iter().filter_map(|(name, of)| option(name, spec.axes.iter().map(of).collect()));
    let parts: Vec<String> =
        [shape.to_owned(), format!("'{dist}'"), grid_argument].into_iter().chain(options).collect();
    format!("Distribution({})", parts.join(", "))
}

/// Formats `name=(…)` with an entry per axis; `None` if no axis has an entry.
fn option(name: &str, entries: Vec<Option<String>>) -> Option<String> {
    let any_entry = entries.iter().any(Option::is_some);
    any_entry.then(|| {
        format!("{name}={}", tuple(entries.into_iter().map(|entry| entry.unwrap_or("None".into()))))
    })
}

fn padding(padding: &Padding) -> String {
    match padding {
        Padding::Uniform(width) => width.to_string(),
        Padding::Edges(widths) => list(widths),
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    let shown: Vec<String> = items.iter().take(MAX_REPR_ITEMS).map(T::to_string).collect();
    let more = if items.len() > MAX_REPR_ITEMS { ", …" } else { "" };
    format!("[{}{more}]", shown.join(", "))
}

/// Formats a tuple as Python does.
fn tuple<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    match &items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>()[..] {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}
