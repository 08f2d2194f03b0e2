//! Makes archives of CUBINs, which a program carries to run where no NVRTC is: in a build script, with the kernels of another crate, or
//! in a program of the same one.

use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use phalanx_contract::capability::of_architecture;

use super::builder::Launch;
use super::check;
use crate::gpu::caps::Caps;
use crate::gpu::store::{self, archive::Contents};
use crate::gpu::variant::Variant;
use crate::program::Program;
use crate::report::error::{Error, Result};

/// The name of the file in the build script's folder that `phalanx::embed!()` includes.
const IN_OUT_DIR: &str = "phalanx.cubins";

/// The code of kernels for several architectures, which a build script compiles and the program embeds
/// ([`embed!`](crate::embed)).
///
/// The kernels are in a crate that both the program and its build script depend on:
///
/// ```no_run
/// # mod kernels {
/// # use phalanx::prelude::*;
/// # #[cluster_kernel(block = 64)]
/// # pub fn scale(values: &mut [f32], factor: f32) { values[this_grid().thread_rank()] *= factor; }
/// # #[cluster_kernel(block = 64)]
/// # pub fn fill<T: DeviceCopy>(values: &mut [T], value: T) { values[this_grid().thread_rank()] = value; }
/// # }
/// use phalanx::{Archive, Program};
///
/// fn main() -> phalanx::Result<()> {
///     let mut archive = Archive::new(["sm_90a", "sm_100a"])?;
///     archive.add(&Program::of::<kernels::scale>()?)?;
///     archive.add(&Program::of::<kernels::fill<u32>>()?)?; // each instance of a generic kernel
///     archive.write_to_out_dir()
/// }
/// ```
pub struct Archive {
    architectures: Vec<String>,
    contents: Contents,
}

impl Archive {
    /// Creates an empty archive for GPUs of these architectures, which are named as NVRTC names them: `sm_90a`.
    pub fn new(architectures: impl IntoIterator<Item = impl Into<String>>) -> Result<Archive> {
        let architectures: Vec<String> = architectures.into_iter().map(Into::into).collect();
        match architectures.iter().find(|name| !Caps::is_asked_for(name)) {
            Some(unknown) => Err(Error::UnknownArchitecture(unknown.clone())),
            None => Ok(Archive { architectures, contents: Contents::default() }),
        }
    }

    /// Adds a kernel with the code for every launch, and the faster one for most: with a grid of one dimension, and slices and
    /// integers that 32 bits count. NVRTC compiles it, unless it is in the cache.
    pub fn add(&mut self, program: &Program) -> Result<&mut Self> {
        self.add_variant(program, Variant::of_most_launches(program))?;
        self.add_variant(program, Variant::GENERAL)
    }

    /// Adds a kernel with the code that is compiled for launches as this one: also for its alignment of slices and of integers, on
    /// which the tests of vectors and of bulk copies depend. A launch with a [deadline](Launch::deadline) needs code of its own, which
    /// only this adds.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[cluster_kernel(block = 64)]
    /// # pub fn scale(values: &mut [f32], factor: f32) { values[this_grid().thread_rank()] *= factor; }
    /// # fn main() -> phalanx::Result<()> {
    /// # let mut archive = phalanx::Archive::new([""; 0])?;
    /// let mut values = Device::simulator().zeros(256)?;
    /// archive.add_launch(scale(&mut values, 0.5).grid(4))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn add_launch<Place>(&mut self, launch: Launch<'_, Place>) -> Result<&mut Self> {
        let (program, variant) = launch.variant(&Caps::h100())?;
        self.add_variant(&program, variant)?;
        self.add_variant(&program, variant.general())
    }

    fn add_variant(&mut self, program: &Program, variant: Variant) -> Result<&mut Self> {
        for architecture in &self.architectures {
            program.check_architecture(architecture)?;
            let compile = || store::compiled(program, architecture, variant);
            self.contents.add(program, architecture, variant, compile)?;
        }
        Ok(self)
    }

    /// Writes the archive to a file, for `phalanx::embed!("path/to/it")`.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        fs::write(path, self.contents.to_bytes())
            .map_err(|error| Error::ArchiveNotWritten { path: path.into(), reason: error.to_string() })
    }

    /// Writes the archive to the folder of the build script that calls this, for `phalanx::embed!()`.
    pub fn write_to_out_dir(&self) -> Result<()> {
        match env::var_os("OUT_DIR") {
            Some(folder) => self.write(PathBuf::from(folder).join(IN_OUT_DIR)),
            None => Err(Error::ArchiveNotWritten {
                path: IN_OUT_DIR.into(),
                reason: "there is no OUT_DIR, because this is no build script; call `write(path)`".into(),
            }),
        }
    }
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Archive({} CUBINs for {})", self.contents.count(), self.architectures.join(", "))
    }
}

