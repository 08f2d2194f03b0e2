//! Writes a file for each change that the compiler accepts, with the changed kernel and without the others of its file, and one for each of
//! these kernels as it is. Two more files have them as modules:
//! those that rustc refuses, and the others.

#[allow(dead_code, reason = "what finds a change is asked where the kernels run")]
mod accepted;
mod changes;

use std::path::Path;
use std::{env, fs};

use accepted::{ACCEPTED, Net};
use changes::{KERNELS, changes};

/// Returns the text of a file with one of its kernels alone, for a module of its own.
fn alone(text: &str, kernel: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, at)) = rest.split_once("#[cluster_kernel") {
        let (options, item) = at.split_once("fn ").expect("a kernel");
        let (item, behind) = item.split_once("\n}\n").expect("its end");
        kept += before;
        if item.starts_with(kernel) && !item[kernel.len()..].starts_with(char::is_alphanumeric) {
            let options = options.trim_end_matches("pub(super) ");
            kept += &format!("#[cluster_kernel{options}pub(crate) fn {item}\n}}\n");
            break; // behind it is what the host does
        }
        rest = behind;
    }
    // What those parts import that are left out.
    let of_host = ["use crate::", "use serde_json", "use super::{Case", "use phalanx::Launch"];
    kept.lines().filter(|line| !of_host.iter().any(|start| line.starts_with(start))).fold(
        String::new(),
        |mut text, line| {
            text += line;
            text.push('\n');
            text
        },
    )
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    let folder = Path::new(&folder);
    println!("cargo::rerun-if-changed=accepted.rs");
    println!("cargo::rerun-if-changed=changes.rs");
    // What the kernels of several files call.
    let shared: String = ["epilogue", "persistent"]
        .into_iter()
        .map(|name| {
            let path = root.join("examples/bench/src/tensor/product").join(name).with_extension("rs");
            println!("cargo::rerun-if-changed={}", path.display());
            format!("#[path = {path:?}]\n#[allow(unused, reason = \"one of several\")]\nmod {name};\n")
        })
        .collect();
    let (mut run, mut refused) = (Modules::default(), Modules::default());
    for kernel in &KERNELS {
        let path = root.join(kernel.file);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).expect("the kernels lie in the repository");
        let listed: Vec<_> = ACCEPTED.iter().enumerate().filter(|(_, one)| one.kernel == kernel.name).collect();
        if !listed.is_empty() {
            run.add(folder, &format!("right_{}", kernel.name), kernel.name, &text);
        }
        for change in kernel.functions.iter().flat_map(|function| changes(&text, function)) {
            for (number, one) in listed.iter().filter(|(_, one)| one.line == change.line && one.what == change.what) {
                let modules = match one.net {
                    Net::Simulator(_) => &mut run,
                    Net::Rustc(_) => &mut refused,
                };
                modules.add(folder, &format!("changed_{number}"), kernel.name, &change.text);
            }
        }
    }
    let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("the folder is writable");
    write("kernels.rs", format!("{shared}{}const RUNS: &[Run] = &[\n{}];\n", run.items, run.uses));
    write("refused.rs", format!("{shared}{}const USES: &[Use] = &[\n{}];\n", refused.items, refused.uses));
}

/// Modules of one kernel each, and what a macro with the name of the kernel makes of each of them.
#[derive(Default)]
struct Modules {
    items: String,
    uses: String,
}

impl Modules {
    fn add(&mut self, folder: &Path, name: &str, kernel: &str, text: &str) {
        let path = folder.join(name).with_extension("rs");
        fs::write(&path, alone(text, kernel)).expect("the folder is writable");
        let unused = "#[allow(unused, reason = \"parts of the file are left out\")]";
        self.items += &format!("#[path = {path:?}]\n{unused}\nmod {name};\n");
        self.uses += &format!("    {kernel}!({name}),\n");
    }
}
