//! Random programs of the kernel language, well typed and with borrows that rustc accepts, as text. Those that the
//! compiler refuses are left out. Used by the build script alone.

mod by_hand;
mod chain;
mod code;
mod generator;
mod number;
mod option;
mod place;
#[path = "../../../../macros/compiler/src/tests/random.rs"]
mod random;
mod scope;
mod statement;
mod types;
mod value;

use std::fmt::Write;

use phalanx_compiler::Session;
use proc_macro2::TokenStream;

/// A program: items, and device functions, of which `program` is the first to run.
struct Program {
    name: String,
    is_known: bool,
    /// Items with `#[device]` where device functions have it.
    text: String,
}

/// Returns the text of the crate's programs.
pub(crate) fn crate_text(seed: u64, count: u64) -> String {
    let by_hand = by_hand::PROGRAMS.iter().map(|(name, is_known, text)| Program {
        name: (*name).into(),
        is_known: *is_known,
        text: (*text).into(),
    });
    let mut programs: Vec<Program> = by_hand.collect();
    let mut refused: Vec<(String, String)> = Vec::new();
    for number in 0..count {
        let (items, functions) = generator::program(seed << 32 | number);
        match refusal(&functions) {
            Some(reason) => refused.push(reason),
            None => {
                let text = items + &functions.concat();
                programs.push(Program { name: format!("random_{number}"), is_known: false, text });
            }
        }
    }
    let mut out = String::new();
    for program in &programs {
        module(program, &mut out);
    }
    let entries: String = programs.iter().map(entry).collect();
    writeln!(out, "/// All programs.\npub const PROGRAMS: &[crate::Program] = &[\n{entries}];").expect("a String");
    writeln!(out, "/// The seed of the random programs.\npub const SEED: u64 = {seed};").expect("a String");
    writeln!(out, "/// What the compiler refused of the random programs, with the function.").expect("a String");
    writeln!(out, "pub const REFUSED: &[(&str, &str)] = &{refused:?};").expect("a String");
    out
}

fn module(program: &Program, out: &mut String) {
    const ALLOWED: &str = "#[allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals, clippy::all, reason = \"what is tested\")]";
    let Program { name, text, .. } = program;
    let plain = text.replace("#[device]", "").replace(", DeviceCopy)", ")");
    writeln!(
        out,
        "{ALLOWED}\nmod {name} {{\n\
         pub(super) mod gpu {{\nuse phalanx::prelude::*;\n{text}\n\
         #[cluster_kernel(block = 1)]\npub(crate) fn {name}(inputs: &[u64], out: &mut [u64]) {{\n\
         for i in 0..out.len() {{ out[i] = program(inputs[4 * i], inputs[4 * i + 1], inputs[4 * i + 2], inputs[4 * i + 3]); }}\n}}\n\
         pub(crate) fn launch(device: &Device, inputs: &[u64], count: usize) -> phalanx::Result<Vec<u64>> {{\n\
         let mut out = device.zeros(count)?;\n\
         {name}(&device.upload(inputs)?, &mut out).grid(1).launch(device)?;\nout.read()\n}}\n}}\n\
         pub(super) mod plain {{\nuse phalanx::prelude::*;\n{plain}\n}}\n}}",
    )
    .expect("a String takes every write");
}

fn entry(program: &Program) -> String {
    let Program { name, is_known, text } = program;
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
