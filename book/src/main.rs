//! Builds the book into `target/book`, or into the folder that is given. `cargo xtask book` runs it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/book");
    let folder = env::args_os().nth(1).map_or_else(default, PathBuf::from);
    match phalanx_book::build(&folder) {
        Ok(()) => {
            println!("the book is {}", folder.join("index.html").display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}
