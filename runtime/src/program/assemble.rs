//! Joins a kernel with the device functions it calls into one CUDA C++ text, and fills every hole. Each instance of a
//! function is printed once, callees before their callers, and the kernel last. The macros decide the text; this file
//! knows nothing about the language.

use std::any::TypeId;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use phalanx_contract::capability::Need;

use super::constants::{self, Constants};
use super::definition::Types;
use super::fences;
use super::launch_checks::LaunchChecks;
use super::literal;
use super::local::LocalMemory;
use super::name::Namer;
use super::options::KernelOptions;
use super::order::{Order, Resolved};
use super::parameters;
use super::shared::{BLOCK_BARRIER, SharedLayout};
use super::site::{SiteEntry, SiteMap};
use super::template::{Definition, Fragment, Function, Role, SharedInfo, SiteMessage, Slot};
use super::type_info::TypeInfo;
use crate::program::cuda;
use crate::report::barrier_fence::{BarrierFence, FencesByPlace};
use crate::report::error::{Error, Result};
use filling::Filling;

mod facts;
mod filling;
mod operation;

/// The name of a kernel's last parameter, the block of its launch (launch.cuh).
const LAUNCH_BLOCK: &str = "phalanx_launch";

/// A kernel as one CUDA C++ text, with the facts that a launch needs.
#[derive(Debug)]
pub struct Program {
    name: &'static str,
    file: &'static str,
    entry: String,
    source: String,
    options: KernelOptions,
    static_shared_bytes: usize,
    placed_shared_bytes: usize,
    local_memory: LocalMemory,
    prints: bool,
    has_grid_barrier: bool,
    waits_for_previous: bool,
    names_grid: bool,
    needs_alignment: bool,
    has_wide_integers: bool,
    has_narrow_floats: bool,
    parameters: Vec<String>,
    sends_to_peers: bool,
    sites: SiteMap,
    barriers: Vec<BarrierFence>,
    fences: Arc<FencesByPlace>,
    needs: Vec<(&'static str, Need)>,
    launch_checks: LaunchChecks,
}

impl Program {
    /// Returns the program of kernel `K`.
    pub fn of<K: Function>() -> Result<Program> {
        Program::assemble(K::definition())
    }

