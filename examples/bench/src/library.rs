//! The libraries that a user would pick: a script measures them with PyTorch, in its own process on the same GPU.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::timing::Times;
use crate::{Result, process};

const SCRIPT: &str = include_str!("../library/baselines.py");
const CUB: &str = include_str!("../library/cub.cu");

/// A library's times for a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Baseline {
    /// The function and its library: `torch.compile`.
    pub name: String,
    /// The times.
    pub times: Times,
}

/// The script's answer for one problem.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Answer {
    /// The baselines, each of which has been checked against `f64`.
    pub measured: Vec<Baseline>,
    /// A sentence for each wrong result, or error of a library.
    pub failed: Vec<String>,
    /// Why a library is missing.
    pub missing: Vec<String>,
}

/// The longest that the script may take.
const LIMIT: Duration = Duration::from_secs(420);

/// Measures the libraries on each of `problems`. The script and its answers stay in `folder`.
pub fn measure(problems: &[Value], folder: &Path) -> Result<Vec<Answer>> {
    let (script, questions, answers) =
        (folder.join("baselines.py"), folder.join("problems.json"), folder.join("baselines.json"));
    fs::write(&script, SCRIPT)?;
    fs::write(folder.join("cub.cu"), CUB)?;
    fs::write(&questions, serde_json::to_string_pretty(problems)?)?;
    fs::write(&answers, "[]")?;
    let ended = process::output(Command::new("python3").arg(&script).arg(&questions).arg(&answers), LIMIT);
    // The script writes what it has after each problem.
    let mut known: Vec<Answer> = serde_json::from_str(&fs::read_to_string(&answers)?)?;
    if let Err(error) = ended {
        let failed = vec![format!("{}: {error}", script.display())];
        known.push(Answer { failed, ..Answer::default() });
    }
    known.resize(problems.len(), Answer::default());
    Ok(known)
}
