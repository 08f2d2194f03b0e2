//! `cargo xtask rings` lists what is known of the rings of phase barriers in the examples, the showcases and the tests' kernels:
//! which are proved, and why the others are not, the most frequent reasons first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use phalanx_compiler::{RingCase, RingReport, Session, take_item};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::run::{Result, at};

/// The folders whose kernels are listed.
const FOLDERS: [&str; 7] = [
    "examples/src/bin",
    "examples/bench/src/showcases",
    "examples/bench/src/tensor",
    "examples/bench/src/tensor/product",
    "ui-tests/conformance/src/kernels",
    "ui-tests/conformance/src/corpus",
    "ui-tests/accept",
];

/// How often each kernel is checked; the least time is printed.
const TIMES: u32 = 3;

/// Prints a row for each kernel with a phase barrier, and for each set of values of its constants, of the files with a part of a name.
pub(crate) fn rings(named: &str) -> Result<()> {
    println!("| kernel | if | rings | states or line | ms |\n|---|---|---|---|---|");
    let (mut proved, mut open) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for folder in FOLDERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(&folder).map_err(at(&folder))? {
            paths.push(entry.map_err(at(&folder))?.path());
        }
        paths.retain(|path| {
            path.extension().is_some_and(|ending| ending == "rs") && path.to_string_lossy().contains(named)
        });
        paths.sort();
        for path in paths {
            let text = fs::read_to_string(&path).map_err(at(&path))?;
            let tokens: TokenStream = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
            let mut kernels = Vec::new();
            find(tokens, &mut kernels);
            for (options, item) in kernels {
                let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let name = format!("{file}: {}", name(&item));
                let mut ms = f64::INFINITY;
                let mut cases = Vec::new();
                for _ in 0..TIMES {
                    let begin = Instant::now();
                    cases = Session::default().rings(&text, options.clone(), item.clone()).unwrap_or_default();
                    ms = ms.min(begin.elapsed().as_secs_f64() * 1000.0);
                }
                let is_proved = |case: &&RingCase| matches!(case.report, RingReport::Proved { .. });
                proved += usize::from(cases.iter().any(|case| is_proved(&case)));
                open += usize::from(!cases.is_empty() && !cases.iter().any(|case| is_proved(&case)));
                for RingCase { values, report } in cases {
                    let values = values.iter().map(|(name, value)| format!("{name} = {value}"));
                    let values = values.collect::<Vec<_>>().join(", ");
                    let (known, at) = match report {
                        RingReport::Proved { barriers, arrays, states } => {
                            (format!("proved: {}", [barriers, arrays].concat().join(", ")), states.to_string())
                        }
                        RingReport::Open { line, why } => {
                            *reasons.entry(why.clone()).or_default() += 1;
                            (why, format!("line {line}"))
                        }
                        RingReport::Refused(fault) => {
                            (format!("refused: {}", fault.rule()), format!("line {}", fault.line()))
                        }
                        RingReport::Waived => ("faulty, with the rule switched off".into(), String::new()),
                    };
                    println!("| {name} | {values} | {known} | {at} | {ms:.1} |");
                }
            }
        }
    }
    println!("\n{proved} proved, {open} open");
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, number)| Reverse(*number));
    reasons.iter().for_each(|(why, number)| println!("{number:4} {why}"));
    Ok(())
}

/// Finds the kernels among these tokens, also within modules and macros: the options of the attribute, and the item.
fn find(tokens: TokenStream, kernels: &mut Vec<(TokenStream, TokenStream)>) {
    let mut trees = tokens.into_iter();
    while let Some(tree) = trees.next() {
        let TokenTree::Group(group) = tree else { continue };
        let mut attribute = group.stream().into_iter();
        let is_kernel = matches!(attribute.next(), Some(TokenTree::Ident(name)) if name == "cluster_kernel");
        if group.delimiter() == Delimiter::Bracket && is_kernel {
            let options = match attribute.next() {
                Some(TokenTree::Group(options)) => options.stream(),
                _ => TokenStream::new(),
            };
            kernels.push((options, take_item(&mut trees)));
        } else {
            find(group.stream(), kernels);
        }
    }
}

fn name(item: &TokenStream) -> String {
    let mut trees = item.clone().into_iter();
    let _ = trees.by_ref().find(|tree| matches!(tree, TokenTree::Ident(word) if word == "fn"));
    trees.next().map(|name| name.to_string()).unwrap_or_default()
}
