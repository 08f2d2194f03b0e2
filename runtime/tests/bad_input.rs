//! What a machine or a program can have wrong, and what the errors say to do about it. Each fault is one of a process, which is therefore a child of
//! the test's. Those that need a GPU, a compiler of C or NVRTC say so where there is none.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use phalanx::prelude::*;
use phalanx::{Error, Program};

/// Names the fault in the child.
const FAULT: &str = "PHALANX_TEST_FAULT";

/// Writes to an address that no memory has.
#[cluster_kernel(block = 32)]
fn wild(out: &mut [u32], address: u64) {
    out[this_grid().thread_rank()] = 1;
    // SAFETY: the test is what the host makes of it.
    unsafe {
        cuda!("*reinterpret_cast<unsigned*>(address.value) = 7;", in(address); else |_address| ());
    }
}

/// Runs this test again in another process, whose output is returned if it succeeds.
fn child(test: &str, variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(FAULT, test).env("PHALANX_CACHE", "off");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{}: {text}", output.status);
    text
}

fn is_child() -> bool {
    env::var_os(FAULT).is_some()
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

/// A driver that says that it is one of CUDA 12.8, and has nothing else.
#[cfg(target_os = "linux")]
#[test]
fn a_driver_that_is_too_old() {
    if is_child() {
        println!("{}", Device::gpu(0).unwrap_err());
        return println!("{}", Device::auto());
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("cuda.c"), folder.path().join("libcuda.so.1"));
    let text =
        "int cuInit(unsigned flags) { return 0; } int cuDriverGetVersion(int *version) { *version = 12080; return 0; }";
    fs::write(&source, text).unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    if !compiled.is_ok_and(|status| status.success()) {
        return eprintln!("not run: there is no compiler `cc`");
    }
    fs::copy(&library, folder.path().join("libcuda.so")).unwrap();
    let said = child("a_driver_that_is_too_old", &[("LD_LIBRARY_PATH", folder.path())]);
    let parts = [
        "it supports CUDA 12.8, but a driver for 13.0 or newer is needed; update it",
        "simulator (the CUDA driver is too old",
    ];
    contains(&said, &parts);
}

/// An NVRTC whose other half is not there.
#[test]
fn a_failing_nvrtc() {
    if is_child() {
        let error = Program::of::<wild>().unwrap().compile("sm_90a").unwrap_err();
        assert!(matches!(error, Error::Nvrtc { .. }), "{error}");
        return println!("{error}");
    }
    let library = env::var_os("PHALANX_NVRTC").and_then(|folder| {
        let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
        files.into_iter().find(|path| path.ends_with("libnvrtc.so.13"))
    });
    let Some(library) = library else {
        return eprintln!("not run: PHALANX_NVRTC names no folder with libnvrtc.so.13");
    };
    let folder = tempfile::tempdir().unwrap();
    fs::copy(&library, folder.path().join("libnvrtc.so.13")).unwrap();
    // Without the other half in the loader's folders, either.
    let said = child("a_failing_nvrtc", &[("PHALANX_NVRTC", folder.path()), ("LD_LIBRARY_PATH", folder.path())]);
    contains(&said, &["nvrtcCompileProgram failed", "libnvrtc-builtins", "set PHALANX_NVRTC"]);
}

/// A context that a kernel has broken: every call fails, none panics, and the process ends as any other.
#[test]
fn a_dead_context() {
    let device = if is_child() { Device::gpu(0).unwrap() } else { Device::simulator() };
    let (stream, mut out) = (device.stream().unwrap(), device.zeros(32).unwrap());
    let launched = wild(&mut out, 8).grid(1).on(&stream).launch();
    if !is_child() {
        launched.unwrap();
        let gpu = Device::auto();
        if gpu.is_simulator() {
            return eprintln!("not run on a GPU: {gpu}");
        }
        let said = child("a_dead_context", &[]);
        return contains(
            &said,
            &["CUDA_ERROR_ILLEGAL_ADDRESS (700)", "restart it", "compute-sanitizer", "the rest is dropped"],
        );
    }
    let error = launched.unwrap_err();
    println!("{error}");
    assert_eq!(error.cuda_code(), Some(700));
    let dead = [
        out.read().map(drop),
        out.write(&[1; 32]),
        device.zeros::<u32>(32).map(drop),
        device.stream().map(drop),
        device.synchronize(),
        stream.record().map(drop),
        wild(&mut out, 8).grid(1).on(&stream).launch(),
        device.pinned::<u32>(8).map(drop),
        device.capture(|stream| wild(&mut out, 8).grid(1).on(stream).enqueue().map(drop)).map(drop),
    ];
    assert!(dead.iter().any(|result| result.as_ref().is_err_and(|error| error.cuda_code() == Some(700))), "{dead:?}");
    assert!(dead.iter().filter(|result| result.is_ok()).count() <= 2, "{dead:?}");
    println!("the rest is dropped");
}

/// More memory than there is, at once and bit by bit. The device stays usable.
#[test]
fn an_exhausted_device() {
    for device in [Device::simulator(), Device::auto()] {
        let part = 16 << 30;
        let mut taken = Vec::new();
        let error = loop {
            match device.zeros::<u8>(part) {
                // The simulator's host may give out pages that are never touched.
                Ok(buffer) => taken.push(buffer),
                Err(error) => break error,
            }
            assert!(taken.len() < 64, "{device} has a TiB");
        };
        contains(&error.to_string(), &["memory", "drop buffers", "make them smaller"]);
        assert!(device.is_simulator() || error.cuda_code() == Some(2), "{error}");
        drop(taken);
        let all = device.zeros::<u8>(1 << 50).map(drop).unwrap_err();
        contains(&all.to_string(), &["drop buffers"]);
        assert_eq!(device.upload(&[7u32; 8]).unwrap().read().unwrap(), [7; 8], "{device}");
        if device.is_simulator() {
            eprintln!("on {device}");
        }
    }
}
