//! Thresholds of local linear algebra.

/// Rows of the right matrix of a product that stay in the cache while they are added to the result.
pub(crate) const PRODUCT_BLOCK_ROWS: usize = 64;

/// Multiplications of a product for which threads pay.
pub(crate) const MIN_PARALLEL_PRODUCTS: usize = 1 << 16;

/// Order of a triangle that is solved column by column.
pub(crate) const MAX_UNBLOCKED_ORDER: usize = 16;

/// Sweeps after which the Jacobi rotations have converged for any matrix of finite numbers.
pub(crate) const MAX_JACOBI_SWEEPS: usize = 60;
