//! Who sends which cells to whom, from one distribution to another of the same shape.
//!
//! Computed for *one* rank, from the two distributions alone: every rank knows what every
//! other will send, and no handshake is needed. What moves is a product over the axes of what
//! moves along each (see [`axis`]); it is produced peer by peer, box by box, as it is asked for.

mod axis;
mod halo;
mod parcel;

pub use axis::{along_axis, visited};
pub use halo::{halo_receives, halo_sends};
pub use parcel::Parcel;

use crate::distribution::{Distribution, Held};

/// Why there is no exchange between two distributions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// Not two distributions of one array.
    #[error("the shapes differ: {0:?} and {1:?}")]
    Shape(Vec<u64>, Vec<u64>),
    /// Labels of an unstructured axis that name no element.
    #[error(transparent)]
    Labels(#[from] LabelsError),
}

/// An unstructured axis whose labels are not its indices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the labels of unstructured axis {axis} are not exactly 0 to {last}, each once: they name no \
     elements that could be exchanged or sliced"
)]
pub struct LabelsError {
    /// The axis.
    pub axis: usize,
    /// What the last label should be.
    pub last: i64,
}

/// What a rank sends or receives, peer by peer in ascending order.
pub type Parcels = Box<dyn Iterator<Item = Parcel> + Send>;

/// What `rank`, holding its piece of `source`, sends to the ranks of `target`:
/// [`Transfer::own`](crate::Transfer::own) are cells of its source piece. What it keeps is
/// included.
///
/// ```
/// use dappled_protocol::{Distribution, exchange};
/// let rows = Distribution::spec(&[4, 4]).grid_shape(&[2, 1]).build()?;
/// let columns = Distribution::spec(&[4, 4]).grid_shape(&[1, 2]).build()?;
/// let peers: Vec<u64> = exchange::sends(&rows, &columns, 0)?.map(|parcel| parcel.peer).collect();
/// assert_eq!(peers, [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sends(
    source: &Distribution,
    target: &Distribution,
    rank: u64,
) -> Result<Parcels, ExchangeError> {
    check(source, target)?;
    if !source.holds(rank) {
        return Ok(Box::new(std::iter::empty()));
    }
    let (source, target) = (source.clone(), target.clone());
    Ok(match (source.held(), target.held()) {
        (Held::All, _) => {
            let served = served_by(rank, source.nprocs(), target.nprocs());
            Box::new(
                served.filter(|&peer| target.holds(peer)).collect::<Vec<_>>().into_iter().flat_map(
                    move |peer| {
                        product(&target, &source, peer).map(move |parcel| parcel.turned(peer))
                    },
                ),
            )
        }
        (_, Held::All) => {
            let peers = target.nprocs();
            Box::new(
                product(&source, &target, rank)
                    .flat_map(move |parcel| (0..peers).map(move |peer| parcel.to(peer))),
            )
        }
        _ => Box::new(product(&source, &target, rank)),
    })
}

/// What `rank` receives for its piece of `target`: [`Transfer::own`](crate::Transfer::own) are
/// cells of its target piece. What it keeps is included.
pub fn receives(
    source: &Distribution,
    target: &Distribution,
    rank: u64,
) -> Result<Parcels, ExchangeError> {
    check(source, target)?;
    if !target.holds(rank) {
        return Ok(Box::new(std::iter::empty()));
    }
    let parcels = product(target, source, rank);
    let server = server_of(rank, source.nprocs());
    Ok(match source.held() {
        Held::All => Box::new(parcels.map(move |parcel| parcel.to(server))),
        _ => Box::new(parcels),
    })
}

fn check(source: &Distribution, target: &Distribution) -> Result<(), ExchangeError> {
    if source.shape() != target.shape() {
        return Err(ExchangeError::Shape(source.shape(), target.shape()));
    }
    source.check_labels()?;
    Ok(target.check_labels()?)
}

/// What moves between a rank of `own` and all of `other`.
fn product(
    own: &Distribution,
    other: &Distribution,
    rank: u64,
) -> impl Iterator<Item = Parcel> + use<> {
    let axes = own.axes().iter().zip(other.axes()).zip(own.coords(rank));
    let axes = axes.map(|((own, other), at)| along_axis(own, other, at)).collect();
    let other = other.clone();
    parcel::parcels(axes, None, move |coords| other.rank(coords))
}

/// Where every rank of the source has everything, a rank serves itself;
/// rank 0 serves those that the source does not have.
fn server_of(rank: u64, sources: u64) -> u64 {
    if rank < sources { rank } else { 0 }
}

/// The ranks of the target that a rank of the source serves.
fn served_by(rank: u64, sources: u64, targets: u64) -> impl Iterator<Item = u64> {
    let others = if rank == 0 { sources..targets.max(sources) } else { 0..0 };
    (rank..(rank + 1).min(targets)).chain(others)
}
