//! `cargo xtask new FOLDER` creates a crate with a first kernel and its tests, from the folder `template`, which is also one
//! for `cargo generate`.

use std::fs;
use std::path::Path;

use crate::run::{Result, at, files, root};

/// Creates the crate in a folder that does not exist yet, under the folder's name.
pub(crate) fn new(folder: &Path) -> Result<()> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_')) {
        return Err(format!(
            "{} cannot be a crate's name, which the folder's is to be; use a lower-case letter first, and letters, digits, `-` and `_`",
            folder.display()
        ));
    }
    // This clone's library, until it is published.
    let phalanx = format!("{{ version = {:?}, path = {:?} }}", env!("CARGO_PKG_VERSION"), root().join("runtime"));
    instantiate(folder, name, &phalanx)?;
    println!("created {}; try `cargo test` and `cargo run` in it", folder.display());
    Ok(())
}

/// Copies the template, with the crate's name and the dependency on `phalanx` in place of its placeholders.
pub(crate) fn instantiate(folder: &Path, name: &str, phalanx: &str) -> Result<()> {
    if folder.exists() {
        return Err(format!("{} exists already; name a folder that does not", folder.display()));
    }
    let template = root().join("template");
    for from in files(&template)? {
        let path = from.strip_prefix(&template).map_err(|error| error.to_string())?;
        if path == Path::new("cargo-generate.toml") {
            continue;
        }
        let text = fs::read_to_string(&from).map_err(at(&from))?;
        let text = text.replace("{{project-name}}", name).replace("{{crate_name}}", &name.replace('-', "_"));
        let text = text.replace("phalanx = \"0.1\"", &format!("phalanx = {phalanx}"));
        let to = folder.join(path);
        let parent = to.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(at(parent))?;
        fs::write(&to, text).map_err(at(&to))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::target;

    #[test]
    fn a_folder_that_cannot_be_a_crate_is_refused() {
        for name in ["Kernels", "9", "my kernels", "-x"] {
            let error = new(&target().join(name)).expect_err(name);
            assert!(error.contains("cannot be a crate's name"), "{name}: {error}");
        }
        let error = new(&root().join("template")).expect_err("it exists");
        assert!(error.ends_with("exists already; name a folder that does not"), "{error}");
    }

    #[test]
    fn no_placeholder_is_left() {
        let folder = target().join("of-the-template");
        // What is left of an earlier run.
        let _ = fs::remove_dir_all(&folder);
        new(&folder).expect("the template can be copied");
        let created = files(&folder).expect("it was created");
        assert!(created.iter().any(|path| path.ends_with("tests/add_next.rs")), "{created:?}");
        for path in created {
            let text = fs::read_to_string(&path).expect("text");
            assert!(!text.contains("project-name") && !text.contains("crate_name"), "{}: {text}", path.display());
        }
    }
}
