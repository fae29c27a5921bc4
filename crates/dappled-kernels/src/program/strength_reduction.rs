//! Strength reduction: replaces operations by cheaper ones with identical results.

use super::Program;
use crate::types::dtype::DType;
use crate::types::op::table::Op;
use crate::types::scalar::Scalar;

/// Replaces divisions by a constant power of two with multiplications by its reciprocal.
///
/// The reciprocal is exact, so both round the same number and the results have the same bits; the
/// multiplication is many times faster.
pub(crate) fn reduce_strength(program: &Program) -> Program {
    let mut program = program.clone();
    for at in 0..program.steps.len() {
        let step = &program.steps[at];
        let by = step.args.last().map_or(0, |arg| usize::from(arg.0));
        let constant =
            by.checked_sub(program.inputs.len()).and_then(|at| program.constants.get(at));
        let reciprocal = constant.filter(|_| step.op == Op::Divide).and_then(reciprocal);
        // The constant is replaced only if no other step or output reads it.
        let readers =
            program.steps.iter().flat_map(|step| &step.args).filter(|arg| usize::from(arg.0) == by);
        let is_output = program.outputs.iter().any(|reg| usize::from(reg.0) == by);
        if let Some(reciprocal) = reciprocal.filter(|_| readers.count() == 1 && !is_output) {
            program.steps[at].op = Op::Multiply;
            program.constants[by - program.inputs.len()] = reciprocal;
        }
    }
    program
}

/// The reciprocal of a constant, if it is exact.
fn reciprocal(constant: &Scalar) -> Option<Scalar> {
    match constant.dtype() {
        DType::Float64 => exact_reciprocal(constant.get::<f64>()?).map(Scalar::new),
        DType::Float32 => {
            exact_reciprocal(constant.get::<f32>()?.into()).map(|value| Scalar::new(value as f32))
        }
        _ => None,
    }
}

/// 1 / value, for powers of two between 2**-100 and 2**100, far from subnormal results.
fn exact_reciprocal(value: f64) -> Option<f64> {
    let is_power = value.to_bits() & ((1 << 52) - 1) == 0;
    let in_range = (2f64.powi(-100)..=2f64.powi(100)).contains(&value.abs());
    (is_power && in_range).then(|| 1.0 / value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided_by(constant: f64) -> String {
        let mut program = Program::new(vec![DType::Float64], vec![Scalar::new(constant)]);
        let quotient =
            program.push(Op::Divide, DType::Float64, &[program.input(0), program.constant(0)]);
        program.outputs.push(quotient);
        reduce_strength(&program).steps[0].to_string()
    }

    #[test]
    fn only_powers_of_two_have_a_reciprocal() {
        assert_eq!(divided_by(-4.0), "multiply float64 %0 %1");
        for other in [3.0, 0.0, 1e-310, f64::INFINITY, f64::NAN] {
            assert_eq!(divided_by(other), "divide float64 %0 %1");
        }
    }
}
