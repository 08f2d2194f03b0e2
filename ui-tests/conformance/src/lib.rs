//! Kernels that use the whole language (`kernels`) and kernels as they are deployed (`corpus`), each with a check of
//! its results. They are in one table, so that the same checks run in the simulator (`tests/simulator.rs`) and on a GPU
//! (`device_tests`), and the same kernels go through NVRTC (`tests/golden.rs`). What the compiler must refuse is in
//! `ui-tests/reject`.

pub mod corpus;
mod expect;
pub mod functions;
pub mod kernels;
pub mod machine_code;
pub mod toolkit;

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::__private::Function;
use phalanx::{Device, Program};

pub use expect::{Bits, equal, fails, failure, find, printed, same, same_text};

/// The result of a check: what was wrong, if something was.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A check of one or more kernels on a device.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// The check's name, unique in its module.
    pub name: &'static str,
    /// Launches the kernels and compares their results.
    pub run: fn(&Device) -> Outcome,
}

/// A kernel; if it is generic, one instance of it.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// The name in Rust, with its generic arguments.
    pub name: &'static str,
    /// Returns the kernel's program.
    pub program: fn() -> phalanx::Result<Program>,
}

impl Kernel {
    /// Describes the kernel of marker type `K`.
    pub const fn of<K: Function>(name: &'static str) -> Kernel {
        Kernel { name, program: Program::of::<K> }
    }
}

/// One file of kernels.
#[derive(Debug, Clone)]
pub struct Module {
    /// The file's name, followed by the name of a group of macro-made kernels.
    pub name: &'static str,
    /// The checks in the file.
    pub checks: Vec<Check>,
    /// The kernels in the file.
    pub kernels: Vec<Kernel>,
}

/// Makes a table of functions, each under its own name: `check_list![labels, values]`.
macro_rules! check_list {
    ($($name:ident),* $(,)?) => { vec![$($crate::Check { name: stringify!($name), run: $name }),*] };
}

/// Makes a table of kernels by their marker types: `kernel_list![share, sum<f32, 4>]`.
macro_rules! kernel_list {
    ($($kernel:ty),* $(,)?) => { vec![$($crate::Kernel::of::<$kernel>(stringify!($kernel))),*] };
}

/// Launches a kernel on a buffer of zeros, and reads it: `read!(device, 64, |out| share(&input, out).grid(4))`.
macro_rules! read {
    ($device:expr, $len:expr, |$out:ident| $launch:expr) => {{
        let mut buffer = $device.zeros($len)?;
        let $out = &mut buffer;
        $launch.launch($device)?;
        buffer.read()?
    }};
}

pub(crate) use {check_list, kernel_list, read};

/// Returns all modules: the language's features one by one, then kernels as they are deployed.
pub fn modules() -> Vec<Module> {
    [kernels::modules(), corpus::modules()].concat()
}

/// The result of [`run`].
#[derive(Debug, Default)]
pub struct Report {
    /// The number of checks that passed.
    pub passed: usize,
    /// The failed checks: `module::check` and what was wrong.
    pub failed: Vec<(String, String)>,
}

/// Runs the checks of the modules whose `module::check` contains `filter`, and tells `each` how each one ended.
pub fn run(modules: &[Module], device: &Device, filter: &str, mut each: impl FnMut(&str, Option<&str>)) -> Report {
    let mut report = Report::default();
    for module in modules {
        for check in &module.checks {
            let name = format!("{}::{}", module.name, check.name);
            if !name.contains(filter) {
                continue;
            }
            // A panic is a failed check, too, and the rest still runs.
            let outcome = catch_unwind(AssertUnwindSafe(|| (check.run)(device).map_err(|error| error.to_string())));
            match outcome.unwrap_or_else(|_| Err("panicked; see above".into())) {
                Ok(()) => {
                    each(&name, None);
                    report.passed += 1;
                }
                Err(error) => {
                    each(&name, Some(&error));
                    report.failed.push((name, error));
                }
            }
        }
    }
    report
}
