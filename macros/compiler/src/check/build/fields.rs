//! The fields of structs and tuples, each of which is a variable of its own.

use super::{Builder, Value, Variable};
use crate::model::LocalId;
use crate::model::expr::Member;
use crate::span::SpanRange;

impl Builder<'_> {
    /// The number of a field, by its name.
    pub(super) fn field(&mut self, member: &Member) -> u16 {
        let name = match member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(index) => index.to_string(),
        };
        let next = u16::try_from(self.fields.len()).unwrap_or(u16::MAX);
        *self.fields.entry(name).or_insert(next)
    }

    /// Reads the fields of a struct or a tuple that is read as a whole, as far as each has been set on its own.
    pub(super) fn fields_of_local(&mut self, local: LocalId, at: SpanRange) -> Vec<(u16, Value)> {
        if self.variable_of(local) != Variable::Local(local) {
            return Vec::new();
        }
        let set: Vec<u16> = self.fields_of.get(&local).into_iter().flatten().copied().collect();
        set.into_iter().map(|field| (field, Value::of(self.read(Variable::Field(local, field), at)))).collect()
    }
}
