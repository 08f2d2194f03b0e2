//! `bench --device gpu` measures all showcases and writes the table as Markdown and JSON, with pictures. Each part runs
//! in a process of its own, so that one that breaks the GPU's context leaves the others their numbers.
//! `bench --device sim` runs the same kernels at small sizes.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use std::{env, fs};

use clap::Parser;
use phalanx::Device;
use phalanx_bench::part::Part;
use phalanx_bench::run::Measured;
use phalanx_bench::table::Table;
use phalanx_bench::{Result, atlas, host, launches, library, plot, process, tensor};
use serde_json::Value;

/// The longest that a part may take.
const LIMIT: Duration = Duration::from_secs(180);

/// Measures kernels beside CUDA C++ written by hand and beside libraries.
#[derive(Parser)]
struct Arguments {
    /// Where to run: `gpu`, `gpu:1`, `sim`, or `auto` for a GPU if there is one.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Run only the parts whose names contain this. It may be given several times.
    #[arg(long)]
    only: Vec<String>,
    /// List the parts.
    #[arg(long)]
    list: bool,
    /// Leave the libraries out.
    #[arg(long)]
    no_libraries: bool,
    /// The folder for the table and the pictures.
    #[arg(long, default_value = "bench-results")]
    out: PathBuf,
    /// Measure one part and print what was measured as JSON.
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
    let parts: Vec<Part> = Part::all().into_iter().filter(|part| arguments.chooses(part.name())).collect();
    if parts.is_empty() {
        return Err("nothing has such a name; see `--list`".into());
    }
    if arguments.list {
        parts.iter().for_each(|part| println!("{}: {}", part.name(), part.about()));
        return Ok(());
    }
    let device: Device = arguments.device.parse()?;
    if arguments.one.is_some() {
        println!("{}", parts[0].measure(&device)?);
        return Ok(());
    }
    if device.is_simulator() {
        for part in parts {
            part.rehearse(&device)?;
            println!("{}: right", part.name());
        }
        return Ok(());
    }
    measure(arguments, &parts, device.description())
}

impl Arguments {
    fn chooses(&self, name: &str) -> bool {
        match &self.one {
            Some(one) => name == one,
            None => self.only.is_empty() || self.only.iter().any(|part| name.contains(part)),
        }
    }
}

fn measure(arguments: &Arguments, parts: &[Part], device: String) -> Result<()> {
    let folder = &arguments.out;
    fs::create_dir_all(folder)?;
    let mut measured = Measured::default();
    for part in parts {
        let added =
            measured_apart(*part, &arguments.device).and_then(|value| add(*part, value, &mut measured, arguments));
        if let Err(error) = added {
            measured.failures.push(format!("{}: {error}", part.name()));
        }
    }
    if measured.rows.is_empty() && measured.failures.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(device, measured);
    // What is known is on disk before the libraries begin.
    write(&table, folder)?;
    let problems = table.problems();
    if !arguments.no_libraries && !problems.is_empty() {
        let answers = library::measure(&problems, folder)?;
        problems.iter().zip(answers).for_each(|(problem, answer)| table.answer(problem, answer));
        write(&table, folder)?;
    }
    println!("{}", table.markdown());
    if table.failures.is_empty() { Ok(()) } else { Err(format!("{} failed", table.failures.len()).into()) }
}

/// Measures a part in another process.
fn measured_apart(part: Part, device: &str) -> Result<Value> {
    let mut command = Command::new(env::current_exe()?);
    let output = process::output(command.args(["--device", device, "--one", part.name()]), LIMIT)?;
    Ok(serde_json::from_slice(&output)?)
}

/// Adds what was measured of a part to the table, or writes it where it is no row.
fn add(part: Part, value: Value, measured: &mut Measured, arguments: &Arguments) -> Result<()> {
    let folder = &arguments.out;
    let page = match part {
        Part::Showcase(_) => {
            measured.join(serde_json::from_value(value)?);
            return Ok(());
        }
        Part::Atlas => atlas::markdown(&serde_json::from_value::<Vec<atlas::Page>>(value.clone())?),
        Part::Launches => launches::markdown(&serde_json::from_value(value.clone())?),
        Part::Host => host::markdown(&serde_json::from_value(value.clone())?),
        Part::Tensor => {
            let measured: tensor::Measured = serde_json::from_value(value.clone())?;
            let problems: Vec<Value> = measured.rows.iter().map(|row| row.problem.clone()).collect();
            let answers = if arguments.no_libraries { Vec::new() } else { library::measure(&problems, folder)? };
            tensor::markdown(&measured, &answers)
        }
    };
    println!("{page}");
    fs::write(folder.join(format!("{}.json", part.name())), serde_json::to_string_pretty(&value)?)?;
    fs::write(folder.join(format!("{}.md", part.name())), page)?;
    Ok(())
}

fn write(table: &Table, folder: &Path) -> Result<()> {
    fs::write(folder.join("table.json"), serde_json::to_string_pretty(table)?)?;
    fs::write(folder.join("table.md"), table.markdown())?;
    plot::draw(table, folder)?;
    Ok(())
}
