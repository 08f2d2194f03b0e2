//! Writes the programs, each twice, as device functions and as plain Rust: those by hand, those of the file that
//! `PHALANX_FUZZ_FILE` names, and as many random ones as `PHALANX_FUZZ_COUNT` asks for, from the seed
//! `PHALANX_FUZZ_SEED`, without those that `PHALANX_FUZZ_WITHOUT` names because rustc refuses them.

#[path = "generate/mod.rs"]
mod generate;

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=generate");
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    let (seed, count) = (number("PHALANX_FUZZ_SEED", 1), number("PHALANX_FUZZ_COUNT", 60));
    let without = variable("PHALANX_FUZZ_WITHOUT").unwrap_or_default();
    let without: Vec<&str> = without.split(',').collect();
    let file = variable("PHALANX_FUZZ_FILE").map_or(String::new(), |path| {
        println!("cargo::rerun-if-changed={path}");
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    });
    let text = generate::write(Path::new(&folder), &file, seed, count, &without);
    fs::write(Path::new(&folder).join("programs.rs"), text).expect("the folder is writable");
}

fn variable(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).ok()
}

fn number(name: &str, default: u64) -> u64 {
    variable(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}
