//! NVRTC for the tests: NVIDIA's wheel from PyPI, unpacked into the target folder and kept there. It compiles with no
//! GPU and no driver in the machine.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::run::{Result, at, output, run, target};

/// The version that the tests are kept green with.
const VERSION: &str = "13.5.37";

/// The folder that holds libnvrtc: of the version that is asked for, which is fetched; else what PHALANX_NVRTC names, and
/// where it names none the fetched one that the tests are kept green with.
pub(crate) fn folder(version: Option<&str>) -> Result<PathBuf> {
    if let (None, Some(folder)) = (version, env::var_os("PHALANX_NVRTC")) {
        return Ok(folder.into());
    }
    let version = version.unwrap_or(VERSION);
    let store = target().join("nvrtc");
    let unpacked = store.join(version);
    let libraries = unpacked.join("nvidia/cu13/lib");
    if !libraries.is_dir() {
        fs::create_dir_all(&store).map_err(at(&store))?;
        fetch(version, &store, &unpacked).map_err(|error| {
            format!("{error}\nNVRTC is fetched from PyPI with python3 and pip; or set PHALANX_NVRTC to the folder of a libnvrtc.so.13")
        })?;
    }
    Ok(libraries)
}

/// A command that finds NVRTC there. The library itself needs PHALANX_NVRTC only; LD_LIBRARY_PATH is for versions of it
/// that look for their parts by name.
pub(crate) fn with_nvrtc(mut command: Command, folder: &PathBuf) -> Result<Command> {
    let others = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths =
        [folder.clone()].into_iter().chain(env::split_paths(&others).filter(|path| !path.as_os_str().is_empty()));
    let paths = env::join_paths(paths).map_err(|error| format!("LD_LIBRARY_PATH: {error}"))?;
    command.env("PHALANX_NVRTC", folder).env("LD_LIBRARY_PATH", paths);
    Ok(command)
}

fn fetch(version: &str, store: &PathBuf, unpacked: &PathBuf) -> Result<()> {
    println!("fetching NVRTC {version} into {}", store.display());
    let python = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.current_dir(store).args(arguments);
        command
    };
    output(&mut python(&["-m", "pip", "--version"]))?;
    let package = format!("nvidia-cuda-nvrtc=={version}");
    run(&mut python(&[
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
        ".",
        &package,
    ]))?;

    let entries = fs::read_dir(store).map_err(at(store))?.flatten();
    let mut wheels = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "whl"));
    let wheel = wheels.next().ok_or("pip downloaded no wheel")?;
    // Unpacked under another name, so that a folder of the right name is a whole one.
    let part = store.join("part");
    if part.exists() {
        fs::remove_dir_all(&part).map_err(at(&part))?;
    }
    run(python(&["-m", "zipfile", "-e"]).args([&wheel, &part]))?;
    fs::rename(&part, unpacked).map_err(at(unpacked))?;
    fs::remove_file(&wheel).map_err(at(&wheel))
}
