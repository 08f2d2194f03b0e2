//! The value that the arms of an `if`, a `match` or a loop yield: a temporary gets it in each arm, and further ones get its fields,
//! so that `let (from, to) = if .. { (0, 1) } else { (1, 0) }` keeps them apart.

use std::collections::BTreeMap;

use super::{Builder, Value, Variable};
use crate::check::cfg::Extent;
use crate::model::expr::Expr;
use crate::model::kind::Kind;
use crate::span::SpanRange;

/// What the arms of an `if` or the like yield.
#[derive(Debug, Default)]
pub(super) struct Yielded {
    /// The number of arms.
    arms: usize,
    /// The number of those that yield `None`, of which nobody reads a field.
    nothing: usize,
    /// The temporary of each field, with the number of arms that set it.
    fields: BTreeMap<u16, (Variable, usize)>,
}

impl Builder<'_> {
    /// Sets the temporaries of the fields of a value that several arms yield.
    pub(super) fn set_fields(&mut self, joined: usize, value: &Value, at: SpanRange) {
        let is_nothing = self.is_nothing(value);
        let yielded = self.yielded.entry(joined).or_default();
        yielded.arms += 1;
        yielded.nothing += usize::from(is_nothing);
        for (field, value) in &value.fields {
            let known = self.yielded.get(&joined).and_then(|yielded| yielded.fields.get(field));
            let (temporary, arms) = known.copied().unwrap_or_else(|| (self.temporary(), 0));
            self.yielded.entry(joined).or_default().fields.insert(*field, (temporary, arms + 1));
            self.set_node(temporary, value.node, Extent::Whole, at);
        }
    }

    /// The value that the paths into the current block have put into a variable.
    pub(super) fn joined(&mut self, expr: &Expr, variable: Variable) -> Value {
        let token = matches!(expr.result_kind, Kind::Token(_) | Kind::OptionalToken(_)).then_some(variable);
        let fields = self.fields_of_all_arms(variable);
        let fields = fields.into_iter().map(|(field, of)| (field, Value::of(self.read(of, expr.span)))).collect();
        Value { fields, ..Value::of(self.read(variable, expr.span)).with(token) }
    }

    /// The temporaries of the fields that every arm yields that yields anything.
    fn fields_of_all_arms(&self, variable: Variable) -> Vec<(u16, Variable)> {
        let Variable::Temporary(joined) = variable else { return Vec::new() };
        let Some(Yielded { arms: all, nothing, fields }) = self.yielded.get(&joined) else { return Vec::new() };
        let of_all = fields.iter().filter(|(_, (_, arms))| arms == all || arms + nothing == *all);
        of_all.map(|(field, (temporary, _))| (*field, *temporary)).collect()
    }
}
