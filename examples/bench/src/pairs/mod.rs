//! Kernels of other fields than the showcases', each beside a twin and no library: what a person would write first, most of them
//! without clusters. They show what the showcases do not: short loops, indexes from memory, narrow elements, conditions on data.

use std::cell::RefCell;

use phalanx::{Buffer, Device, DeviceCopy};

use crate::Result;
use crate::case::{Case, Showcase};
use crate::compare;
use crate::showcases::{Before, Enqueue, Map};
use crate::twin::{Argument, Call, Twin};

mod clusters;
mod codes;
mod dense;
mod fields;
mod graphics;
mod images;
mod losses;
mod meshes;
mod models;
mod pages;
mod physics;
mod sequences;
mod serving;
mod signals;
mod solvers;
mod sparse;
mod states;
mod tables;
mod tokens;
mod videos;

/// All pairs, in the order of the table.
pub const ALL: &[Showcase] = &[
    images::SHOWCASE,
    sequences::SHOWCASE,
    sparse::SHOWCASE,
    dense::SHOWCASE,
    physics::SHOWCASE,
    losses::SHOWCASE,
    states::SHOWCASE,
    codes::SHOWCASE,
    signals::SHOWCASE,
    meshes::SHOWCASE,
    clusters::SHOWCASE,
    models::SHOWCASE,
    solvers::SHOWCASE,
    graphics::SHOWCASE,
    tables::SHOWCASE,
    serving::SHOWCASE,
    pages::SHOWCASE,
    videos::SHOWCASE,
    fields::SHOWCASE,
    tokens::SHOWCASE,
];

/// The launches of both kernels.
struct Launches<I: DeviceCopy, O: DeviceCopy> {
    /// The twin's arguments after input and output.
    further: Vec<Argument>,
    ours: Box<Enqueue<I, O>>,
    /// What plain Rust computes of the input, with which the simulator's results are compared.
    want: Option<Box<Want<I>>>,
}

type Want<I> = dyn Fn(&[I]) -> Vec<f64>;

impl<I: DeviceCopy, O: DeviceCopy> Launches<I, O> {
    /// The results are those of plain Rust: the simulator compares them.
    fn like<T: Into<f64>>(self, want: impl Fn(&[I]) -> Vec<T> + 'static) -> Result<Launches<I, O>> {
        Ok(Launches { want: Some(Box::new(move |input| want(input).into_iter().map(T::into).collect())), ..self })
    }
}

/// Returns the launches of a twin with further arguments, and of our kernel.
fn launch<I: DeviceCopy, O: DeviceCopy>(
    further: impl Into<Vec<Argument>>,
    ours: impl FnMut(&Device, &Buffer<I>, &mut Buffer<O>) -> phalanx::Result<()> + 'static,
) -> Result<Launches<I, O>> {
    Ok(Launches { further: further.into(), ours: Box::new(ours), want: None })
}

/// A kernel that computes one array from another and some more, and its twin, which takes the addresses of both arrays first.
struct Pair {
    entry: &'static str,
    source: &'static str,
    size: (u64, &'static str),
    grid: u32,
    block: usize,
    cluster: u32,
    bytes: u64,
    before: Before,
}

impl Pair {
    /// A pair with the twin `entry` of a text, for a problem of some size and unit.
    fn new(entry: &'static str, source: &'static str, size: (u64, &'static str), grid: u32, block: usize) -> Pair {
        Pair { entry, source, size, grid, block, cluster: 1, bytes: 0, before: Before::Spoiled }
    }

    /// Launches so many blocks.
    fn grid(self, grid: u32) -> Pair {
        Pair { grid, ..self }
    }

    /// The blocks form clusters of this size.
    fn cluster(self, cluster: u32) -> Pair {
        Pair { cluster, ..self }
    }

    /// The bytes that any implementation must move.
    fn bytes(self, bytes: usize) -> Pair {
        Pair { bytes: bytes as u64, ..self }
    }

    /// The kernel adds to its output.
    fn adds(self) -> Pair {
        Pair { before: Before::Zeros, ..self }
    }

    /// Returns the case with an input of `host`, an output of `len` elements, and a closure that prepares the
    /// launches of both kernels. What both kernels compute is compared.
    fn case<I, O>(
        self,
        host: impl Fn() -> Vec<I> + 'static,
        len: usize,
        launches: impl Fn(&Device) -> Result<Launches<I, O>> + 'static,
    ) -> Case
    where
        I: DeviceCopy + Default + 'static,
        O: DeviceCopy + Default + Into<f64> + 'static,
    {
        let Pair { entry, source, size, grid, block, cluster, bytes, before } = self;
        Case {
            version: entry.into(),
            size: size.0,
            unit: size.1,
            bytes,
            twin: Twin::new(entry, source),
            library: None,
            prepare: Box::new(move |device| {
                let Launches { further, ours, want } = launches(device)?;
                let want = want.filter(|_| device.is_simulator());
                let twin = move |input, output| {
                    let arrays = [input, output].map(Argument::Word);
                    Call::new(grid, block, [&arrays[..], &further].concat()).cluster(cluster)
                };
                let first: RefCell<Option<Vec<O>>> = RefCell::new(None);
                Map::prepared(device, host(), len, before, ours, twin, move |host, read| {
                    let result = read(0..len)?;
                    if let Some(want) = &want {
                        let numbers = result.iter().map(|&x| x.into());
                        compare::close("the result of plain Rust", numbers, want(host), 1e-3)?;
                    }
                    match &*first.borrow() {
                        None => {}
                        Some(ours) => {
                            let numbers = |all: &[O]| all.iter().map(|&x| x.into()).collect::<Vec<f64>>();
                            return compare::close("the twin's result", numbers(&result), numbers(ours), 1e-3);
                        }
                    }
                    *first.borrow_mut() = Some(result);
                    Ok(())
                })
            }),
        }
    }
}
