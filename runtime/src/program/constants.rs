//! Decides where the constants of a program are declared. A scalar, a vector or a struct of these is declared in each
//! function that names it, so that the compiler folds it; a constant with an array is declared once, at namespace
//! scope, in constant memory, or in global memory if the threads of a warp read different elements at once, which constant memory
//! answers one after the other (CUDA C++ Programming Guide, Device Memory Accesses). A small table that is read so often is copied to
//! shared memory, where the kernel begins: a load from there needs no address of 64 bits, and has fewer stages to pass. A variant of
//! an enum is not declared.

use std::collections::BTreeMap;

use super::constant::{Constant, Reads, Value};
use super::definition::Types;
use super::name::Namer;
use super::template::Definition;

/// The constant memory that constants may take, in bytes. There are 64 KiB (CUDA C++ Programming Guide, technical
/// specifications), of which the prelude uses a few bytes; further constants lie in global memory.
const CONSTANT_MEMORY: usize = 60 * 1024;

/// The shared memory that copies of tables may take, in bytes: more would take a block longer to copy than its reads of them gain.
const COPIES: usize = 4 * 1024;

/// The shared memory that a kernel may declare with the copies, in bytes, so that they do not keep a block of 256 threads from a
/// multiprocessor, which has room for eight of these (228 KiB, of which each block takes 1 KiB more than it declares).
const SHARED_MEMORY: usize = 24 * 1024;

/// The alignment of a copied table, in bytes: it is copied by words.
const COPY_ALIGN: usize = 16;

/// The place of a constant's declaration.
enum Placement {
    /// The constant is declared in the function.
    Local,
    /// The constant is declared at namespace scope.
    Program,
    /// The constant is written where it is used.
    Nowhere,
}

fn placement(constant: &Constant) -> Placement {
    match constant.value {
        Value::Variant(_) => Placement::Nowhere,
        Value::Elements(_) | Value::Fields(_) if constant.ty.has_array() => Placement::Program,
        Value::Elements(_) | Value::Fields(_) | Value::Scalar(_) => Placement::Local,
    }
}

/// Returns the constants that bodies name as values, and not only as lengths, with their names there.
fn named(definition: &Definition) -> impl Iterator<Item = (&'static str, &Constant)> {
    let names = definition.template.constants.iter().copied();
    names.zip(&definition.values).filter(|(name, _)| !name.is_empty())
}

/// Returns the names of the constants that a function declares itself.
pub(super) fn declared(definition: &Definition) -> impl Iterator<Item = &'static str> {
    named(definition).filter(|(_, constant)| matches!(placement(constant), Placement::Local)).map(|(name, _)| name)
}

/// Returns the line that declares a constant in a function, if it is declared there.
pub(super) fn declaration(definition: &Definition, index: u16, types: &Types) -> Option<String> {
    let index = usize::from(index);
    let (name, constant) = (definition.template.constants[index], &definition.values[index]);
    match placement(constant) {
        Placement::Local => {
            let value = constant.expression(&|ty| types.spell(ty));
            Some(format!("    constexpr auto {name} = {value};\n"))
        }
        Placement::Program | Placement::Nowhere => None,
    }
}

/// The constants at namespace scope. Constants of equal type and value are declared once.
#[derive(Default)]
pub(super) struct Constants {
    /// The names by type and initializer.
    names: BTreeMap<(String, String), String>,
    text: String,
    /// The tables in shared memory, and what each is copied of.
    copies: Vec<(String, String)>,
    /// The shared memory that they take, in bytes.
    pub(super) copied_bytes: usize,
}

impl Constants {
    /// Chooses the places of the constants of functions that declare `shared` bytes of shared memory themselves, if that is not to
    /// be dynamic.
    pub(super) fn of<'a>(
        definitions: impl Iterator<Item = &'a Definition> + Clone,
        types: &Types,
        namer: &mut Namer,
        shared: Option<usize>,
    ) -> Constants {
        let mut constants = Constants::default();
        let mut bytes = 0;
        let room = shared.map_or(0, |shared| SHARED_MEMORY.saturating_sub(shared)).min(COPIES);
        let mut reads = BTreeMap::new();
        for (_, constant) in definitions.clone().flat_map(named) {
            let of_all = reads.entry(key(constant, types)).or_insert(constant.reads);
            *of_all = constant.reads.max(*of_all);
        }
        for (wanted, constant) in definitions.flat_map(named) {
            let Placement::Program = placement(constant) else { continue };
            let key = key(constant, types);
            if constants.names.contains_key(&key) {
                continue;
            }
            let name = namer.constant(wanted);
            let size = constant.ty.in_cuda().0;
            let copied = size.next_multiple_of(COPY_ALIGN);
            match reads[&key] {
                Reads::ScatteredOften if constants.copied_bytes + copied <= room => {
                    let original = namer.constant(wanted);
                    constants.text += &format!(
                        "\nalignas({COPY_ALIGN}) __device__ const {} {original}{};\nalignas({COPY_ALIGN}) __shared__ {} {name};\n",
                        key.0, key.1, key.0
                    );
                    constants.copies.push((name.clone(), original));
                    constants.copied_bytes += copied;
                }
                Reads::Together if bytes + size <= CONSTANT_MEMORY => {
                    bytes += size;
                    constants.text += &format!("\n__constant__ const {} {name}{};\n", key.0, key.1);
                }
                Reads::Together | Reads::Scattered | Reads::ScatteredOften => {
                    constants.text += &format!("\n__device__ const {} {name}{};\n", key.0, key.1);
                }
            }
            constants.names.insert(key, name);
        }
        constants
    }

    /// Returns the statements that a kernel begins with, which copy tables to shared memory.
    pub(super) fn copies(&self) -> String {
        let copies = self.copies.iter().map(|(to, from)| format!("    detail::copy_table({to}, {from});\n"));
        let copies: String = copies.collect();
        if copies.is_empty() { copies } else { copies + "    this_thread_block().sync();\n" }
    }

    /// Returns the declarations.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name of a constant in a body.
    pub(super) fn name(&self, definition: &Definition, index: u16, types: &Types) -> String {
        let index = usize::from(index);
        let constant = &definition.values[index];
        match placement(constant) {
            Placement::Local => definition.template.constants[index].into(),
            Placement::Nowhere => constant.expression(&|ty| types.spell(ty)),
            Placement::Program => self.names[&key(constant, types)].clone(),
        }
    }
}

fn key(constant: &Constant, types: &Types) -> (String, String) {
    let spell = |ty: &_| types.spell(ty);
    (spell(&constant.ty), constant.initializer(&spell))
}
