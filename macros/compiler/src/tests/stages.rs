//! Measures the cost of each stage of an expansion for `cargo xtask cost`, in an optimized build and in an unoptimized
//! one, as macros are in debug builds of their users. It judges nothing; `cost` measures the whole by rustc's own
//! clock.

use std::hint::black_box;
use std::time::{Duration, Instant};

use proc_macro2::TokenStream;
use syn::ItemFn;

use super::session;
use crate::diag::Diags;
use crate::model::Role;
use crate::{check, emit, parse};

/// Returns a cell of a table: the median of an odd number of rounds, in milliseconds.
fn median(rounds: usize, mut stage: impl FnMut()) -> String {
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        stage();
        times.push(start.elapsed());
    }
    times.sort();
    format!("{:.2}", times[rounds / 2].as_secs_f64() * 1000.0)
}

/// `KERNEL` is the path of a file with one kernel, preceded by its attribute and imports; `ROUNDS` is the number of measurements.
#[test]
#[ignore = "a measurement: `cargo xtask cost`"]
fn stages_of_an_expansion() {
    let path = std::env::var("KERNEL").expect("KERNEL is a path");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let text = &text[text.find("\nfn ").expect("it has a function")..];
    let rounds = std::env::var("ROUNDS").expect("ROUNDS is set").parse().expect("ROUNDS is a number");
    let tokens: TokenStream = text.parse().expect("it is made of tokens");
    let attribute = || "cluster = 2, block = 256".parse::<TokenStream>().expect("tokens");
    let item: ItemFn = syn::parse2(tokens.clone()).expect("it is Rust");
    let diags = || Diags::new(session());
    let options = || parse::options::kernel_options(attribute(), &mut diags());
    let read = || parse::function(&item, Role::Kernel, options(), &mut diags());
    let function = read();
    let checked = check::run(&function, &mut diags()).expect("the kernel is right");
    println!(
        "| {} | {} | {} | {} |",
        median(rounds, || drop(black_box(read()))),
        median(rounds, || drop(black_box(check::run(&function, &mut diags())))),
        median(rounds, || drop(black_box(emit::items(&checked)))),
        median(rounds, || drop(black_box(session().kernel(attribute(), tokens.clone())))),
    );
}