    /// Returns the program of kernel `K`, assembled once per process.
    pub(crate) fn shared<K: Function + 'static>() -> Result<Arc<Program>> {
        static PROGRAMS: Mutex<BTreeMap<TypeId, Arc<Program>>> = Mutex::new(BTreeMap::new());
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match programs.entry(TypeId::of::<K>()) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => entry.insert(Arc::new(Program::of::<K>()?)).clone(),
        })
    }

    /// Returns the kernel's name in Rust.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the Rust file that defines the kernel.
    pub(crate) fn file(&self) -> &'static str {
        self.file
    }

    /// Returns the kernel's name in the CUDA C++, which differs only if the Rust name is reserved there.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Returns the CUDA C++, without the prelude that it includes.
    pub fn cuda_source(&self) -> &str {
        &self.source
    }

    /// Returns the barriers of the cluster in the kernel and its callees, each with the fence that was chosen for its arrival.
    pub fn barriers(&self) -> &[BarrierFence] {
        &self.barriers
    }

    /// Returns what the kernel and its callees do that not every GPU can, with the file of each.
    pub(crate) fn needs(&self) -> &[(&'static str, Need)] {
        &self.needs
    }

    /// Whether the text has floats of 8 bits, which older GPUs neither convert nor multiply.
    pub(crate) fn has_narrow_floats(&self) -> bool {
        self.has_narrow_floats
    }

    /// Returns the options that the kernel's attribute fixes.
    pub(crate) fn options(&self) -> KernelOptions {
        self.options
    }

    /// Returns the size in bytes of the shared memory that the kernel and its callees declare.
    pub fn static_shared_bytes(&self) -> usize {
        self.static_shared_bytes
    }

    /// Returns the local memory that a thread needs for the values of the kernel and its callees.
    pub(crate) fn local_memory(&self) -> LocalMemory {
        self.local_memory
    }

    pub(crate) fn assemble(kernel: Definition) -> Result<Program> {
        if kernel.template.role != Role::Kernel {
            return Err(Error::NotAKernel(kernel.template.name.into()));
        }
        let mut order = Order::default();
        order.visit(kernel, &mut Vec::new())?;
        let chosen = fences::choose(&order.functions);
        let (launch_checks, numbers) = LaunchChecks::of(&order.functions);
        let names = Names::of(&order.functions);
        let local_memory = LocalMemory::of(order.functions.iter().map(|function| &function.definition));
        let headers = order.functions.iter().flat_map(|function| function.definition.template.headers.iter().copied());
        let wanted: BTreeSet<&str> = headers.chain(names.types.headers.iter().copied()).collect();
        let has_block_barrier = wanted.contains("block_barrier.cuh");
        let has_grid_barrier = wanted.contains("grid_barrier.cuh");
        let waits_for_previous = wanted.contains("wait_previous.cuh");
        let own: &[SharedInfo] = if has_block_barrier { &[BLOCK_BARRIER] } else { &[] };
        let declared = order.functions.iter().map(|function| &function.definition.shared[..]);
        let has_tiles = ["swizzled.cuh", "tensor.cuh"].iter().any(|header| wanted.contains(header));
        let shared = SharedLayout::of(declared.chain([own]), has_tiles);

        let kernel = order.functions.last().expect("the kernel is the last function");
        let tests_alignment = ["arguments.cuh", "copy.cuh", "vector.cuh"].iter().any(|header| wanted.contains(header));
        let needs_alignment = tests_alignment || kernel.definition.has_wide_elements();

        let mut text = Text::default();
        text.push("\nusing namespace phalanx;\n");
        text.push(&names.types.text());
        text.push(names.constants.text());
        for (index, function) in order.functions.iter().enumerate() {
            text.push("\n");
            let offsets = shared.offsets.as_ref().map(|offsets| &offsets[index][..]);
            text.function(&Filling {
                functions: &order.functions,
                function,
                index,
                names: &names,
                fences: &chosen[index],
                launch_checks: &numbers[index],
                offsets,
                has_block_barrier,
                needs_alignment,
            });
        }
        let headers = cuda::needed(wanted.into_iter(), &text.out);
        let has_narrow_floats = headers.contains("fp8.cuh");
        let entry = names.functions.last().expect("the kernel is the last function");
        let mut parameters = parameters::names(entry, &text.out);
        let mut head = String::new();
        if parameters.pop_if(|last| last == LAUNCH_BLOCK).is_some() {
            // The name that PTX gives to the kernel's last parameter.
            head += &format!("#define PHALANX_LAUNCH \"{entry}_param_{}\"\n", parameters.len());
        }
        if has_tiles {
            head += "#define PHALANX_TILES\n";
        }
        if headers.contains("warpgroup.cuh") {
            head += "#define PHALANX_PRODUCTS\n";
        }
        // These definitions spare the prelude from finding them out at run time.
        if shared.offsets.is_some() {
            head += &format!("#define PHALANX_PLACED_SHARED_BYTES {}\n", shared.bytes);
        }
        let KernelOptions { block, cluster, .. } = kernel.definition.options;
        for (name, extents) in [("BLOCK", block), ("CLUSTER", cluster)] {
            if let Some([x, y, z]) = extents {
                head += &format!("#define PHALANX_{name} {x}, {y}, {z}\n");
            }
        }
        let diverges = order.functions.iter().any(|function| !function.definition.template.converged);
        let knows_peers = cuda::knows_peers(&text.out);
        let known = [
            ("DIVERGENT", diverges),
            ("PEERS", knows_peers),
            ("GRID_BARRIER", has_grid_barrier),
            ("WAITS_FOR_PREVIOUS", waits_for_previous),
        ];
        for (name, holds) in known {
            head += &if holds { format!("#define PHALANX_{name}\n") } else { String::new() };
        }
        if has_block_barrier {
            head += "#define PHALANX_BLOCK_BARRIER\n";
            if let Some([offset]) = shared.offsets.as_ref().and_then(|offsets| offsets.last()).map(Vec::as_slice) {
                head += &format!("#define PHALANX_BLOCK_BARRIER_AT {offset}\n");
            }
        }
        head.extend(headers.iter().map(|header| format!("#include <phalanx/{header}>\n")));

        let templates = order.functions.iter().map(|function| function.definition.template);
        Ok(Program {
            name: kernel.definition.template.name,
            file: kernel.definition.template.file,
            entry: entry.clone(),
            source: head + &text.out,
            options: kernel.definition.options,
            static_shared_bytes: shared.bytes,
            local_memory,
            placed_shared_bytes: if shared.offsets.is_some() { shared.bytes } else { 0 },
            prints: headers.contains("print.cuh"),
            has_grid_barrier,
            has_narrow_floats,
            waits_for_previous,
            parameters,
            names_grid: text.out.contains("this_grid("),
            needs_alignment,
            has_wide_integers: kernel.definition.template.has_wide_integers(),
            sends_to_peers: cuda::sends_to_peers(&text.out),
            sites: text.sites,
            barriers: fences::arrivals(&order.functions, &chosen),
            fences: Arc::new(fences::by_place(&order.functions, &chosen)),
            needs: templates.flat_map(|of| of.needs.iter().map(|need| (of.file, *need))).collect(),
            launch_checks,
        })
    }
}

