//! `bench --device gpu` measures all showcases and writes the table as Markdown and JSON, with pictures. Each showcase
//! runs in a process of its own, so that one that breaks the GPU's context leaves the others their numbers.
//! `bench --device sim` runs the same kernels at small sizes.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

use clap::Parser;
use phalanx::Device;
use phalanx_bench::case::Showcase;
use phalanx_bench::run::{self, Measured};
use phalanx_bench::table::Table;
use phalanx_bench::{Result, atlas, library, plot, showcases, timing, twin};
use serde::de::DeserializeOwned;

/// The name of the atlas of distributed shared memory, for `--only`.
const ATLAS: &str = "atlas";

/// Measures kernels beside CUDA C++ written by hand and beside libraries.
#[derive(Parser)]
struct Arguments {
    /// Where to run: `gpu`, `gpu:1`, `sim`, or `auto` for a GPU if there is one.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Run only the showcases whose names contain this. It may be given several times.
    #[arg(long)]
    only: Vec<String>,
    /// List the showcases.
    #[arg(long)]
    list: bool,
    /// Leave the libraries out.
    #[arg(long)]
    no_libraries: bool,
    /// The folder for the table and the pictures.
    #[arg(long, default_value = "bench-results")]
    out: PathBuf,
    /// Measure one showcase and print what was measured as JSON.
    #[arg(long, hide = true)]
    one: Option<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let chosen: Vec<&Showcase> = showcases::ALL.iter().filter(|showcase| arguments.chooses(showcase)).collect();
    let with_atlas = arguments.chooses_atlas();
    if chosen.is_empty() && !with_atlas {
        return Err("no showcase has such a name; see `--list`".into());
    }
    if arguments.list {
        chosen.iter().for_each(|showcase| println!("{}: {}", showcase.name, showcase.about));
        println!("{ATLAS}: latency and bandwidth of distributed shared memory");
        return Ok(());
    }
    let device: Device = arguments.device.parse()?;
    if arguments.one.as_deref() == Some(ATLAS) {
        println!("{}", serde_json::to_string(&atlas::measure(&device)?)?);
        return Ok(());
    }
    if arguments.one.is_some() {
        println!("{}", serde_json::to_string(&run::measure(chosen[0], &device)?)?);
        return Ok(());
    }
    if device.is_simulator() {
        if twin::compiler_is_present() {
            timing::copy().cubin()?;
        }
        for showcase in &chosen {
            run::simulate(showcase, &device)?;
            if twin::compiler_is_present() {
                run::compile_twins(showcase)?;
            }
            println!("{}: right", showcase.name);
        }
        if with_atlas {
            atlas::measure(&device)?;
            println!("{ATLAS}: right");
        }
        return Ok(());
    }
    measure(arguments, &chosen, device.description())
}

impl Arguments {
    fn chooses(&self, showcase: &Showcase) -> bool {
        self.chooses_name(showcase.name)
    }

    fn chooses_atlas(&self) -> bool {
        self.chooses_name(ATLAS)
    }

    fn chooses_name(&self, name: &str) -> bool {
        match &self.one {
            Some(one) => name == one,
            None => self.only.is_empty() || self.only.iter().any(|part| name.contains(part)),
        }
    }
}

fn measure(arguments: &Arguments, chosen: &[&Showcase], device: String) -> Result<()> {
    fs::create_dir_all(&arguments.out)?;
    let mut measured = Measured::default();
    for showcase in chosen {
        match apart::<Measured>(showcase.name, &arguments.device) {
            Ok(one) => measured.join(one),
            Err(error) => measured.failures.push(format!("{}: {error}", showcase.name)),
        }
    }
    if arguments.chooses_atlas() {
        match apart::<Vec<atlas::Page>>(ATLAS, &arguments.device) {
            Ok(pages) => {
                fs::write(arguments.out.join("atlas.json"), serde_json::to_string_pretty(&pages)?)?;
                fs::write(arguments.out.join("atlas.md"), atlas::markdown(&pages))?;
                println!("{}", atlas::markdown(&pages));
            }
            Err(error) => measured.failures.push(format!("{ATLAS}: {error}")),
        }
    }
    let mut table = Table::new(device, measured);
    // What is known is on disk before the libraries begin.
    write(&table, &arguments.out)?;
    if !arguments.no_libraries {
        let problems = table.problems();
        match library::measure(&problems, &arguments.out) {
            Ok(answers) => problems.iter().zip(answers).for_each(|(problem, answer)| table.answer(problem, answer)),
            Err(error) => table.failures.push(format!("libraries: {error}")),
        }
        write(&table, &arguments.out)?;
    }
    println!("{}", table.markdown());
    if table.failures.is_empty() { Ok(()) } else { Err(format!("{} failed", table.failures.len()).into()) }
}

/// Measures a showcase, or the atlas, in another process.
fn apart<T: DeserializeOwned>(name: &str, device: &str) -> Result<T> {
    let mut command = Command::new(env::current_exe()?);
    let output = command.args(["--device", device, "--one", name]).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the process ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn write(table: &Table, folder: &Path) -> Result<()> {
    fs::write(folder.join("table.json"), serde_json::to_string_pretty(table)?)?;
    fs::write(folder.join("table.md"), table.markdown())?;
    plot::draw(table, folder)?;
    Ok(())
}
