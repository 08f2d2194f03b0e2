//! A map of variables, which are small numbers for the most part: looking one up is an index into a table.

use std::collections::BTreeMap;

use super::value::Variable;
use crate::model::LocalId;

/// A map of variables.
#[derive(Debug)]
pub(crate) struct ByVariable<T> {
    locals: Vec<Option<T>>,
    temporaries: Vec<Option<T>>,
    fields: BTreeMap<(LocalId, u16), T>,
}

impl<T> Default for ByVariable<T> {
    fn default() -> Self {
        ByVariable { locals: Vec::new(), temporaries: Vec::new(), fields: BTreeMap::new() }
    }
}

impl<T> ByVariable<T> {
    pub(crate) fn get(&self, variable: Variable) -> Option<&T> {
        match variable {
            Variable::Local(LocalId(local)) => self.locals.get(local)?.as_ref(),
            Variable::Temporary(number) => self.temporaries.get(number)?.as_ref(),
            Variable::Field(local, field) => self.fields.get(&(local, field)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Variable, &T)> {
        let locals = (0..).map(|local| Variable::Local(LocalId(local))).zip(&self.locals);
        let temporaries = (0..).map(Variable::Temporary).zip(&self.temporaries);
        let fields = self.fields.iter().map(|((local, field), entry)| (Variable::Field(*local, *field), entry));
        locals.chain(temporaries).filter_map(|(variable, entry)| Some((variable, entry.as_ref()?))).chain(fields)
    }

    /// Returns the entry of a variable, which is `new` if there was none.
    pub(crate) fn get_or_insert(&mut self, variable: Variable, new: T) -> &mut T {
        let (table, index) = match variable {
            Variable::Local(LocalId(local)) => (&mut self.locals, local),
            Variable::Temporary(number) => (&mut self.temporaries, number),
            Variable::Field(local, field) => return self.fields.entry((local, field)).or_insert(new),
        };
        if table.len() <= index {
            table.resize_with(index + 1, || None);
        }
        table[index].get_or_insert(new)
    }
}
