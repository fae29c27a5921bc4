//! Table of the MPI functions, looked up by name in the loaded library.

use std::ffi::{c_char, c_int, c_void};

use libloading::os::unix::Library;

use super::abi::MpiHandle;
use crate::config::MAX_TEXT_BYTES;
use crate::error::FabricError;

macro_rules! functions {
    ($($field:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// The MPI functions in use. Each returns 0 or an error code.
        pub(super) struct MpiFunctions<H> {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl<H: MpiHandle> MpiFunctions<H> {
            pub fn load(library: &Library) -> Result<Self, FabricError> {
                Ok(Self {
                    // SAFETY: the type is that of the MPI standard's C binding, with the handle
                    // type of the library's ABI.
                    $($field: unsafe { load_symbol(library, $symbol) }?,)*
                })
            }
        }
    };
}

functions! {
    initialized = "MPI_Initialized" (*mut c_int);
    finalized = "MPI_Finalized" (*mut c_int);
    init_thread = "MPI_Init_thread" (*mut c_int, *mut c_void, c_int, *mut c_int);
    query_thread = "MPI_Query_thread" (*mut c_int);
    is_thread_main = "MPI_Is_thread_main" (*mut c_int);
    finalize = "MPI_Finalize" ();
    abort = "MPI_Abort" (H, c_int);
    comm_dup = "MPI_Comm_dup" (H, *mut H);
    comm_set_errhandler = "MPI_Comm_set_errhandler" (H, H);
    comm_rank = "MPI_Comm_rank" (H, *mut c_int);
    comm_size = "MPI_Comm_size" (H, *mut c_int);
    isend = "MPI_Isend" (*const c_void, c_int, H, c_int, c_int, H, *mut H);
    irecv = "MPI_Irecv" (*mut c_void, c_int, H, c_int, c_int, H, *mut H);
    test = "MPI_Test" (*mut H, *mut c_int, *mut c_void);
    iprobe = "MPI_Iprobe" (c_int, c_int, H, *mut c_int, *mut c_void);
    comm_split_type = "MPI_Comm_split_type" (H, c_int, c_int, H, *mut H);
    comm_free = "MPI_Comm_free" (*mut H);
    error_string = "MPI_Error_string" (c_int, *mut c_char, *mut c_int);
    library_version = "MPI_Get_library_version" (*mut c_char, *mut c_int);
}

impl<H: MpiHandle> MpiFunctions<H> {
    /// Returns the start of the library version string, such as "MPICH Version: 5.0.2".
    pub fn version(&self) -> String {
        let version = self.library_version;
        // SAFETY: may be called at any time; the buffer is long enough for every ABI.
        let text = call_text(|buffer, length| unsafe { version(buffer, length) });
        let line = text.split(['\n', ',']).next().unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Converts the error code of `function` into an error.
    pub fn check(&self, function: &'static str, code: c_int) -> Result<(), FabricError> {
        if code == 0 {
            return Ok(());
        }
        let explain = self.error_string;
        // SAFETY: the buffer is long enough for every ABI.
        let text = call_text(|buffer, length| unsafe { explain(code, buffer, length) });
        Err(FabricError::Mpi { function, code, text })
    }

    /// Returns the int that `call` writes.
    pub fn call_int(
        &self,
        function: &'static str,
        call: impl FnOnce(*mut c_int) -> c_int,
    ) -> Result<c_int, FabricError> {
        let mut number = 0;
        self.check(function, call(&mut number)).map(|()| number)
    }
}

/// Returns the text that `call` writes.
fn call_text(call: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> String {
    let (mut buffer, mut length) = (vec![0_u8; MAX_TEXT_BYTES], 0);
    call(buffer.as_mut_ptr().cast(), &mut length);
    buffer.truncate(usize::try_from(length).unwrap_or(0));
    String::from_utf8_lossy(&buffer).trim_end_matches('\0').to_string()
}

/// Looks up a function.
///
/// # Safety
///
/// `T` is the function pointer type of the symbol, and the library is never unloaded.
unsafe fn load_symbol<T: Copy>(library: &Library, name: &str) -> Result<T, FabricError> {
    // SAFETY: the caller guarantees the type of the symbol.
    let loaded = unsafe { library.get::<T>(name) };
    loaded.map(|symbol| *symbol).map_err(|_| missing_symbol(name))
}

/// Returns the address of a symbol, used as a number only.
pub(super) fn symbol_address(library: &Library, name: &str) -> Option<usize> {
    // SAFETY: the address is read as a pointer and never dereferenced.
    let loaded = unsafe { library.get::<*mut c_void>(name) };
    loaded.ok().map(|symbol| *symbol as usize)
}

pub(super) fn missing_symbol(name: &str) -> FabricError {
    FabricError::LibraryNotFound { tried: vec![format!("an MPI library without {name}")] }
}
