//! Compiles the kernels for the architectures that the program runs on, and writes the archive that it embeds.

use phalanx::{Archive, Error, Program, Result};
use phalanx_embedded_kernels::{axpy, smooth};

const ARCHITECTURES: [&str; 2] = ["sm_90a", "sm_100a"];

fn main() -> Result<()> {
    println!("cargo::rerun-if-env-changed=PHALANX_NVRTC");
    match archive() {
        // Where this is built without NVRTC, the program is one without an archive.
        Err(error @ Error::NvrtcMissing { .. }) => {
            println!("cargo::warning={error}");
            Archive::new(ARCHITECTURES)?.write_to_out_dir()
        }
        archive => archive?.write_to_out_dir(),
    }
}

fn archive() -> Result<Archive> {
    let mut archive = Archive::new(ARCHITECTURES)?;
    archive.add(&Program::of::<smooth>()?)?;
    archive.add(&Program::of::<axpy<f32>>()?)?.add(&Program::of::<axpy<i64>>()?)?;
    Ok(archive)
}
