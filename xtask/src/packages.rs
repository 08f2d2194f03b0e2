//! `cargo xtask packages` packs the published crates, and uses them as a stranger would: in folders outside of the workspace,
//! where the packed crates and what they depend on are the only registry. The README's kernel and the template's tests run
//! there, in the simulator. It publishes nothing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Result, at, cargo, files, output, root, run, target};
use crate::template;

/// The published crates, each after those that it depends on, with their folders.
const PUBLISHED: [(&str, &str); 4] = [
    ("phalanx-contract", "macros/contract"),
    ("phalanx-compiler", "macros/compiler"),
    ("phalanx-macros", "macros"),
    ("phalanx", "runtime"),
];

/// The version that they share with the whole workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What every package has besides its sources.
const FILES: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

pub(crate) fn packages() -> Result<()> {
    let registry = target().join("packages/registry");
    vendor(&registry)?;
    pack(&registry)?;
    let strangers = Strangers::new(registry)?;
    strangers.readme()?;
    strangers.template()
}

/// Copies what the workspace depends on into the registry, a folder with a folder for each package (the cargo book, directory
/// sources).
fn vendor(registry: &Path) -> Result<()> {
    if registry.exists() {
        fs::remove_dir_all(registry).map_err(at(registry))?;
    }
    // cargo prints the settings that `Strangers` writes.
    output(cargo(&["vendor", "--quiet", "--locked", "--versioned-dirs"]).arg(registry)).map(drop)
}

