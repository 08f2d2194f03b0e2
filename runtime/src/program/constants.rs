//! Decides where the constants of a program are declared. A scalar, a vector or a struct of these is declared in each
//! function that names it, so that the compiler folds it; a constant with an array is declared once, at namespace
//! scope, in constant memory, or in global memory if the threads of a warp read different elements at once, which constant memory
//! answers one after the other (CUDA C++ Programming Guide, Device Memory Accesses); a variant of an enum is not declared.

use std::collections::{BTreeMap, BTreeSet};

use super::constant::{Constant, Value};
use super::definition::Types;
use super::name::Namer;
use super::template::Definition;

/// The constant memory that constants may take, in bytes. There are 64 KiB (CUDA C++ Programming Guide, technical
/// specifications), of which the prelude uses a few bytes; further constants lie in global memory.
const CONSTANT_MEMORY: usize = 60 * 1024;

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
        Value::Case(_, _, ref fields) if fields.is_empty() => Placement::Nowhere,
        Value::Elements(_) | Value::Fields(_) | Value::Case(..) if constant.ty.has_array() => Placement::Program,
        Value::Elements(_) | Value::Fields(_) | Value::Case(..) | Value::Scalar(_) => Placement::Local,
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
}

impl Constants {
    pub(super) fn of<'a>(
        definitions: impl Iterator<Item = &'a Definition> + Clone,
        types: &Types,
        namer: &mut Namer,
    ) -> Constants {
        let mut constants = Constants::default();
        let mut bytes = 0;
        let scattered = definitions.clone().flat_map(named).filter(|(_, constant)| constant.scattered);
        let scattered: BTreeSet<_> = scattered.map(|(_, constant)| key(constant, types)).collect();
        for (wanted, constant) in definitions.flat_map(named) {
            let Placement::Program = placement(constant) else { continue };
            let key = key(constant, types);
            if constants.names.contains_key(&key) {
                continue;
            }
            let name = namer.constant(wanted);
            let space = match bytes + constant.ty.in_cuda().0 {
                all if all <= CONSTANT_MEMORY && !scattered.contains(&key) => {
                    bytes = all;
                    "__constant__"
                }
                _ => "__device__",
            };
            constants.text += &format!("\n{space} const {} {name}{};\n", key.0, key.1);
            constants.names.insert(key, name);
        }
        constants
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
