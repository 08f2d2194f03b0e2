//! Structs and tuples as the host's checks know them (`checks`): where a field's value comes from, and the fields of what a function is
//! given or returns.

use super::scope::{Origin, Scope};
use crate::emit::cuda::at_launch::{LaunchPart, Term, Terms};
use crate::emit::cuda::name::field_name;
use crate::model::expr::{Expr, ExprKind, Member};
use crate::model::{LocalId, SlotId};

/// How deep structs in structs are followed.
const DEEPEST: usize = 4;

/// Where a value comes from.
pub(super) enum Whence<'e> {
    /// The text shows it.
    Value(&'e Expr),
    /// A parameter, or the way to a part of it.
    Parameter(u8, Vec<String>),
    /// The result of a call, or the way to a part of it.
    Result(SlotId, Vec<String>),
}

impl Whence<'_> {
    /// Returns where a field of a parameter or of a result comes from.
    pub(super) fn field(&self, name: &Member) -> Option<Self> {
        let with = |path: &[String]| [path, &[field_name(name)]].concat();
        match self {
            Whence::Value(_) => None,
            Whence::Parameter(index, path) => Some(Whence::Parameter(*index, with(path))),
            Whence::Result(slot, path) => Some(Whence::Result(*slot, with(path))),
        }
    }

    /// Returns the parameter or the result.
    pub(super) fn terms(&self) -> Option<Terms> {
        match self {
            Whence::Value(_) => None,
            Whence::Parameter(index, path) if path.is_empty() => Some(vec![Term::Parameter(*index)]),
            Whence::Parameter(index, path) => Some(vec![Term::Field(*index, path.clone())]),
            Whence::Result(slot, path) => Some(vec![Term::Result(*slot, path.clone())]),
        }
    }
}

impl<'e> Scope<'e> {
    /// Returns where a value comes from, through names and fields.
    pub(super) fn whence(&self, expr: &'e Expr) -> Option<Whence<'e>> {
        match &expr.kind {
            ExprKind::Local(local) => self.whence_local(*local),
            ExprKind::Typed(inner, _) | ExprKind::Deref(inner) | ExprKind::Borrow { mutable: false, target: inner } => {
                self.whence(inner)
            }
            ExprKind::Field { base, member } => match self.whence(base)? {
                Whence::Value(whole) => self.whence(field(whole, member)?),
                part => part.field(member),
            },
            ExprKind::Call { slot, .. } => Some(Whence::Result(*slot, Vec::new())),
            _ => Some(Whence::Value(expr)),
        }
    }

    fn whence_local(&self, local: LocalId) -> Option<Whence<'e>> {
        match self.origin(local)? {
            Origin::Parameter(index) => Some(Whence::Parameter(index, Vec::new())),
            Origin::Value(init, None) => self.whence(init),
            Origin::Value(..) | Origin::Range(_) | Origin::Terms(_) => None,
        }
    }

    /// Returns the fields of a value that is a struct or a tuple, and theirs; otherwise the value itself. `of` returns what a field is.
    pub(super) fn parts(
        &mut self,
        value: &'e Expr,
        of: &mut impl FnMut(&mut Scope<'e>, &'e Expr) -> Terms,
    ) -> Vec<LaunchPart> {
        let mut parts = Vec::new();
        self.add_parts(value, Vec::new(), of, &mut parts);
        parts
    }

    fn add_parts(
        &mut self,
        value: &'e Expr,
        path: Vec<String>,
        of: &mut impl FnMut(&mut Scope<'e>, &'e Expr) -> Terms,
        parts: &mut Vec<LaunchPart>,
    ) {
        let whole = match self.whence(value) {
            Some(Whence::Value(whole)) if path.len() < DEEPEST => whole,
            _ => value,
        };
        let mut add = |name: String, field: &'e Expr| {
            let path = [&path[..], &[name]].concat();
            self.add_parts(field, path, of, parts);
        };
        match &whole.kind {
            ExprKind::Struct { fields, .. } => {
                fields.iter().for_each(|(name, field)| add(field_name(name), field));
            }
            ExprKind::Tuple { elements, .. } => {
                (0..).zip(elements).for_each(|(index, field)| add(field_name(&Member::Unnamed(index)), field));
            }
            _ => {
                let value = of(self, value);
                parts.extend((!value.is_empty()).then_some(LaunchPart { path, value }));
            }
        }
    }
}

/// Returns the value of a field, if the text shows the value of the struct or the tuple.
fn field<'e>(whole: &'e Expr, member: &Member) -> Option<&'e Expr> {
    match &whole.kind {
        ExprKind::Struct { fields, .. } => fields.iter().find(|(name, _)| name == member).map(|(_, value)| value),
        ExprKind::Tuple { elements, .. } => match member {
            Member::Unnamed(index) => elements.get(*index as usize),
            Member::Named(_) => None,
        },
        _ => None,
    }
}
