//! A copy of the project in the target folder, in which files of kernels are replaced by mutants. Its build says which of
//! them rustc refuses.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::run::{Result, at, build, cargo, output, root, target};

pub(super) struct Project {
    folder: PathBuf,
}

impl Project {
    /// Copies every file that git does not ignore. A file that did not change keeps its time, so that little is built anew.
    pub(super) fn copy() -> Result<Project> {
        let project = Project { folder: target().join("attack/project") };
        let listed = output(Command::new("git").current_dir(root()).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        for file in listed.split('\0').filter(|file| root().join(file).is_file()) {
            let text = fs::read(root().join(file)).map_err(at(Path::new(file)))?;
            project.write(Path::new(file), &text)?;
        }
        Ok(project)
    }

    /// Writes a file of the copy, by its path in the project.
    pub(super) fn write(&self, file: &Path, text: &[u8]) -> Result<()> {
        let place = self.folder.join(file);
        if fs::read(&place).is_ok_and(|old| old == text) {
            return Ok(());
        }
        fs::create_dir_all(place.parent().unwrap_or(&self.folder)).map_err(at(&place))?;
        fs::write(&place, text).map_err(at(&place))
    }

    /// Builds the program that runs the kernels. Returns its path, or the files that rustc finds errors in.
    pub(super) fn build(&self) -> Result<Result<PathBuf, BTreeSet<PathBuf>>> {
        let mut command = cargo(&["build", "--quiet", "--message-format=json", "-p", "phalanx-conformance"]);
        command.args(["--bin", "kernel_failures"]).current_dir(&self.folder).env("CARGO_TARGET_DIR", self.target());
        let Err(failure) = build(&mut command)? else {
            return Ok(Ok(self.target().join("debug/kernel_failures")));
        };
        // A note of its own names the instance that an error in a library comes from.
        let errors = failure.diagnostics.iter().filter(|diagnostic| diagnostic["level"] != "warning");
        let files: BTreeSet<PathBuf> = errors.flat_map(files).collect();
        if files.is_empty() { Err("the copy of the project does not build".into()) } else { Ok(Err(files)) }
    }

    fn target(&self) -> PathBuf {
        target().join("attack/target")
    }
}

/// Returns the files that an error names, in its spans, in their expansions and in its notes. Where a constant fails, the
/// error itself is in the standard library.
fn files(error: &Value) -> BTreeSet<PathBuf> {
    match error {
        Value::Object(fields) => {
            let own = fields.get("file_name").and_then(Value::as_str).map(PathBuf::from);
            own.into_iter().chain(fields.values().flat_map(files)).collect()
        }
        Value::Array(values) => values.iter().flat_map(files).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_files() {
        let error = serde_json::json!({ "spans": [
            { "file_name": "core/src/panic.rs", "expansion": { "span": { "file_name": "src/scan.rs" } } },
        ] });
        assert_eq!(files(&error), BTreeSet::from(["core/src/panic.rs".into(), "src/scan.rs".into()]));
    }
}
