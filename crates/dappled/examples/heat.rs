//! Heat equation on a periodic rod: `heat 1000 200`, or `mpiexec -n 3 heat 1000 200`.

use dappled::prelude::*;

fn main() -> dappled::Result<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let [cells, steps] = arguments[..] else { panic!("usage: heat CELLS STEPS") };
    let cx = Context::init()?;
    let x = Array::<f64>::linspace(&cx, 0.0, 1.0, cells);
    let u = (-(x - 0.5).square() * 100.0).exp();
    let before = u.sum()?;
    for _ in 0..steps {
        let left = Array::concatenate(&[&u.slice(s![-1..]), &u.slice(s![..-1])], 0)?;
        let right = Array::concatenate(&[&u.slice(s![1..]), &u.slice(s![..1])], 0)?;
        u.assign(&u + 0.25 * (left - 2.0 * &u + right))?;
    }
    let (peak, after) = (u.max()?, u.sum()?);
    if cx.rank() == 0 {
        println!("peak {peak:.12} at cell {}, heat changed by {:.1e}", cells / 2, after - before);
    }
    Ok(())
}
