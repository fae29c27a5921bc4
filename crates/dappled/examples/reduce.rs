//! Statistics of random numbers: `reduce 100000`, or `mpiexec -n 3 reduce 100000`.

use dappled::prelude::*;

fn main() -> dappled::Result<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let [count] = arguments[..] else { panic!("usage: reduce COUNT") };
    let cx = Context::init()?;
    let x = ParallelGenerator::new(&cx, 3).normal(10.0, 2.0, [count]);
    let outliers = x.masked(&(&x - 10.0).absolute().greater(6.0))?;
    let walk = (&x - 10.0).cumsum()?;
    let rows = x.reshape([-1, 10])?.mean_axis(1)?;
    let line = format!(
        "mean {:.9}, std {:.9}, maximum {:.9} at {}, {} outliers, walk ends at {:.6}, rows {:.9}",
        x.mean()?,
        x.std(1)?,
        x.max()?,
        x.argmax()?,
        outliers.len(),
        walk.get([-1])?,
        rows.var(0)?
    );
    if cx.rank() == 0 {
        println!("{line}");
    }
    Ok(())
}
