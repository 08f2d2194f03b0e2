//! Writes the programs: those by hand, and as many random ones as `PHALANX_FUZZ_COUNT` asks for, from the seed
//! `PHALANX_FUZZ_SEED`. Each is written twice, as device functions and as plain Rust.

#[path = "generate/mod.rs"]
mod generate;

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=generate");
    let text = generate::crate_text(variable("PHALANX_FUZZ_SEED", 1), variable("PHALANX_FUZZ_COUNT", 100));
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("programs.rs"), text).expect("the folder is writable");
}

fn variable(name: &str, default: u64) -> u64 {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}
