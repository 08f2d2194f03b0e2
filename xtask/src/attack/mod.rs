//! `cargo xtask attack`: kernels of the tests are changed as mistakes would change them. A mutant that the checks and rustc
//! accept runs in the simulator with the tests that its file has. If it breaks the protocol of a barrier or the rules of
//! distributed shared memory there, the checks have missed it. Other faults, and wrong results, are counted: no rule
//! excludes them. Only mutants that run are judged, and only by what their tests execute.

mod mutants;
mod project;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::run::{Result, at, root, target};
use mutants::Mutant;
use project::Project;
use verdict::Verdict;

/// The folders of kernels, whose files are modules of these names.
const FOLDERS: [(&str, &str); 2] =
    [("ui-tests/conformance/src/corpus", "corpus::"), ("ui-tests/conformance/src/kernels", "")];

/// Mutants of a file that are tried before a round goes without one.
const TRIES: usize = 200;

/// A file of kernels.
struct Source {
    /// The path in the project.
    path: PathBuf,
    /// The name of the module.
    module: String,
    text: String,
    /// The mutants that were not tried yet, in random order.
    mutants: Vec<Mutant>,
}

pub(crate) fn attack(minutes: f64, seed: u64, filter: &str) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut sources = sources(&mut Rng::with_seed(seed), filter)?;
    let project = Project::copy()?;
    let mut count = BTreeMap::<&str, usize>::new();
    let mut report = String::new();
    let place = target().join("attack/report.txt");
    while Instant::now() < deadline && sources.iter().any(|source| !source.mutants.is_empty()) {
        for (source, mutant, verdict) in round(&project, &mut sources, &mut count)? {
            *count.entry(verdict.name()).or_default() += 1;
            if let Some(text) = verdict.text() {
                report += &format!("== {}\n{}: {mutant}\n{text}\n\n", verdict.name(), source.display());
            }
        }
        fs::write(&place, &report).map_err(at(&place))?;
        println!("{}", count.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", "));
    }
    println!("the changes that have an effect: {}", place.display());
    match count.get(verdict::MISSED) {
        None => Ok(()),
        Some(missed) => Err(format!("{missed} mutants break a rule, and are accepted")),
    }
}

fn sources(random: &mut Rng, filter: &str) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for (folder, prefix) in FOLDERS {
        let entries = fs::read_dir(root().join(folder)).map_err(at(Path::new(folder)))?;
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        for name in names.iter().filter(|name| name.contains(filter)) {
            let Some(module) = name.strip_suffix(".rs").filter(|name| *name != "mod") else { continue };
            let path = Path::new(folder).join(name);
            let text = fs::read_to_string(root().join(&path)).map_err(at(&path))?;
            let mut mutants = mutants::mutants(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            random.shuffle(&mut mutants);
            sources.push(Source { path, module: format!("{prefix}{module}"), text, mutants });
        }
    }
    Ok(sources)
}

/// Runs one mutant of each file.
fn round(
    project: &Project,
    sources: &mut [Source],
    count: &mut BTreeMap<&str, usize>,
) -> Result<Vec<(PathBuf, String, Verdict)>> {
    let mut mutated = BTreeMap::new();
    for (index, source) in sources.iter_mut().enumerate() {
        let next = (0..TRIES).map_while(|_| source.mutants.pop()).find(|mutant| {
            let is_accepted = mutant.is_accepted(&source.text);
            *count.entry("refused by the checks").or_default() += usize::from(!is_accepted);
            is_accepted
        });
        if let Some(mutant) = next {
            project.write(&source.path, mutant.of(&source.text).as_bytes())?;
            mutated.insert(index, mutant);
        }
    }
    let program = loop {
        match project.build()? {
            Ok(program) => break program,
            Err(files) => {
                let refused: BTreeSet<usize> =
                    mutated.keys().copied().filter(|index| files.contains(&sources[*index].path)).collect();
                if refused.is_empty() {
                    return Err(format!("errors in files that are no mutants: {files:?}"));
                }
                for index in refused {
                    mutated.remove(&index);
                    *count.entry("refused by rustc").or_default() += 1;
                    project.write(&sources[index].path, sources[index].text.as_bytes())?;
                }
            }
        }
    };
    let mut verdicts = Vec::new();
    for (index, mutant) in mutated {
        let source = &sources[index];
        verdicts.push((source.path.clone(), mutant.describe(&source.text), verdict::run(&program, &source.module)?));
        project.write(&source.path, source.text.as_bytes())?;
    }
    Ok(verdicts)
}
