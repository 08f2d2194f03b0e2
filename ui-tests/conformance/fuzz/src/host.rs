//! The CUDA C++ of the programs, compiled by the host's C++ compiler with `shim/` under the prelude, and run.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Answer, Input, Program};

/// A program's answers to the inputs, or what the compiler says of its text.
pub type Answers = Result<Vec<Answer>, String>;

/// Returns the answers of each program.
pub fn run(programs: &[Program], inputs: &[Input]) -> Result<Vec<Answers>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut refused: BTreeMap<&str, String> = BTreeMap::new();
    let executable = loop {
        let accepted: Vec<&Program> = programs.iter().filter(|program| !refused.contains_key(program.name)).collect();
        let Err(message) = compile(folder.path(), &text(&accepted)?)? else { break folder.path().join("programs") };
        let before = refused.len();
        // The text names the program as the file of its lines.
        for line in message.lines().filter(|line| line.contains("error:")) {
            if let Some(program) = programs.iter().find(|program| line.starts_with(&format!("{}:", program.name))) {
                refused.entry(program.name).or_insert_with(|| line.into());
            }
        }
        if refused.len() == before {
            return Err(message);
        }
    };
    let mut answers = execute(&executable, inputs)?.into_iter();
    let of = |program: &Program| match refused.get(program.name) {
        Some(message) => Ok(Err(message.clone())),
        None => answers.next().map(Ok).ok_or_else(|| "the C++ of the programs ended early".to_string()),
    };
    programs.iter().map(of).collect()
}

/// Runs the compiled programs, and returns the answers of each.
fn execute(executable: &Path, inputs: &[Input]) -> Result<Vec<Vec<Answer>>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", executable.display());
    let mut child = Command::new(executable).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let words: Vec<u8> = inputs.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
    child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(&words)).map_err(failed)?;
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        return Err(format!("the C++ of the programs ended with {}", output.status));
    }
    let words: Vec<u64> =
        output.stdout.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))).collect();
    let answers: Vec<Answer> = words.chunks_exact(2).map(|answer| (answer[0] == 0).then_some(answer[1])).collect();
    Ok(answers.chunks_exact(inputs.len()).map(<[Answer]>::to_vec).collect())
}

/// Joins the programs to one text: the headers and macros of all, then each in a namespace of its own.
fn text(programs: &[&Program]) -> Result<String, String> {
    let mut heads = BTreeSet::new();
    let mut bodies = String::new();
    for program in programs {
        let cuda = (program.cuda)().map_err(|error| format!("{}: {error}", program.name))?;
        let (head, body): (Vec<&str>, Vec<&str>) = cuda.cuda_source().lines().partition(|line| is_head(line));
        heads.extend(head.into_iter().map(String::from));
        let body: Vec<String> = body.into_iter().map(|line| named(line, program.name)).collect();
        bodies += &format!("namespace {} {{\n{}\n}}\n", program.name, body.join("\n"));
    }
    let entries: Vec<String> = programs.iter().map(|program| format!("    {{{0}::{0}}},\n", program.name)).collect();
    Ok(format!(
        "#include \"cuda.h\"\n{}\n{}#undef PHALANX_OFFSET_OF\n#define PHALANX_OFFSET_OF(TYPE, FIELD) __builtin_offsetof(TYPE, FIELD)\n\
         {bodies}#line 1 \"entries\"\n#include \"main.h\"\nconst entry entries[] = {{\n{}}};\nconst unsigned entry_count = {};\n",
        heads
            .iter()
            .filter(|line| line.starts_with("#define") && !line.contains("PHALANX_LAUNCH"))
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
        heads.iter().filter(|line| is_value_header(line)).map(|line| format!("{line}\n")).collect::<String>(),
        entries.concat(),
        programs.len(),
    ))
}

/// Replaces the file of a `#line` by the program's name.
fn named(line: &str, name: &str) -> String {
    match line.strip_prefix("#line ").and_then(|rest| rest.split_once(' ')) {
        Some((number, _)) => format!("#line {number} {name:?}"),
        None => line.into(),
    }
}

fn is_head(line: &str) -> bool {
    line.starts_with("#include") || line.starts_with("#define")
}

/// Whether it is the header of values. A program has no groups.
fn is_value_header(line: &str) -> bool {
    line.starts_with("#include") && !line.contains("groups.cuh")
}

/// Compiles the text to `programs` in the folder. Returns what the compiler says if it refuses the text.
fn compile(folder: &Path, text: &str) -> Result<Result<(), String>, String> {
    let source = folder.join("programs.cpp");
    fs::write(&source, text).map_err(|error| error.to_string())?;
    if let Some(kept) = env::var_os("PHALANX_FUZZ_TEXT") {
        fs::write(kept, text).map_err(|error| error.to_string())?;
    }
    build(&source, &folder.join("programs"))
}

/// Compiles a file with the shim and the prelude.
fn build(source: &Path, program: &Path) -> Result<Result<(), String>, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = compiler();
    // As in a launch whose slices are short.
    command.args(["-std=c++20", "-O0", "-w", "-ffp-contract=off", "-fwrapv", "-DPHALANX_SHORT_SLICES"]);
    command.arg("-I").arg(here.join("shim")).arg("-I").arg(here.join("../../../runtime/src/program/cuda"));
    command.arg("-o").arg(program).arg(source);
    let output = command.output().map_err(|error| format!("no C++ compiler can be run: {error}; set CXX"))?;
    Ok(match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    })
}

/// Holds the arithmetic of intervals against that of integers, and returns what it says.
pub fn intervals() -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let program = folder.path().join("intervals");
    build(&Path::new(env!("CARGO_MANIFEST_DIR")).join("shim/intervals.cpp"), &program)??;
    let output = Command::new(&program).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(format!("{}: {text}", output.status)) }
}

/// Returns the command of the host's C++ compiler. `$CXX` may be more than a word: `zig c++`.
fn compiler() -> Command {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("c++"));
    command.args(words);
    command
}

/// Whether there is a C++ compiler.
pub fn has_compiler() -> bool {
    compiler().arg("--version").output().is_ok_and(|output| output.status.success())
}