/// Packs the published crates, and unpacks them into the registry.
fn pack(registry: &Path) -> Result<()> {
    let mut command = cargo(&["package", "--quiet", "--offline", "--no-verify", "--allow-dirty", "--exclude-lockfile"]);
    command.arg("--target-dir").arg(target());
    command.args(PUBLISHED.iter().flat_map(|(name, _)| ["-p", name]));
    run(&mut command)?;
    for (name, folder) in PUBLISHED {
        let package = format!("{name}-{}", VERSION);
        let packed = target().join("package").join(format!("{package}.crate"));
        run(Command::new("tar").arg("-xzf").arg(&packed).arg("-C").arg(registry))?;
        let unpacked = registry.join(&package);
        // The sums of files that cargo shall compare: none, since the folder was written just now.
        let sums = unpacked.join(".cargo-checksum.json");
        fs::write(&sums, r#"{"files":{}}"#).map_err(at(&sums))?;
        complete(&unpacked, &root().join(folder))?;
    }
    Ok(())
}

/// Fails if the unpacked crate lacks a file that its folder has for it, or has a test.
fn complete(unpacked: &Path, folder: &Path) -> Result<()> {
    for file in FILES {
        let path = unpacked.join(file);
        if fs::read_to_string(&path).map_err(at(&path))?.trim().is_empty() {
            return Err(format!("{} is empty", path.display()));
        }
    }
    let sources = unpacked.join("src");
    for file in files(&folder.join("src"))? {
        let path = file.strip_prefix(folder).map_err(|error| error.to_string())?;
        let is_test = path.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")));
        // A module that only tests have may have another name.
        if !is_test && !unpacked.join(path).is_file() && !is_test_module(&file)? {
            return Err(format!("{} is missing in the package", file.display()));
        }
    }
    for file in files(&sources)? {
        if is_test_module(&file)? {
            return Err(format!("{} is a test, and is in the package: see `include` in Cargo.toml", file.display()));
        }
    }
    Ok(())
}

/// Whether the module above declares this file as one of the tests.
fn is_test_module(file: &Path) -> Result<bool> {
    let (Some(folder), Some(stem)) = (file.parent(), file.file_stem().and_then(|stem| stem.to_str())) else {
        return Ok(false);
    };
    let (folder, module) = match (stem, folder.parent(), folder.file_name().and_then(|name| name.to_str())) {
        ("mod", Some(above), Some(name)) => (above, name),
        _ => (folder, stem),
    };
    let declarations = [folder.join("mod.rs"), folder.join("lib.rs"), folder.with_extension("rs")];
    let declared = format!("#[cfg(test)]\nmod {module};");
    for above in declarations.iter().filter(|above| above.is_file()) {
        if fs::read_to_string(above).map_err(at(above))?.contains(&declared) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Folders outside of the workspace, and the registry that they have.
struct Strangers {
    folder: PathBuf,
    registry: PathBuf,
}

impl Strangers {
    fn new(registry: PathBuf) -> Result<Self> {
        let folder = env::temp_dir().join(format!("phalanx-packages-{}", std::process::id()));
        fs::create_dir_all(folder.join(".cargo")).map_err(at(&folder))?;
        let settings = folder.join(".cargo/config.toml");
        let text = format!(
            "[source.crates-io]\nreplace-with = \"packed\"\n[source.packed]\ndirectory = {:?}\n[net]\noffline = true\n",
            fs::canonicalize(&registry).map_err(at(&registry))?
        );
        fs::write(&settings, text).map_err(at(&settings))?;
        Ok(Strangers { folder, registry })
    }

    /// A cargo in one of the folders. They share what they build, and see no GPU.
    fn cargo(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = cargo(arguments);
        command.current_dir(folder).env("CUDA_VISIBLE_DEVICES", "");
        command.env("CARGO_TARGET_DIR", self.registry.with_file_name("build")).env_remove("PHALANX_CUBINS");
        command
    }

    /// The kernel of the packed README, which prints what its device calculated.
    fn readme(&self) -> Result<()> {
        let packed = self.registry.join(format!("phalanx-{}/README.md", VERSION));
        let text = fs::read_to_string(&packed).map_err(at(&packed))?;
        let kernel = text.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```"));
        let (kernel, _) = kernel.ok_or("the README has no kernel")?;
        let folder = self.folder.join("first");
        let main = folder.join("src/main.rs");
        run(self.cargo(&self.folder, &["new", "--quiet", "--vcs", "none"]).arg(&folder))?;
        run(&mut self.cargo(&folder, &["add", "--quiet", "phalanx"]))?;
        fs::write(&main, kernel).map_err(at(&main))?;
        let printed = output(&mut self.cargo(&folder, &["run", "--quiet"]))?;
        // The next block's element, 256 further, and `3 x + 1`.
        let expected: Vec<i32> = (0..4).map(|x| x + 256 + 3 * x + 1).collect();
        if printed.contains("simulator") && printed.trim_end().ends_with(&format!("{expected:?}")) {
            return Ok(());
        }
        Err(format!("the README's program printed {printed:?}, not the simulator's {expected:?}"))
    }

    /// The template's crate: what its CI file runs, with the tests in the simulator, and its program.
    fn template(&self) -> Result<()> {
        let folder = self.folder.join("my-kernels");
        template::instantiate(&folder, "my-kernels", &format!("{:?}", VERSION))?;
        let lints = &["clippy", "--quiet", "--all-targets", "--", "-D", "warnings"];
        for arguments in [&["fmt", "--check"][..], lints, &["test", "--quiet"], &["run", "--quiet"]] {
            run(&mut self.cargo(&folder, arguments))?;
        }
        Ok(())
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        // What is left does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_from_sources() {
        let runtime = root().join("runtime/src");
        for (path, is_test) in [
            ("launch/on_each_device.rs", true),
            ("launch/stream/tests.rs", true),
            ("sim/tests/mod.rs", true),
            ("sim/mod.rs", false),
            ("launch/stream.rs", false),
        ] {
            assert!(runtime.join(path).is_file(), "{path} is not in the repository");
            assert_eq!(is_test_module(&runtime.join(path)), Ok(is_test), "{path}");
        }
    }

    #[test]
    fn a_package_with_tests_or_without_a_file_is_refused() {
        let folder = target().join("incomplete-package");
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to write to");
            fs::write(path, text).expect("a file to write to");
        };
        // What is left of an earlier run.
        let _ = fs::remove_dir_all(&folder);
        ["Cargo.toml", "README.md", "LICENSE-MIT"].iter().for_each(|file| write(&format!("packed/{file}"), "text"));
        write("own/src/lib.rs", "#[cfg(test)]\nmod on_all;\nmod part;\n");
        write("own/src/part.rs", "");
        write("own/src/on_all.rs", "");
        let refused = || complete(&folder.join("packed"), &folder.join("own")).expect_err("it is incomplete");

        assert!(refused().contains("LICENSE-APACHE"), "{}", refused());
        write("packed/LICENSE-APACHE", "");
        assert!(refused().ends_with("LICENSE-APACHE is empty"), "{}", refused());
        write("packed/LICENSE-APACHE", "text");
        write("packed/src/lib.rs", "#[cfg(test)]\nmod on_all;\nmod part;\n");
        assert!(refused().ends_with("part.rs is missing in the package"), "{}", refused());
        write("packed/src/part.rs", "");
        assert_eq!(complete(&folder.join("packed"), &folder.join("own")), Ok(()));
        write("packed/src/on_all.rs", "");
        assert!(refused().contains("on_all.rs is a test"), "{}", refused());
    }
}