impl Program {
    /// Returns an error if the kernel, or a function that it calls, does what GPUs of an architecture cannot, such as `sm_89`: it names the line.
    ///
    /// ```
    /// use phalanx::prelude::*;
    /// use phalanx::Program;
    ///
    /// #[cluster_kernel(block = 32)]
    /// fn meet() {
    ///     this_cluster().sync();
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let program = Program::of::<meet>()?;
    /// program.check_architecture("sm_120a")?;
    /// let error = program.check_architecture("sm_89").unwrap_err();
    /// assert!(error.to_string().contains("needs compute capability 9.0 or later"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_architecture(&self, architecture: &str) -> Result<()> {
        let capability =
            of_architecture(architecture).ok_or_else(|| Error::UnknownArchitecture(architecture.into()))?;
        let error = |reason| Error::Launch { kernel: self.name().into(), reason };
        let checked = check::instructions(self, capability).and_then(|()| check::suffix(self, architecture));
        checked.map_err(error)
    }

    /// Returns whether the archives that [`embed!`](crate::embed) has added have code of the kernel for every launch on an
    /// architecture, such as `sm_90a`. A test that asks this fails when the build script forgets a kernel.
    pub fn is_embedded(&self, architecture: &str) -> bool {
        store::archive::has(self, architecture)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    mod kernels {
        use crate::prelude::*;

        #[cluster_kernel(block = 32)]
        pub(super) fn scale<T: Number>(values: &mut [T], factor: T, count: usize) {
            let i = this_grid().thread_rank();
            if i < count {
                values[i] *= factor;
            }
        }
    }
    use kernels::scale;

    #[test]
    fn architectures_are_those_that_launches_ask_for() {
        let error = Archive::new(["sm_90a", "sm_90"]).unwrap_err();
        assert!(matches!(&error, Error::UnknownArchitecture(name) if name == "sm_90"), "{error}");
        assert!(error.to_string().contains("as `sm_80`, `sm_90a` or `sm_100a`"), "{error}");
    }

    #[test]
    fn a_launch_that_the_kernel_does_not_allow_is_refused() {
        let mut values = Device::simulator().zeros::<f32>(64).unwrap();
        let mut archive = Archive::new(["sm_90a"]).unwrap();
        let error = archive.add_launch(scale(&mut values, 2.0, 64)).unwrap_err();
        assert_eq!(error.to_string(), "kernel `scale` cannot be launched: it has no grid; call `.grid(blocks)`");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let archive = Archive::new(["sm_90a"]).unwrap();
        let error = archive.write("/nowhere/a.cubins").unwrap_err().to_string();
        assert!(error.starts_with("the archive of CUBINs cannot be written to /nowhere/a.cubins: "), "{error}");
        let error = archive.write_to_out_dir().unwrap_err().to_string();
        assert!(error.ends_with("this is no build script; call `write(path)`"), "{error}");
    }

    #[test]
    fn each_kernel_has_the_code_for_every_launch_and_for_most() {
        if !crate::gpu::nvrtc::is_present() {
            eprintln!("skipped: no NVRTC");
            return;
        }
        let mut archive = Archive::new(["sm_90a", "sm_100a"]).unwrap();
        archive.add(&Program::of::<scale<f32>>().unwrap()).unwrap();
        assert_eq!(format!("{archive:?}"), "Archive(4 CUBINs for sm_90a, sm_100a)");
        archive.add(&Program::of::<scale<i32>>().unwrap()).unwrap().add(&Program::of::<scale<f32>>().unwrap()).unwrap();
        assert_eq!(archive.contents.count(), 8, "what is there is not added again");
        let mut values = Device::simulator().zeros::<f32>(64).unwrap();
        archive.add_launch(scale(&mut values, 2.0, 64).grid(2)).unwrap();
        assert_eq!(archive.contents.count(), 8, "the launch is one of most");
        archive.add_launch(scale(&mut values, 2.0, 64).grid((2, 2))).unwrap();
        assert_eq!(archive.contents.count(), 10, "the launch has a grid of two dimensions");
    }
}
