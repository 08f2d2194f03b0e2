//! The functions of a program in the order of their definitions: callees before their callers, each instance once.

use std::collections::BTreeMap;

use super::template::{Definition, Slot, Template};
use crate::report::error::{Error, Result};

/// Identifies an instance of a function by the function's `static` template and the instance's type name.
type InstanceKey = (*const Template, &'static str);

fn key(definition: &Definition) -> InstanceKey {
    (definition.template, definition.instance)
}

/// A function with the indices of its callees in [`Order::functions`], one for each slot that is a callee.
pub(super) struct Resolved {
    pub(super) definition: Definition,
    pub(super) callees: BTreeMap<usize, usize>,
    /// Whether threads do something together in it, or in a function that it calls.
    pub(super) collective: bool,
    /// Whether anything in it, or in a function that it calls, can fail.
    pub(super) may_fail: bool,
}

impl Resolved {
    /// Returns the index of the function of a slot, which an operator of C++ is not.
    pub(super) fn callee(&self, slot: u16) -> Option<usize> {
        self.callees.get(&usize::from(slot)).copied()
    }
}

/// The functions of a program, callees first.
#[derive(Default)]
pub(super) struct Order {
    pub(super) functions: Vec<Resolved>,
    indices: BTreeMap<InstanceKey, usize>,
}

impl Order {
    /// Adds `definition` after everything that it calls, and returns its index. `path` is the chain of calls that led
    /// to it.
    pub(super) fn visit(
        &mut self,
        definition: Definition,
        path: &mut Vec<(InstanceKey, &'static str)>,
    ) -> Result<usize> {
        let key = key(&definition);
        if let Some(&index) = self.indices.get(&key) {
            return Ok(index);
        }
        let name = definition.template.name;
        if let Some(start) = path.iter().position(|(other, _)| *other == key) {
            let cycle = path[start..].iter().map(|(_, name)| *name).chain([name]);
            return Err(Error::Recursion { cycle: cycle.map(str::to_string).collect() });
        }
        path.push((key, name));
        let mut callees = BTreeMap::new();
        for (slot, content) in definition.slots.iter().enumerate() {
            if let Slot::Callee(callee) = content {
                callees.insert(slot, self.visit(callee(), path)?);
            }
        }
        path.pop();
        let index = self.functions.len();
        let collective =
            definition.template.collective || callees.values().any(|&callee| self.functions[callee].collective);
        let may_fail =
            !definition.template.sites.is_empty() || callees.values().any(|&callee| self.functions[callee].may_fail);
        self.functions.push(Resolved { definition, callees, collective, may_fail });
        self.indices.insert(key, index);
        Ok(index)
    }
}
