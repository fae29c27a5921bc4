//! Compiles a program to executable memory. The only unsafe code of this crate.

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{BranchProtection, JITBuilder, JITMemoryKind, JITMemoryProvider, JITModule};
use cranelift_module::{Linkage, Module, ModuleError, ModuleResult, default_libcall_names};
use dappled_kernels::{CpuVariant, FusedLoop, LoopFunction, Program};

use super::translate::{element_width, set_signature, translate};
use crate::avx2;

/// Compiles a program to a loop; `None` if the system denies executable memory or the CPU is not
/// supported.
pub fn compile(
    program: &Program,
    is_broadcast: &[bool],
    variant: CpuVariant,
    refused: bool,
) -> Option<FusedLoop> {
    let wide =
        (variant >= CpuVariant::Avx2 && cfg!(unix)).then(|| avx2::function(program, is_broadcast));
    let wide = wide.flatten();
    let block = if wide.is_some() { avx2::BLOCK_ELEMENTS } else { element_width(program).block() };
    let mut builder = JITBuilder::with_isa(target()?, default_libcall_names());
    if refused {
        builder.memory_provider(Box::new(DeniedMemory));
    }
    let code = JitCode(Mutex::new(Some(JITModule::new(builder))));
    let function = code.define(program, is_broadcast, wide)?;
    // SAFETY: the function is what `translate` or `avx2` generates for this CPU: given at least a
    // block of elements, it accesses the operands from the first element to the last, as a call of
    // a loop may. `code` keeps its memory.
    Some(unsafe { FusedLoop::new(function, block, Box::new(code)) })
}

/// The target of this CPU, if loops can be compiled for it.
fn target() -> Option<OwnedTargetIsa> {
    static TARGET: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    TARGET.get_or_init(detect_target).clone()
}

fn detect_target() -> Option<OwnedTargetIsa> {
    // On CPUs before 2011, rounding and comparing integer vectors would be library calls.
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("sse4.2") {
        return None;
    }
    let mut flags = settings::builder();
    for (name, value) in [
        // Optimisations would remove operations whose flags count, and merge two comparisons and a
        // select into an instruction that ignores NaN.
        ("opt_level", "none"),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).ok()?;
    }
    cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
}

/// A module with one function, whose memory is freed on drop.
struct JitCode(Mutex<Option<JITModule>>);

impl JitCode {
    /// Defines the function from machine code, or compiles it with Cranelift.
    fn define(
        &self,
        program: &Program,
        is_broadcast: &[bool],
        bytes: Option<Vec<u8>>,
    ) -> Option<LoopFunction> {
        let mut module = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let module = module.as_mut().expect("present until dropped");
        let mut context = module.make_context();
        set_signature(&mut context.func.signature);
        let function =
            module.declare_function("loop", Linkage::Local, &context.func.signature).ok()?;
        if let Some(bytes) = bytes {
            module.define_function_bytes(function, 64, &bytes, &[]).ok()?;
        } else {
            let mut names = FunctionBuilderContext::new();
            translate(program, is_broadcast, &mut context.func, &mut names, module.target_config());
            module.define_function(function, &mut context).ok()?;
        }
        module.finalize_definitions().ok()?;
        let start = module.get_finalized_function(function);
        // SAFETY: a function of this signature, in the system's calling convention.
        Some(unsafe { std::mem::transmute::<*const u8, LoopFunction>(start) })
    }
}

impl Drop for JitCode {
    fn drop(&mut self) {
        let module = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // SAFETY: the function cannot be called any more: every holder of it holds this value.
        module.into_iter().for_each(|module| unsafe { module.free_memory() });
    }
}

/// A memory provider that denies executable memory.
struct DeniedMemory;

impl JITMemoryProvider for DeniedMemory {
    fn allocate(&mut self, _: usize, _: u64, _: JITMemoryKind) -> io::Result<*mut u8> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    unsafe fn free_memory(&mut self) {}

    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        Err(ModuleError::Backend(io::Error::from(io::ErrorKind::PermissionDenied).into()))
    }
}
