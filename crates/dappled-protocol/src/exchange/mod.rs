//! Exchange sets: the cells each rank sends when an array changes its distribution.
//!
//! Computed for *one* rank from the two distributions alone: every rank knows what the others send,
//! so no handshake is needed. The exchange is a product over the axes of the transfers along each
//! (see [`axis`]), generated lazily, peer by peer and box by box.

mod axis;
mod halo;
mod parcel;

pub use axis::{axis_transfers, visited_runs};
pub use halo::{halo_receives, halo_sends};
pub use parcel::Parcel;

use crate::distribution::{Distribution, Held};

/// Why no exchange between two distributions exists.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// The distributions have different shapes.
    #[error("the shapes differ: {0:?} and {1:?}")]
    Shape(Vec<u64>, Vec<u64>),
    /// The labels of an unstructured axis are not indices.
    #[error(transparent)]
    Labels(#[from] LabelsError),
}

/// The labels of an unstructured axis are not its indices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the labels of unstructured axis {axis} are not exactly 0 to {last}, each once: they name no \
     elements that could be exchanged or sliced"
)]
pub struct LabelsError {
    /// The axis.
    pub axis: usize,
    /// The largest valid label.
    pub last: i64,
}

/// The parcels that a rank sends or receives, peers ascending.
pub type Parcels = Box<dyn Iterator<Item = Parcel> + Send>;

/// Returns the parcels that `rank` sends from its piece of `source` to the ranks of `target`.
/// [`Transfer::own`](crate::Transfer::own) are cells of its source piece. Includes the cells it
/// keeps.
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
                        product_parcels(&target, &source, peer)
                            .map(move |parcel| parcel.reversed(peer))
                    },
                ),
            )
        }
        (_, Held::All) => {
            let peers = target.nprocs();
            Box::new(
                product_parcels(&source, &target, rank)
                    .flat_map(move |parcel| (0..peers).map(move |peer| parcel.with_peer(peer))),
            )
        }
        _ => Box::new(product_parcels(&source, &target, rank)),
    })
}

/// Returns the parcels that `rank` receives for its piece of `target`.
/// [`Transfer::own`](crate::Transfer::own) are cells of its target piece. Includes the cells it
/// keeps.
pub fn receives(
    source: &Distribution,
    target: &Distribution,
    rank: u64,
) -> Result<Parcels, ExchangeError> {
    check(source, target)?;
    if !target.holds(rank) {
        return Ok(Box::new(std::iter::empty()));
    }
    let parcels = product_parcels(target, source, rank);
    let server = server_of(rank, source.nprocs());
    Ok(match source.held() {
        Held::All => Box::new(parcels.map(move |parcel| parcel.with_peer(server))),
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

/// Returns the parcels between a rank of `own` and all ranks of `other`.
fn product_parcels(
    own: &Distribution,
    other: &Distribution,
    rank: u64,
) -> impl Iterator<Item = Parcel> + use<> {
    let axes = own.axes().iter().zip(other.axes()).zip(own.coords(rank));
    let axes = axes.map(|((own, other), at)| axis_transfers(own, other, at)).collect();
    let other = other.clone();
    parcel::parcels(axes, None, move |coords| other.rank(coords))
}

/// Returns the rank of a replicated source that serves a rank of the target: the rank itself, or
/// rank 0 for ranks that the source does not have.
fn server_of(rank: u64, sources: u64) -> u64 {
    if rank < sources { rank } else { 0 }
}

/// Returns the target ranks that a rank of a replicated source serves.
fn served_by(rank: u64, sources: u64, targets: u64) -> impl Iterator<Item = u64> {
    let others = if rank == 0 { sources..targets.max(sources) } else { 0..0 };
    (rank..(rank + 1).min(targets)).chain(others)
}
