//! From a program to executable memory. All that is unsafe in this crate is here.

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{BranchProtection, JITBuilder, JITMemoryKind, JITMemoryProvider, JITModule};
use cranelift_module::{Linkage, Module, ModuleError, ModuleResult, default_libcall_names};
use dappled_kernels::{FusedLoop, LoopFunction, Program, Variant};

use crate::translate::{signature, translate, width};
use crate::wide;

/// A program as a loop; None where the system refuses executable memory or the CPU is not known.
pub fn compile(
    program: &Program,
    repeated: &[bool],
    variant: Variant,
    refused: bool,
) -> Option<FusedLoop> {
    let wide = (variant >= Variant::Avx2 && cfg!(unix)).then(|| wide::function(program, repeated));
    let wide = wide.flatten();
    let block = if wide.is_some() { wide::BLOCK } else { width(program).block() };
    let mut builder = JITBuilder::with_isa(target()?, default_libcall_names());
    if refused {
        builder.memory_provider(Box::new(Refused));
    }
    let code = Code(Mutex::new(Some(JITModule::new(builder))));
    let function = code.define(program, repeated, wide)?;
    // SAFETY: the function is what `translate` or `wide` writes, for this CPU: it reads and writes
    // what a call of a loop may, from the first element to the last, if there is a block of them.
    // `code` keeps its memory.
    Some(unsafe { FusedLoop::new(function, block, Box::new(code)) })
}

/// The CPU at hand, if loops can be made for it.
fn target() -> Option<OwnedTargetIsa> {
    static TARGET: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    TARGET.get_or_init(found).clone()
}

fn found() -> Option<OwnedTargetIsa> {
    // Rounding and comparing vectors of integers would be calls on CPUs from before 2011.
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("sse4.2") {
        return None;
    }
    let mut flags = settings::builder();
    for (name, value) in [
        // What is simplified away signals nothing any more; and two comparisons and a choice are
        // not to become an instruction that knows no NaN.
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

/// A module of one function. Its memory is freed with it.
struct Code(Mutex<Option<JITModule>>);

impl Code {
    /// The function of these bytes, or one by Cranelift.
    fn define(
        &self,
        program: &Program,
        repeated: &[bool],
        bytes: Option<Vec<u8>>,
    ) -> Option<LoopFunction> {
        let mut module = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let module = module.as_mut().expect("there until it is dropped");
        let mut context = module.make_context();
        signature(&mut context.func.signature);
        let function =
            module.declare_function("loop", Linkage::Local, &context.func.signature).ok()?;
        if let Some(bytes) = bytes {
            module.define_function_bytes(function, 64, &bytes, &[]).ok()?;
        } else {
            let mut names = FunctionBuilderContext::new();
            translate(program, repeated, &mut context.func, &mut names, module.target_config());
            module.define_function(function, &mut context).ok()?;
        }
        module.finalize_definitions().ok()?;
        let start = module.get_finalized_function(function);
        // SAFETY: a function of this signature, in the system's calling convention.
        Some(unsafe { std::mem::transmute::<*const u8, LoopFunction>(start) })
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // SAFETY: nobody can call the function any more: whoever has it holds this.
        module.into_iter().for_each(|module| unsafe { module.free_memory() });
    }
}

/// A system that gives no executable memory.
struct Refused;

impl JITMemoryProvider for Refused {
    fn allocate(&mut self, _: usize, _: u64, _: JITMemoryKind) -> io::Result<*mut u8> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    unsafe fn free_memory(&mut self) {}

    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        Err(ModuleError::Backend(io::Error::from(io::ErrorKind::PermissionDenied).into()))
    }
}
