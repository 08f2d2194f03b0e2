//! Finds how much local memory the values of a program take, from the types that its text names. What the compiler
//! keeps in registers or discards is counted, too.

use super::template::{Definition, Fragment, Slot};
use super::type_info::TypeInfo;

/// The local memory that a thread of a program needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LocalMemory {
    /// The size in bytes of the largest value that a function creates.
    pub(crate) largest: usize,
    /// The size in bytes of one value of each type that the functions name, once for each time they name it.
    pub(crate) total: usize,
}

impl LocalMemory {
    /// Returns the local memory of functions together, which may all have a frame at a time.
    pub(super) fn of<'d>(functions: impl Iterator<Item = &'d Definition>) -> LocalMemory {
        functions.fold(LocalMemory::default(), |LocalMemory { largest, total }, function| {
            let slot = |slot: &u16| match function.slots.get(usize::from(*slot)) {
                Some(Slot::Type(info)) => info.size,
                Some(Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_)) | None => 0,
            };
            // A type that only the signature names may be that of a buffer's elements.
            let created = function.template.body.iter().filter_map(|fragment| match fragment {
                Fragment::Type(number) => Some(slot(number)),
                _ => None,
            });
            let named = function.slots.iter().filter_map(|slot| match slot {
                Slot::Type(info) => Some(info),
                Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_) => None,
            });
            let sizes = named.chain(&function.types).map(|info: &TypeInfo| info.size);
            LocalMemory { largest: created.fold(largest, usize::max), total: sizes.fold(total, usize::saturating_add) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::launch_terms::LaunchTerms;
    use crate::program::options::KernelOptions;
    use crate::program::template::{Role, Template};
    use crate::program::types::DeviceType;

    #[test]
    fn values_that_the_body_creates_count() {
        static TEMPLATE: Template = Template {
            name: "k",
            module: "m",
            file: "k.rs",
            role: Role::Kernel,
            signature: &[Fragment::Type(0)],
            body: &[Fragment::Type(1), Fragment::Type(2), Fragment::Text("{}")],
            sites: &[],
            headers: &[],
            locals: &[],
            constants: &[],
            collective: false,
            converged: true,
            fences: phalanx_contract::fence::FunctionFences::NONE,
            needs: &[],
            launch: LaunchTerms::NONE,
            continued: false,
        };
        let definition = Definition {
            template: &TEMPLATE,
            options: KernelOptions::NONE,
            instance: "k",
            slots: [<[u64; 1000]>::info(), <[u8; 300]>::info(), u32::info()].map(Slot::Type).into(),
            types: vec![],
            values: vec![],
            shared: vec![],
        };
        let memory = LocalMemory::of([&definition, &definition].into_iter());
        assert_eq!(memory, LocalMemory { largest: 300, total: 2 * 8304 });
    }
}
