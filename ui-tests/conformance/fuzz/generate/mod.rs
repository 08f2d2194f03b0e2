//! Random programs of the kernel language, well typed and with borrows that rustc accepts, as text. Those that the
//! compiler refuses are left out. Used by the build script alone.

mod by_hand;
mod chain;
mod code;
mod generator;
mod language;
mod memory;
mod method;
mod number;
mod option;
mod ordinary;
mod place;
#[path = "../../../../macros/compiler/src/tests/random.rs"]
mod random;
mod scope;
mod statement;
mod types;
mod value;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use phalanx_compiler::Session;
use proc_macro2::TokenStream;

/// A program: items, and device functions, of which `program` is the first to run.
struct Program {
    name: String,
    /// Whether its wrong result is known.
    is_known: bool,
    /// Whether `program` has the words of its input as a slice, too, before them.
    has_memory: bool,
    /// Items with `#[device]` where device functions have it.
    text: String,
}

/// Writes the programs into files of their own below `folder`, and returns the text of the module that has them all.
/// `file` is a text of further programs, `without` are the names of random programs to leave out.
pub(crate) fn write(folder: &Path, file: &str, seed: u64, count: u64, without: &[&str]) -> String {
    let by_hand = by_hand::programs().chain(language::programs()).chain(ordinary::programs());
    let mut programs: Vec<Program> = by_hand.chain(in_file(file)).collect();
    let mut refused: Vec<(String, String)> = Vec::new();
    for number in 0..count {
        let name = format!("random_{number}");
        let (items, functions) = generator::program(seed << 32 | number);
        match refusal(&functions) {
            Some(reason) => refused.push(reason),
            None if without.contains(&name.as_str()) => {}
            None => {
                programs.push(Program { name, is_known: false, has_memory: false, text: items + &functions.concat() })
            }
        }
        let name = format!("memory_{number}");
        if !without.contains(&name.as_str()) {
            let text = memory::program(seed << 32 | number);
            programs.push(Program { name, is_known: false, has_memory: true, text });
        }
    }
    let mut out = String::new();
    for program in &programs {
        let path = folder.join(format!("{}.rs", program.name));
        fs::write(&path, module(program)).expect("the folder is writable");
        writeln!(out, "#[allow({ALLOWED}, reason = \"what is tested\")]\n#[path = {path:?}]\nmod {};", program.name)
            .expect("a String takes every write");
    }
    let entries: String = programs.iter().map(entry).collect();
    out + &format!(
        "/// All programs.\npub const PROGRAMS: &[crate::Program] = &[\n{entries}];\n\
         /// The seed of the random programs.\npub const SEED: u64 = {seed};\n\
         /// What the compiler refused of the random programs, with the function.\n\
         pub const REFUSED: &[(&str, &str)] = &{refused:?};\n"
    )
}

/// Returns the programs of a file, each under a line `//= name`.
fn in_file(text: &str) -> impl Iterator<Item = Program> {
    let sections = text.split("//= ").skip(1).filter_map(|section| section.split_once('\n'));
    sections.map(|(name, text)| Program {
        name: name.trim().into(),
        is_known: false,
        has_memory: false,
        text: text.into(),
    })
}

/// The lints that random programs provoke.
const ALLOWED: &str = "warnings, arithmetic_overflow, unconditional_panic, overflowing_literals, clippy::all";

/// Returns the program as device functions with a kernel that calls them for each input, and as plain Rust.
fn module(program: &Program) -> String {
    let Program { name, has_memory, text, .. } = program;
    let mut plain = text.replace("#[device]", "").replace(", DeviceCopy)", ")").replace(", DeviceType)", ")");
    if *has_memory {
        plain = plain.replace("fn program(", "fn with_memory(");
        plain +=
            "pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 { with_memory(&[a, b, c, d], a, b, c, d) }\n";
    }
    let memory = if *has_memory { "&inputs[4 * i..4 * i + 4], " } else { "" };
    format!(
        "pub(super) mod gpu {{
use phalanx::prelude::*;
{text}
#[cluster_kernel(block = 1)]
pub(crate) fn {name}(inputs: &[u64], out: &mut [u64]) {{
    for i in 0..out.len() {{
        out[i] = program({memory}inputs[4 * i], inputs[4 * i + 1], inputs[4 * i + 2], inputs[4 * i + 3]);
    }}
}}
pub(crate) fn launch(device: &Device, inputs: &[u64], count: ::core::primitive::usize) -> phalanx::Result<Vec<u64>> {{
    let mut out = device.zeros(count)?;
    {name}(&device.upload(inputs)?, &mut out).grid(1).launch(device)?;
    out.read()
}}
}}
pub(super) mod plain {{
use phalanx::prelude::*;
{plain}
}}
"
    )
}

fn entry(program: &Program) -> String {
    let Program { name, is_known, text, .. } = program;
    format!(
        "crate::Program {{ name: {name:?}, source: {text:?}, is_known: {is_known}, plain: {name}::plain::program, \
         launch: {name}::gpu::launch, cuda: phalanx::Program::of::<{name}::gpu::{name}> }},\n"
    )
}

/// Returns why the compiler refuses one of these functions, if it does.
fn refusal(functions: &[String]) -> Option<(String, String)> {
    functions.iter().find_map(|function| {
        let item: TokenStream =
            function.replace("#[device]", "").parse().unwrap_or_else(|error| panic!("{error}\n{function}"));
        let faults = Session::default().check_device(TokenStream::new(), item);
        faults.first().map(|fault| (format!("{fault:?}"), function.clone()))
    })
}
