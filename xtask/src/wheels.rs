//! Downloads NVIDIA's wheels from PyPI, and keeps them unpacked in the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Result, at, output, run, target};

/// Returns the folder `target/store/name` with the contents of these wheels (`package==version`), which are downloaded
/// if it does not exist.
pub(crate) fn unpacked(store: &str, name: &str, wheels: &[String]) -> Result<PathBuf> {
    let store = target().join(store);
    let unpacked = store.join(name);
    if !unpacked.is_dir() {
        fs::create_dir_all(&store).map_err(at(&store))?;
        fetch(wheels, &store, &unpacked)?;
    }
    Ok(unpacked)
}

fn fetch(wheels: &[String], store: &Path, unpacked: &Path) -> Result<()> {
    println!("fetching {} into {}", wheels.join(", "), store.display());
    let python = || {
        let mut command = Command::new("python3");
        command.current_dir(store);
        command
    };
    output(python().args(["-m", "pip", "--version"]))?;
    // The wheels are unpacked under another name first, so that a folder of the right name is complete.
    let part = store.join("part");
    if part.exists() {
        fs::remove_dir_all(&part).map_err(at(&part))?;
    }
    let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", "part"];
    run(python().args(download).args(wheels))?;
    let entries = fs::read_dir(&part).map_err(at(&part))?.flatten().map(|entry| entry.path());
    let found: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "whl")).collect();
    if found.len() != wheels.len() {
        return Err(format!("pip downloaded {} wheels of {}", found.len(), wheels.len()));
    }
    for wheel in &found {
        run(python().args(["-m", "zipfile", "-e"]).args([wheel, &part]))?;
        fs::remove_file(wheel).map_err(at(wheel))?;
    }
    fs::rename(&part, unpacked).map_err(at(unpacked))
}
