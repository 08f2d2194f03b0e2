//! Measures the cost of each stage of an expansion for `cargo xtask cost`, in an optimized build and in an unoptimized
//! one, as macros are in debug builds of their users. It judges nothing; `cost` measures the whole by rustc's own
//! clock.

use std::hint::black_box;
use std::time::{Duration, Instant};

use syn::ItemFn;

use super::session;
use crate::diag::Diags;
use crate::model::{Function, Role};
use crate::{check, emit, parse};

const ROUNDS: usize = 101;

/// Returns a cell of a table: the median, in milliseconds.
fn median(mut stage: impl FnMut()) -> String {
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        stage();
        times.push(start.elapsed());
    }
    times.sort();
    format!("{:.2}", times[ROUNDS / 2].as_secs_f64() * 1000.0)
}

/// `KERNEL` is the path of a file with one kernel, preceded by its attribute and imports.
#[test]
#[ignore = "a measurement: `cargo xtask cost`"]
fn stages_of_an_expansion() {
    let path = std::env::var("KERNEL").expect("KERNEL is a path");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let text = &text[text.find("\nfn ").expect("it has a function")..];
    let item: ItemFn = syn::parse_str(text).expect("it is Rust");
    let diags = || Diags::new(session());
    let options = || parse::options::kernel_options("cluster = 2, block = 256".parse().expect("tokens"), &mut diags());
    let read = || Function { options: options(), ..parse::function(&item, Role::Kernel, &mut diags()) };
    let function = read();
    let checked = check::run(&function, &mut diags()).expect("the kernel is right");
    println!(
        "| {} | {} | {} |",
        median(|| drop(black_box(read()))),
        median(|| drop(black_box(check::run(&function, &mut diags())))),
        median(|| drop(black_box(emit::items(&checked)))),
    );
}
