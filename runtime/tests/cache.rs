//! The folder of compiled kernels, which processes share: one compiles, the others read, and what was changed there is compiled anew. Nothing is tested where
//! there is no NVRTC.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use phalanx::prelude::*;
use phalanx::{Archive, Error, Program};

/// The number of kernels.
const KERNELS: usize = 3;

#[cluster_kernel(block = 32)]
fn scale<T: Number>(values: &mut [T], factor: T) {
    values[this_grid().thread_rank()] *= factor;
}

/// Compiles the kernels, or reads them from the folder.
fn compile() -> phalanx::Result<()> {
    let mut archive = Archive::new(["sm_90a"])?;
    for program in [Program::of::<scale<f32>>()?, Program::of::<scale<i64>>()?, Program::of::<scale<u8>>()?] {
        archive.add(&program)?;
    }
    Ok(())
}

/// Begins to compile in another process, which writes a line to `count` for each compilation.
fn begin(cache: &Path, count: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "processes_share_a_folder", "--nocapture"]).env("PHALANX_TEST_CACHE", "1");
    command.env("PHALANX_CACHE", cache).env("PHALANX_NVRTC_COUNT", count).env_remove("PHALANX_CUBINS");
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// Returns how much so many processes compile together.
fn compilations(cache: &Path, processes: usize) -> usize {
    let count = cache.join("count");
    let children: Vec<Child> = (0..processes).map(|_| begin(cache, &count)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let lines = fs::read_to_string(&count).unwrap_or_default().lines().count();
    let _ = fs::remove_file(count);
    lines
}

fn cubins(cache: &Path) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "cubin")).collect()
}

#[test]
fn processes_share_a_folder() {
    if env::var_os("PHALANX_TEST_CACHE").is_some() {
        return compile().unwrap();
    }
    if let Err(missing @ Error::NvrtcMissing { .. }) = Program::of::<scale<f32>>().unwrap().compile("sm_90a") {
        assert!(env::var_os("PHALANX_REQUIRE_NVRTC").is_none(), "{missing}");
        return eprintln!("not run: {missing}");
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    // At once, so that several find nothing and write the same files.
    let first = compilations(cache, 4);
    let all = cubins(cache);
    // For every launch, and for most.
    assert_eq!(all.len(), 2 * KERNELS);
    assert!((all.len()..=4 * all.len()).contains(&first), "{first}");
    assert_eq!(fs::read_dir(cache).unwrap().count(), all.len(), "nothing unfinished is left");
    assert_eq!(compilations(cache, 2), 0, "a second process compiles nothing");

    // Changed, cut short, and another kernel's.
    let mut bytes = fs::read(&all[0]).unwrap();
    bytes[100] ^= 1;
    fs::write(&all[0], &bytes).unwrap();
    fs::write(&all[1], &bytes[..50]).unwrap();
    fs::copy(&all[3], &all[2]).unwrap();
    assert_eq!(compilations(cache, 1), 3);
    assert_eq!(compilations(cache, 1), 0, "they were written anew");
}
