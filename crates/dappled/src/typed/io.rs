//! Files of typed arrays.

use std::path::Path;

use super::Array;
use super::context::Context;
use super::element::ArrayElement;
use crate::array::Array as DynArray;
use crate::error::{NpyError, Result};

impl<T: ArrayElement> Array<T> {
    /// Saves the array as an `.npy` file, which every rank writes together. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let path = std::env::temp_dir().join(format!("dappled-{}.npy", std::process::id()));
    /// let a = Array::arange(&cx, 0.0, 12.0, 1.0).reshape([3, 4])?;
    /// a.save(&path)?;
    /// let b = Array::<f64>::load(&cx, &path)?;
    /// assert_eq!(b.shape(), [3, 4]);
    /// assert_eq!(b.to_vec()?, a.to_vec()?);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.dynamic.save_npy(path.as_ref())
    }

    /// Loads an `.npy` file of this element type, each rank its local piece. Collective.
    pub fn load(cx: &Context, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let array = DynArray::load_npy(cx.session(), path)?;
        match array.dtype() == T::DTYPE {
            true => Ok(Self::from_dynamic(array)),
            false => Err(NpyError {
                path: path.display().to_string(),
                reason: format!("has dtype {}, expected {}", array.dtype(), T::DTYPE),
            }
            .into()),
        }
    }
}
