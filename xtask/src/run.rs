//! Runs other programs, and knows the project's folders.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A result whose error is a text for the developer.
pub(crate) type Result<T, E = String> = std::result::Result<T, E>;

/// Returns the workspace's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace")
}

/// Returns the folder where cargo builds.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns a command for the cargo that runs this program, in the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// Runs a command to its end. It must exist and succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| cannot_run(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", shown(command))) }
}

/// Runs a command to its end and returns what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| cannot_run(command, &error))?;
    if !output.status.success() {
        let written = String::from_utf8_lossy(&output.stdout);
        return Err(format!("{written}{} ended with {}", shown(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} wrote no text", shown(command)))
}

/// What a build that failed said.
pub(crate) struct Failure {
    /// rustc's diagnostics (The rustc book, JSON output).
    pub(crate) diagnostics: Vec<Value>,
    pub(crate) stderr: String,
}

/// Runs cargo, which must have `--message-format=json` among its arguments.
pub(crate) fn build(command: &mut Command) -> Result<Result<(), Failure>> {
    let output = command.output().map_err(|error| cannot_run(command, &error))?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let stdout = text(&output.stdout);
    let messages = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let diagnostics = messages.map(|mut message| message["message"].take()).collect();
    Ok(Err(Failure { diagnostics, stderr: text(&output.stderr) }))
}

/// A program that cargo built.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Returns the programs, or tests, that cargo builds with these arguments.
pub(crate) fn programs(arguments: &[&str]) -> Result<Vec<Program>> {
    built_by(&mut cargo(arguments))
}

/// Returns the programs, or tests, that a command of cargo builds.
pub(crate) fn built_by(command: &mut Command) -> Result<Vec<Program>> {
    let messages = output(command.arg("--message-format=json-render-diagnostics"))?;
    let built = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = PathBuf::from(message["executable"].as_str()?);
        Some(Program { name: message["target"]["name"].as_str()?.into(), path })
    });
    let built: Vec<Program> = built.collect();
    if built.is_empty() { Err(format!("{} built no program", shown(command))) } else { Ok(built) }
}

fn cannot_run(command: &Command, error: &std::io::Error) -> String {
    let program = command.get_program().display();
    match error.kind() {
        ErrorKind::NotFound => format!("{program} was not found; install it, or put it on the PATH"),
        _ => format!("{program} cannot be run: {error}"),
    }
}

fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Adds the path to an error.
pub(crate) fn at(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

/// Returns all files below a folder.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(at(&folder))? {
            let path = entry.map_err(at(&folder))?.path();
            if path.is_dir() { &mut folders } else { &mut found }.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Creates a crate that uses the library, and returns the path of its one file.
pub(crate) fn crate_of(folder: &Path, name: &str) -> Result<PathBuf> {
    fs::create_dir_all(folder.join("src")).map_err(at(folder))?;
    let manifest = format!(
        "[package]\nname = {name:?}\nedition = \"2024\"\n[dependencies]\nphalanx = {{ path = {:?} }}\n[workspace]\n",
        root().join("runtime")
    );
    fs::write(folder.join("Cargo.toml"), manifest).map_err(at(folder))?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(at(folder))?;
    Ok(folder.join("src/lib.rs"))
}
