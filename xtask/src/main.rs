//! The commands of the project's developers, `cargo xtask ..`. Each runs the tools that the project is built with and
//! stops at the first one that fails. They are not needed to use the library.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

mod agree;
mod attack;
mod bench;
mod book;
mod bundle;
mod check;
mod cost;
mod fuzz;
mod mutate;
mod nvrtc;
mod packages;
mod rings;
mod run;
mod template;
mod test;
mod wheels;

/// Commands of the project's developers.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    /// Runs all tests, in the simulator and through NVRTC, which is downloaded; and on the GPU, if there is one.
    Test {
        /// The version of NVIDIA's wheel, such as 13.0.88, if it is another NVRTC than the tests' default.
        #[arg(long, value_name = "VERSION")]
        nvrtc: Option<String>,
        /// The arguments for `cargo test`: a part of the tests' names, `-- --nocapture`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Builds the examples and the tests that run on a GPU into ./bundle, with their kernels compiled, for a machine
    /// without cargo or NVRTC.
    Bundle,
    /// Measures the showcases on this machine's GPU, beside CUDA C++ written by hand and libraries.
    Bench {
        /// The arguments for the benchmark: `--only softmax`, `--out FOLDER`, `--no-libraries`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Compares the checks with the simulator on generated kernels.
    Agree {
        /// The duration in minutes.
        #[arg(long, default_value_t = 10.0)]
        minutes: f64,
    },
    /// Changes the tests' kernels as mistakes would, and runs in the simulator what still compiles.
    Attack {
        /// The duration in minutes.
        #[arg(long, default_value_t = 60.0)]
        minutes: f64,
        /// The seed that the mutants are chosen by.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Changes only the kernels of files whose names contain this.
        #[arg(long, default_value = "")]
        filter: String,
    },
    /// Compares random programs in plain Rust, in the simulator and as C++ on the host.
    Fuzz {
        /// The duration in minutes.
        #[arg(long, default_value_t = 10.0)]
        minutes: f64,
        /// The first seed; the next ones follow.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number of programs of each seed.
        #[arg(long, default_value_t = 200)]
        count: u64,
    },
    /// Measures what the macro adds to a build, and how long NVRTC takes for the corpus.
    Cost,
    /// Lists which rings of phase barriers are proved, and why others are not.
    Rings {
        /// A part of the names of the files that are listed, instead of all.
        file: Option<String>,
    },
    /// Switches each rule off in turn, and lists the tests that fail without it.
    Mutate,
    /// Builds the book from `docs/` into `target/book`.
    Book,
    /// Checks formatting, clippy and rustdoc, with warnings as errors.
    Check,
    /// Packs the published crates, and uses the packed ones in folders outside of the workspace.
    Packages,
    /// Creates a crate with a first kernel and its tests.
    New {
        /// The crate's folder, which does not exist yet and whose name it gets.
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Test { nvrtc, arguments } => test::test(nvrtc.as_deref(), &arguments),
        Command::Bundle => bundle::bundle(),
        Command::Bench { arguments } => bench::bench(&arguments),
        Command::Agree { minutes } => agree::agree(minutes),
        Command::Attack { minutes, seed, filter } => attack::attack(minutes, seed, &filter),
        Command::Fuzz { minutes, seed, count } => fuzz::fuzz(minutes, seed, count),
        Command::Cost => cost::cost(),
        Command::Rings { file } => rings::rings(&file.unwrap_or_default()),
        Command::Mutate => mutate::mutate(),
        Command::Book => book::book(),
        Command::Check => check::check(),
        Command::Packages => packages::packages(),
        Command::New { folder } => template::new(&folder),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn test(line: &str) -> (Option<String>, Vec<String>) {
        match Command::try_parse_from(line.split(' ')) {
            Ok(Command::Test { nvrtc, arguments }) => (nvrtc, arguments),
            Ok(other) => panic!("`{line}` is no test: {other:?}"),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_version_of_nvrtc_is_none_of_cargo_s_arguments() {
        assert_eq!(test("xtask test"), (None, Vec::new()));
        assert_eq!(test("xtask test --nvrtc 13.0.88"), (Some("13.0.88".into()), Vec::new()));
        let rest = ["-p", "phalanx", "--", "--nocapture"].map(String::from).to_vec();
        assert_eq!(test("xtask test -p phalanx -- --nocapture"), (None, rest.clone()));
        assert_eq!(test("xtask test --nvrtc 13.0.88 -p phalanx -- --nocapture"), (Some("13.0.88".into()), rest));
        assert!(Command::try_parse_from(["xtask", "test", "--nvrtc"]).is_err());
    }
}
