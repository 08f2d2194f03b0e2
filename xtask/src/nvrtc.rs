//! Provides NVRTC for the tests, and the toolkit's headers with which one test compares the prelude, from NVIDIA's
//! wheels. NVRTC needs neither a GPU nor a driver.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::Result;
use crate::wheels;

/// The version of NVRTC that the tests use by default.
const VERSION: &str = "13.5.37";

/// The wheels of the headers: `<cooperative_groups.h>`, what it includes, and `<cuda/barrier>`.
const TOOLKIT: [&str; 3] = ["nvidia-cuda-runtime==13.5.37", "nvidia-cuda-crt==13.5.37", "nvidia-cuda-cccl==13.3.5.0.6"];

/// Returns the folder that holds libnvrtc: of the requested version, which is downloaded; otherwise what PHALANX_NVRTC
/// names, or, if that is unset, the downloaded default version.
pub(crate) fn folder(version: Option<&str>) -> Result<PathBuf> {
    if let (None, Some(folder)) = (version, env::var_os("PHALANX_NVRTC")) {
        return Ok(folder.into());
    }
    let version = version.unwrap_or(VERSION);
    let unpacked = wheels::unpacked("nvrtc", version, &[format!("nvidia-cuda-nvrtc=={version}")]).map_err(|error| {
        format!("{error}\nNVRTC is fetched from PyPI with python3 and pip; or set PHALANX_NVRTC to the folder of a libnvrtc.so.13")
    })?;
    Ok(unpacked.join("nvidia/cu13/lib"))
}

/// Returns the folder that holds the toolkit's headers: what PHALANX_TOOLKIT names, otherwise downloaded ones.
pub(crate) fn toolkit() -> Result<PathBuf> {
    if let Some(folder) = env::var_os("PHALANX_TOOLKIT") {
        return Ok(folder.into());
    }
    let unpacked = wheels::unpacked("toolkit", VERSION, &TOOLKIT.map(String::from)).map_err(|error| {
        format!("{error}\nCUDA's headers are fetched from PyPI with python3 and pip; or set PHALANX_TOOLKIT to the include folder of a toolkit")
    })?;
    Ok(unpacked.join("nvidia/cu13/include"))
}

/// Makes a command find NVRTC there, and the toolkit's headers. The library itself needs only PHALANX_NVRTC;
/// LD_LIBRARY_PATH is for versions of it that look for their parts by name.
pub(crate) fn with_nvrtc(mut command: Command, folder: &Path) -> Result<Command> {
    let others = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths =
        [folder.to_owned()].into_iter().chain(env::split_paths(&others).filter(|path| !path.as_os_str().is_empty()));
    let paths = env::join_paths(paths).map_err(|error| format!("LD_LIBRARY_PATH: {error}"))?;
    command.env("PHALANX_NVRTC", folder).env("PHALANX_TOOLKIT", toolkit()?).env("LD_LIBRARY_PATH", paths);
    Ok(command)
}
