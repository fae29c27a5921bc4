//! K-means clustering of random points: `kmeans 3000 5 10`, or under `mpiexec -n 3`.

use dappled::prelude::*;

fn main() -> dappled::Result<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let [points, clusters, iterations] = arguments[..] else {
        panic!("POINTS CLUSTERS ITERATIONS")
    };
    let cx = Context::init()?;
    let mut random = ParallelGenerator::new(&cx, 1);
    let shift = random.integers(0..clusters as i64, [points, 1]).cast::<f64>() * 10.0;
    let data = random.normal(0.0, 1.0, [points, 2]) + shift;
    let mut centers = data.slice(s![..clusters]).copy()?;
    let mut nearest = Array::<i64>::zeros(&cx, [points]);
    for _ in 0..iterations {
        let differences = data.slice(s![.., NewAxis, ..]) - centers.slice(s![NewAxis, .., ..]);
        nearest = differences.square().sum_axis(-1)?.argmin_axis(1)?;
        let next = centers.copy()?;
        for cluster in 0..clusters {
            let weights = nearest.equal(cluster as i64).cast::<f64>();
            let sums = (&data * weights.slice(s![.., NewAxis])).sum_axis(0)?;
            let count = weights.sum()?.max(1.0);
            next.slice(s![cluster]).assign(sums / count)?;
        }
        centers = next;
    }
    let sizes = (0..clusters as i64).map(|cluster| nearest.equal(cluster).sum());
    let sizes = sizes.collect::<dappled::Result<Vec<i64>>>()?;
    let spread = (&data - centers.take(&nearest)?).square().sum()?;
    if cx.rank() == 0 {
        println!("sizes {sizes:?}, sum of squares {spread:.6}");
    }
    Ok(())
}
