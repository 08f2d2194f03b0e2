//! The CUDA C++ of the programs, compiled by the host's C++ compiler with `shim/` under the prelude, and run.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Answer, Input, Program};

/// Returns for each program its answers to the inputs, or what the compiler says.
pub fn run(programs: &[Program], inputs: &[Input]) -> Result<Vec<Vec<Answer>>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let text = text(programs)?;
    let program = compile(folder.path(), &text)?;
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let words: Vec<u8> = inputs.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(&words));
    written.map_err(|error| error.to_string())?;
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let words: Vec<u64> =
        output.stdout.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))).collect();
    if words.len() != programs.len() * inputs.len() * 2 {
        return Err(format!("the C++ of the programs ended with {}", output.status));
    }
    let answers: Vec<Answer> = words.chunks_exact(2).map(|answer| (answer[0] == 0).then_some(answer[1])).collect();
    Ok(answers.chunks_exact(inputs.len()).map(<[Answer]>::to_vec).collect())
}

/// Joins the programs to one text: the headers and macros of all, then each in a namespace of its own.
fn text(programs: &[Program]) -> Result<String, String> {
    let mut heads = BTreeSet::new();
    let mut bodies = String::new();
    for program in programs {
        let cuda = (program.cuda)().map_err(|error| format!("{}: {error}", program.name))?;
        let (head, body): (Vec<&str>, Vec<&str>) = cuda.cuda_source().lines().partition(|line| is_head(line));
        heads.extend(head.into_iter().map(String::from));
        bodies += &format!("namespace {} {{\n{}\n}}\n", program.name, body.join("\n"));
    }
    let entries: Vec<String> = programs.iter().map(|program| format!("    {{{0}::{0}}},\n", program.name)).collect();
    Ok(format!(
        "#include \"cuda.h\"\n{}\n{}#undef PHALANX_OFFSET_OF\n#define PHALANX_OFFSET_OF(TYPE, FIELD) __builtin_offsetof(TYPE, FIELD)\n\
         {bodies}#line 1 \"entries\"\n#include \"main.h\"\nconst entry entries[] = {{\n{}}};\nconst unsigned entry_count = {};\n",
        heads.iter().filter(|line| line.starts_with("#define")).map(|line| format!("{line}\n")).collect::<String>(),
        heads.iter().filter(|line| is_value_header(line)).map(|line| format!("{line}\n")).collect::<String>(),
        entries.concat(),
        programs.len(),
    ))
}

fn is_head(line: &str) -> bool {
    line.starts_with("#include") || line.starts_with("#define")
}

/// Whether it is the header of values. A program has no groups.
fn is_value_header(line: &str) -> bool {
    line.starts_with("#include") && !line.contains("groups.cuh")
}

fn compile(folder: &Path, text: &str) -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (source, program) = (folder.join("programs.cpp"), folder.join("programs"));
    fs::write(&source, text).map_err(|error| error.to_string())?;
    if let Some(kept) = env::var_os("PHALANX_FUZZ_TEXT") {
        fs::write(kept, text).map_err(|error| error.to_string())?;
    }
    // `$CXX` may be more than a word: `python3 -m ziglang c++`.
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("c++"));
    command.args(words).args(["-std=c++20", "-O0", "-w", "-ffp-contract=off", "-fwrapv"]);
    command.arg("-I").arg(here.join("shim")).arg("-I").arg(here.join("../../../runtime/src/program/cuda"));
    command.arg("-o").arg(&program).arg(&source);
    let output = command.output().map_err(|error| format!("`{compiler}` cannot be run: {error}; set CXX"))?;
    match output.status.success() {
        true => Ok(program),
        false => Err(format!("`{compiler}` refuses the text:\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}