/// The names of the program's functions, types and constants.
struct Names {
    /// The names of [`Order::functions`].
    functions: Vec<String>,
    types: Types,
    constants: Constants,
}

impl Names {
    fn of(functions: &[Resolved]) -> Names {
        let definitions = || functions.iter().map(|function| &function.definition);
        let mut types = Types::default();
        for definition in definitions() {
            let slots = definition.slots.iter().filter_map(|slot| match slot {
                Slot::Type(info) => Some(info),
                Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_) => None,
            });
            let values = definition.values.iter().map(|constant| &constant.ty);
            slots.chain(&definition.types).chain(values).for_each(|ty| types.collect(ty));
        }
        let locals = definitions().flat_map(|definition| definition.template.locals.iter().copied());
        let mut namer = Namer::new(locals.chain(definitions().flat_map(constants::declared)));
        let mut names = vec![String::new(); functions.len()];
        // The kernel is last in the text and chooses its name first, because profilers show it.
        for (name, function) in names.iter_mut().zip(functions).rev() {
            *name = namer.name(&function.definition);
        }
        types.choose_names(&mut namer);
        let constants = Constants::of(definitions(), &types, &mut namer);
        Names { functions: names, types, constants }
    }
}

/// The text so far, and a compiler's current line and column in it.
struct Text {
    out: String,
    /// The file that `#line` named last; `None` before the first site, so the length of the head does not matter.
    file: Option<&'static str>,
    line: u32,
    column: u32,
    sites: SiteMap,
    /// The comment that the current line ends with.
    comment: Option<String>,
}

impl Default for Text {
    fn default() -> Self {
        Text { out: String::new(), file: None, line: 1, column: 1, sites: SiteMap::default(), comment: None }
    }
}

