//! The variables of a program, and which of them may be read or written where the generator is: what is borrowed may not
//! be written, what is borrowed mutably may not be named.

use std::ops::Range;

use super::types::Type;

/// What a borrow leaves of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lock {
    Free,
    Shared,
    Exclusive,
}

#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) is_mutable: bool,
    /// Whether it is a reference to a place of its type.
    pub(super) is_reference: bool,
    pub(super) lock: Lock,
}

#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) variables: Vec<Variable>,
    /// The variables that were named, by index, and whether they were written or borrowed mutably.
    named: Vec<(usize, bool)>,
}

/// What to restore when a borrow ends.
pub(super) struct Locks(Vec<Lock>);

impl Scope {
    pub(super) fn declare(&mut self, name: &str, ty: &Type, is_mutable: bool) {
        self.variables.push(Variable {
            name: name.into(),
            ty: ty.clone(),
            is_mutable,
            is_reference: false,
            lock: Lock::Free,
        });
    }

    pub(super) fn declare_reference(&mut self, name: &str, ty: &Type, is_mutable: bool) {
        self.declare(name, ty, is_mutable);
        self.variables.last_mut().expect("just declared").is_reference = true;
    }

    /// Returns the indexes of variables that are not shadowed and that the borrows allow to read, or to write.
    pub(super) fn usable(&self, to_write: bool) -> Vec<usize> {
        let most = if to_write { Lock::Free } else { Lock::Shared };
        let visible = |index: &usize| {
            let name = &self.variables[*index].name;
            self.variables[index + 1..].iter().all(|later| later.name != *name)
        };
        let allowed = |index: &usize| {
            let variable = &self.variables[*index];
            variable.lock <= most && (variable.is_mutable || !to_write)
        };
        (0..self.variables.len()).filter(visible).filter(allowed).collect()
    }

    pub(super) fn note(&mut self, index: usize, is_written: bool) {
        self.named.push((index, is_written));
    }

    /// Where the record of named variables is now.
    pub(super) fn mark(&self) -> usize {
        self.named.len()
    }

    /// Locks the variables that were named in this part of the record, as a closure that named them captures them.
    pub(super) fn lock_named(&mut self, part: Range<usize>) {
        for at in part {
            let (index, is_written) = self.named[at];
            self.lock(index, if is_written { Lock::Exclusive } else { Lock::Shared });
        }
    }

    pub(super) fn lock(&mut self, index: usize, lock: Lock) {
        if let Some(variable) = self.variables.get_mut(index) {
            variable.lock = variable.lock.max(lock);
        }
    }

    pub(super) fn lock_all(&mut self, lock: Lock) {
        (0..self.variables.len()).for_each(|index| self.lock(index, lock));
    }

    pub(super) fn locks(&self) -> Locks {
        Locks(self.variables.iter().map(|variable| variable.lock).collect())
    }

    pub(super) fn restore(&mut self, locks: &Locks) {
        for (variable, lock) in self.variables.iter_mut().zip(&locks.0) {
            variable.lock = *lock;
        }
    }
}
