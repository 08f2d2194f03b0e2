//! Code shared by the examples: the options, a timed launch, the comparison with plain Rust, and the exit status. It
//! contains no kernels.

use std::error::Error;
use std::fmt::Debug;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use phalanx::{Buffer, Device, DeviceCopy};

/// The result of an example: success, or an error with a message.
pub type Outcome = Result<(), Box<dyn Error>>;

/// The options common to all examples.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Where to run: `gpu`, `gpu:1`, `sim`, or `auto` for a GPU if there is one.
    #[arg(long, default_value = "auto")]
    pub device: Device,
    /// Launch 20 more times, and show the times.
    #[arg(long)]
    pub time: bool,
}

/// The number of warm launches whose median `--time` shows.
const WARM: usize = 20;

impl Options {
    /// Launches the kernel and returns what it wrote into `output`. With `--time`, launches it 20 more times and shows the
    /// host's time for a launch and the wait for its end; the first, cold launch includes compilation.
    pub fn run<T: DeviceCopy>(
        &self,
        output: &mut Buffer<T>,
        mut launch: impl FnMut(&mut Buffer<T>) -> phalanx::Result<()>,
    ) -> phalanx::Result<Vec<T>> {
        println!("device: {}", self.device);
        let mut timed = |output: &mut Buffer<T>| {
            let start = Instant::now();
            launch(output).map(|()| start.elapsed())
        };
        let first = timed(output)?;
        let result = output.read()?;
        if self.time {
            let mut times = (0..WARM).map(|_| timed(output)).collect::<phalanx::Result<Vec<Duration>>>()?;
            times.sort();
            eprintln!("first launch, cold: {first:.1?}");
            eprintln!("median of {WARM} warm launches: {:.1?}", times[WARM / 2]);
        }
        Ok(result)
    }
}

/// Compares a kernel's result with that of plain Rust, and reports the first difference.
pub fn compare<T: Debug>(what: &str, kernel: &[T], rust: &[T], same: impl Fn(&T, &T) -> bool) -> Outcome {
    if kernel.len() != rust.len() {
        return Err(format!("{} {what}s, and plain Rust has {}", kernel.len(), rust.len()).into());
    }
    let mut different = kernel.iter().zip(rust).enumerate().filter(|(_, (kernel, rust))| !same(kernel, rust));
    match different.next() {
        None => Ok(()),
        Some((at, (kernel, rust))) => {
            let more = different.count();
            Err(format!("{what} {at} is {kernel:?}, and plain Rust says {rust:?}; {more} more differ").into())
        }
    }
}

/// Ends an example that has checked its result: prints `PASS`, or does as [`report`].
pub fn finish(outcome: Outcome) -> ExitCode {
    report(outcome.map(|()| println!("PASS")))
}

/// Ends a program: an error becomes a message and exit status 1.
pub fn report(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