impl Text {
    fn push(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                Some(line) => {
                    self.out.push_str(line);
                    if let Some(comment) = self.comment.take() {
                        self.out.push_str(&format!(" // {comment}"));
                    }
                    self.out.push('\n');
                    self.line += 1;
                    self.column = 1;
                }
                None => {
                    self.out.push_str(line);
                    self.column += line.len() as u32;
                }
            }
        }
    }

    fn function(&mut self, filling: &Filling<'_>) {
        let template = filling.function.definition.template;
        self.fragments(template.signature, filling);
        self.push(" ");
        self.fragments(template.body, filling);
        self.push("\n");
    }

    fn fragments(&mut self, fragments: &[Fragment], filling: &Filling<'_>) {
        fragments.iter().for_each(|fragment| self.fragment(*fragment, filling));
    }

    fn fragment(&mut self, fragment: Fragment, filling: &Filling<'_>) {
        let Filling { function, names, .. } = filling;
        let definition = &function.definition;
        let spell = |ty: &TypeInfo| names.types.spell(ty);
        match fragment {
            Fragment::Text(text) => self.push(text),
            Fragment::Line(line) => self.start_line(definition.template.file, line),
            Fragment::Type(slot) => self.push(&spell(filling.slot(slot))),
            Fragment::Literal { slot, digits } => self.push(&literal::literal(&spell(filling.slot(slot)), digits)),
            Fragment::Named(index) => self.push(&spell(&definition.types[usize::from(index)])),
            Fragment::Declare(index) => {
                if let Some(declaration) = constants::declaration(definition, index, &names.types) {
                    self.push(&declaration);
                }
            }
            Fragment::Constant(index) => self.push(&names.constants.name(definition, index, &names.types)),
            Fragment::Digits(index) => self.push(&definition.values[usize::from(index)].digits()),
            Fragment::Struct { slot, variant, fields, base } => {
                self.structure((filling.slot(slot), variant), fields, base, filling);
            }
            Fragment::Shared { index, ty, name } => self.shared(index, ty, name, filling),
            Fragment::Alone { callees, text } => {
                if !filling.any_collective(callees) {
                    self.fragments(text, filling);
                }
            }
            Fragment::Within { number, least, most, text } => {
                if definition.values[usize::from(number)].is_within(least, most) {
                    self.fragments(text, filling);
                }
            }
            Fragment::Operator { text } => match filling.may_fail(text) {
                true => self.fragments(text, filling),
                false => {
                    self.push("detail::total(");
                    self.fragments(text, filling);
                    self.push(")");
                }
            },
            Fragment::Then { callee, has_arguments, inside } => {
                let takes = filling.called(callee).is_some_and(|callee| callee.definition.template.continued);
                let joins = takes && !filling.any_collective(inside);
                self.push(match (joins, has_arguments) {
                    (true, true) => ", ",
                    (true, false) => "",
                    (false, _) => ").then(",
                });
            }
            Fragment::Name => self.push(&names.functions[filling.index]),
            Fragment::Bounds => self.push(&definition.options.bounds()),
            Fragment::Prologue { known, has_wide, .. } => {
                if filling.has_block_barrier {
                    self.push("    detail::init_block_barrier();\n");
                }
                if has_wide || filling.needs_alignment && !known.is_empty() {
                    self.push(&format!("    assume_arguments({known});\n"));
                }
            }
            Fragment::Callee(slot) => self.push(&names.functions[function.callees[&usize::from(slot)]]),
            Fragment::Operation { callee, symbol, operands } => self.operation(callee, symbol, operands, filling),
            Fragment::Site(index) => self.site(definition, index),
            Fragment::AtLaunch(checks, text) if filling.checks_at_launch(checks) => self.fragments(text, filling),
            Fragment::AtLaunch(..) => {}
            Fragment::LaunchCheck(index) => self.push(&filling.number_at_launch(index)),
            Fragment::Fence(index) => {
                let barrier = &filling.fences[usize::from(index)];
                self.push(barrier.suffix());
                if !barrier.waits {
                    self.comment = Some(BarrierFence::new(definition.template.file, barrier).reason());
                }
            }
        }
    }

    /// Prints a value of a struct, its fields in the order of declaration.
    fn structure(
        &mut self,
        (ty, variant): (&TypeInfo, &str),
        given: &[(&str, &'static [Fragment])],
        base: Option<&'static [Fragment]>,
        filling: &Filling<'_>,
    ) {
        let fields = ty.fields(variant);
        let call = if variant.is_empty() { String::new() } else { format!("::of_{variant}(") };
        self.push(&format!("{}{call}{{", filling.names.types.spell(ty)));
        let mut before = "";
        for field in fields {
            let value = given.iter().find(|(name, _)| *name == field.name).map(|(_, value)| *value);
            self.push(&format!("{before}.{} = ", field.name));
            match (value, base) {
                (Some(value), _) => self.fragments(value, filling),
                (None, Some(base)) => {
                    self.fragments(base, filling);
                    self.push(&format!(".{}", field.name));
                }
                (None, None) => unreachable!("rustc has seen that `{}` of {ty} is given", field.name),
            }
            before = ", ";
        }
        self.push(if variant.is_empty() { "}" } else { "})" });
    }

    /// Prints the declaration of a shared array.
    fn shared(&mut self, index: u16, ty: &'static [Fragment], name: &str, filling: &Filling<'_>) {
        match filling.offsets {
            None => {
                self.push("__shared__ ");
                self.fragments(ty, filling);
                self.push(&format!(" {name}; keep_address({name});"));
            }
            Some(offsets) => {
                self.push(&format!("auto& {name} = placed_shared<"));
                self.fragments(ty, filling);
                self.push(&format!(", {}>();", offsets[usize::from(index)]));
            }
        }
    }

    fn start_line(&mut self, file: &'static str, line: u32) {
        if self.column != 1 {
            self.push("\n");
        }
        // A few empty lines are more readable than a directive.
        if self.file == Some(file) && (self.line..self.line + 4).contains(&line) {
            while self.line < line {
                self.push("\n");
            }
        }
        if (self.file, self.line) != (Some(file), line) {
            let shown = line_name(file);
            writeln!(self.out, "#line {line} \"{shown}\"").expect("a String takes every write");
            (self.file, self.line) = (Some(file), line);
        }
    }

    /// Adds a site at the position of the next character. If another site has the same line and column, because two
    /// functions have the same line number in two files, this one is shifted right by spaces.
    fn site(&mut self, definition: &Definition, index: u16) {
        let site = definition.template.sites[usize::from(index)];
        let message = match site.message {
            SiteMessage::None | SiteMessage::Text(_) => None,
            SiteMessage::Slot(slot) => match definition.slots[usize::from(slot)] {
                Slot::Message(format) => Some((definition.instance, format)),
                Slot::Type(_) | Slot::Callee(_) | Slot::BuiltIn => {
                    unreachable!("the macro numbered slot {slot} for a message")
                }
            },
        };
        let entry = SiteEntry { file: definition.template.file, site, message };
        while !self.sites.insert(self.line, self.column, entry) {
            self.push(" ");
        }
    }
}

/// Returns a file's name for `#line`. No character needs an escape, because NVRTC copies the name to the PTX of
/// `--generate-line-info` without one. Failures name the file itself.
fn line_name(file: &str) -> String {
    let plain = |c: char| match c {
        '\\' => '/',
        '"' => '\'',
        c if c.is_control() => '?',
        c => c,
    };
    // The trigraphs of C++ begin with two question marks.
    file.chars().map(plain).collect::<String>().replace("??", "?_")
}

#[cfg(test)]
mod tests;
