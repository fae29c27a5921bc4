//! Files that all ranks write and read, compared with the elements in C order.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use dappled::protocol::Distribution;
use dappled::protocol::slice::KeyItem;
use dappled::{Array, Error, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::DType;
use dappled_kernels::element::bytes_of;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];

/// A path that no other test uses.
fn temporary_path() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("dappled-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    std::env::temp_dir().join(name)
}

fn on_ranks<T: Send>(ranks: u64, run: impl Fn(&Session) -> T + Sync) -> Vec<T> {
    let limits = Limits { replicate_below: 0, eager_max: 0 };
    Threads::run(ranks, |fabric| run(&Session::with_limits(Box::new(fabric), limits)))
}

fn elements(shape: &[usize]) -> Vec<f64> {
    (0..shape.iter().product::<usize>()).map(|at| at as f64 + 0.5).collect()
}

#[test]
fn written_files_have_the_elements_in_c_order() {
    for ranks in RANKS {
        for (shape, kinds) in [
            (&[100][..], "b"),
            (&[100], "c"),
            (&[13, 5], "nb"),
            (&[6, 1, 7], "cbn"),
            (&[0, 3], "bn"),
        ] {
            let path = temporary_path();
            on_ranks(ranks, |session| {
                let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
                let spec = Distribution::spec(&lengths).dist(kinds).nprocs(ranks);
                let array = Array::from_slice(session, shape, &elements(shape));
                let array = array.redistribute(&spec.build().unwrap()).unwrap();
                array.write_raw(&path, b"header").unwrap();
            });
            let expected = [b"header", bytes_of(&elements(shape))].concat();
            assert_eq!(fs::read(&path).unwrap(), expected, "{ranks} ranks, {shape:?} {kinds}");
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn views_are_written_in_their_own_order() {
    for ranks in RANKS {
        let path = temporary_path();
        on_ranks(ranks, |session| {
            let array = Array::from_slice(session, &[4, 6], &elements(&[4, 6]));
            let columns = KeyItem::Slice(None, None, Some(-2));
            let view = array.slice(&[KeyItem::Ellipsis, columns]).unwrap().transposed(&[1, 0]);
            view.write_raw(&path, b"").unwrap();
        });
        let expected: Vec<f64> =
            (0..12).map(|at| ((at % 4) * 6 + 5 - 2 * (at / 4)) as f64 + 0.5).collect();
        assert_eq!(fs::read(&path).unwrap(), bytes_of(&expected), "{ranks} ranks");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn each_rank_reads_its_box() {
    for ranks in RANKS {
        for (shape, kinds) in [
            (&[100][..], "b"),
            (&[13, 5], "bn"),
            (&[13, 5], "nb"),
            (&[8, 9, 7], "bbb"),
            (&[3, 0], "bn"),
        ] {
            let path = temporary_path();
            fs::write(&path, [b"header", bytes_of(&elements(shape))].concat()).unwrap();
            let read = on_ranks(ranks, |session| {
                let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
                let spec = Distribution::spec(&lengths).dist(kinds).nprocs(ranks);
                let blocks = spec.build().unwrap();
                let array = Array::read_raw(session, &path, 6, DType::Float64, blocks).unwrap();
                array.to_vec::<f64>().unwrap()
            });
            let is_equal = |values: &Vec<f64>| *values == elements(shape);
            assert!(read.iter().all(is_equal), "{ranks} ranks, {shape:?} {kinds}");
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn npy_files_keep_shape_and_dtype() {
    for ranks in RANKS {
        let path = temporary_path();
        let loaded = on_ranks(ranks, |session| {
            let values: Vec<i16> = (0..91).collect();
            Array::from_slice(session, &[13, 7], &values).save_npy(&path).unwrap();
            let loaded = Array::load_npy(session, &path).unwrap();
            (loaded.shape().to_vec(), loaded.dtype(), loaded.to_vec::<i16>().unwrap() == values)
        });
        assert!(loaded.iter().all(|one| *one == (vec![13, 7], DType::Int16, true)), "{loaded:?}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn an_error_of_one_rank_is_an_error_on_all() {
    for ranks in RANKS {
        let missing = temporary_path().join("missing");
        let errors = on_ranks(ranks, |session| {
            let array = Array::from_slice(session, &[100], &elements(&[100]));
            let written = array.write_raw(&missing, b"");
            let blocks = session.block_distribution(&[100]);
            let read = Array::read_raw(session, &missing, 0, DType::Float64, blocks).map(drop);
            [written, read, Array::load_npy(session, &missing).map(drop)]
        });
        for error in errors.into_iter().flatten() {
            let Err(Error::File(error)) = error else { panic!("{error:?}") };
            assert_eq!((error.code, error.rank), (Some(2), 0));
        }
        // Only the last rank reads beyond the end.
        let path = temporary_path();
        fs::write(&path, bytes_of(&elements(&[99]))).unwrap();
        let errors = on_ranks(ranks, |session| {
            let blocks = session.block_distribution(&[100]);
            Array::read_raw(session, &path, 0, DType::Float64, blocks).map(drop)
        });
        for error in errors {
            let text = error.unwrap_err().to_string();
            assert!(text.starts_with("the file ends before the array"), "{text}");
        }
        fs::remove_file(&path).unwrap();
    }
}
