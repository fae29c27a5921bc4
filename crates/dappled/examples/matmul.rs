//! Power iteration with matrix products: `matmul 300 20`, or `mpiexec -n 3 matmul 300 20`.

use dappled::prelude::*;

fn main() -> dappled::Result<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let [size, iterations] = arguments[..] else { panic!("usage: matmul SIZE ITERATIONS") };
    let cx = Context::init()?;
    let mut random = ParallelGenerator::new(&cx, 7);
    let a = random.uniform([size, size]);
    let symmetric = a.t().matmul(&a)?;
    let mut vector = Array::<f64>::ones(&cx, [size]);
    let mut eigenvalue = 0.0;
    for _ in 0..iterations {
        let product = symmetric.matmul(&vector)?;
        eigenvalue = product.square().sum()?.sqrt();
        vector = product / eigenvalue;
    }
    let error = (symmetric.matmul(&vector)? - eigenvalue * &vector).absolute().max()?;
    let has_converged = error <= 1e-12 * eigenvalue;
    if cx.rank() == 0 {
        println!("largest eigenvalue {eigenvalue:.6}, converged: {has_converged}");
    }
    Ok(())
}
