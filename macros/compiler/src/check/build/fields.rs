//! The fields of structs and tuples, each of which is a variable of its own, and the variant of an `Option`, which is one too:
//! whether there is something may be uniform where what there is differs. And what of an element of memory an access of a field is.

use proc_macro2::Ident;

use super::{Builder, NodeId, Source, Value, Variable};
use crate::check::cfg::{Computed, Covers, Extent, StepKind, ValueStep};
use crate::model::expr::{Expr, ExprKind, Member};
use crate::model::op::Variant;
use crate::model::{LocalId, ValueId};
use crate::span::SpanRange;

/// The name of the field that stands for the variant of an `Option`. No field of a user's has it.
const VARIANT: &str = "Some?";

/// The name of the field that stands for the variant of an enum with fields.
const WHICH: &str = "which?";

impl Builder<'_> {
    /// The number of a field, by its name.
    pub(super) fn field(&mut self, member: &Member) -> u16 {
        let name = match member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(index) => index.to_string(),
        };
        self.numbered(name)
    }

    /// The number of a field of a variant of an enum, or of a struct. No field of a user's has the name of one of a variant.
    pub(super) fn field_of_variant(&mut self, variant: Option<&Ident>, member: &Member) -> u16 {
        match (variant, member) {
            (None, member) => self.field(member),
            (Some(variant), Member::Named(name)) => self.numbered(format!("{variant}.{name}")),
            (Some(variant), Member::Unnamed(index)) => self.numbered(format!("{variant}.{index}")),
        }
    }

    /// The number of the field that stands for the variant of an enum: which one it is may be uniform where its fields differ.
    pub(super) fn which_variant(&mut self) -> u16 {
        self.numbered(WHICH.to_string())
    }

    /// Builds a constant that has a name, which may be a variant of an enum.
    pub(super) fn named_constant(&mut self, constant: ValueId, at: SpanRange) -> Value {
        let mut value = Value::of(self.node(Source::Constant(constant), Vec::new(), at));
        if self.function.values[usize::from(constant.0)].is_variant {
            let (which, known) = (self.which_variant(), Value::of(value.node));
            value.fields.push((which, known));
        }
        value
    }

    /// Whether a value is of a variant of an enum.
    pub(super) fn is_of_enum(&mut self, value: &Value, at: SpanRange) -> NodeId {
        let which = self.which_variant();
        let which = self.known_part(value, which);
        self.combined(vec![which.node], at).node
    }

    pub(super) fn numbered(&mut self, name: String) -> u16 {
        let next = u16::try_from(self.fields.len()).unwrap_or(u16::MAX);
        *self.fields.entry(name).or_insert(next)
    }

    /// Sets a variable to a value, and its fields, as far as they are known.
    pub(super) fn set(&mut self, variable: Variable, value: &Value, at: SpanRange) {
        self.set_node(variable, value.node, Extent::Whole, at);
        if let Variable::Field(local, field) = variable {
            self.fields_of.entry(local).or_default().insert(field);
            self.set_variant_of_field(local, field, value, at);
        }
        if let Variable::Local(local) = variable {
            for (field, value) in &value.fields {
                self.fields_of.entry(local).or_default().insert(*field);
                self.set_node(Variable::Field(local, *field), value.node, Extent::Whole, at);
                self.set_variant_of_field(local, *field, value, at);
            }
        }
    }

    /// Reads the fields of a struct or a tuple that is read as a whole, as far as each has been set on its own.
    pub(super) fn fields_of_local(&mut self, local: LocalId, at: SpanRange) -> Vec<(u16, Value)> {
        if self.variable_of(local) != Variable::Local(local) {
            return Vec::new();
        }
        let set = self.fields_of.get(&local).into_iter().flatten().copied();
        let set: Vec<u16> = set.filter(|field| !matches!(self.variants.get(field), Some(Some(_)))).collect();
        set.into_iter().map(|field| (field, self.read_field(local, field, at))).collect()
    }

    /// Reads a variable, and the variant of a field.
    pub(super) fn read_part(&mut self, variable: Variable, at: SpanRange) -> Value {
        match variable {
            Variable::Field(local, field) => self.read_field(local, field, at),
            Variable::Local(_) | Variable::Temporary(_) => Value::of(self.read(variable, at)),
        }
    }

    /// Reads a field, and its variant if it is an `Option` of which that is known.
    pub(super) fn read_field(&mut self, local: LocalId, field: u16, at: SpanRange) -> Value {
        let value = Value::of(self.read(Variable::Field(local, field), at));
        let known = self.fields_of.get(&local).into_iter().flatten();
        match known.copied().find(|variant| self.variants.get(variant) == Some(&Some(field))) {
            Some(variant) => {
                let variant = Value::of(self.read(Variable::Field(local, variant), at));
                self.in_known_variant(value, variant)
            }
            None => value,
        }
    }

    /// Sets the variant of a field that is an `Option`.
    pub(super) fn set_variant_of_field(&mut self, local: LocalId, field: u16, value: &Value, at: SpanRange) {
        let of_option = self.variant();
        let known = value.fields.iter().find(|(known, _)| *known == of_option).map(|(_, known)| known.node);
        let variant =
            self.fields.iter().find(|(_, number)| **number == field).map(|(name, _)| format!("{VARIANT} {name}"));
        let Some(variant) = variant else { return };
        if known.is_none() && !self.fields.contains_key(&variant) {
            return;
        }
        let variant = self.numbered(variant);
        // It is not known any more.
        let known = known.unwrap_or_else(|| self.combined(vec![value.node], at).node);
        self.variants.insert(variant, Some(field));
        self.fields_of.entry(local).or_default().insert(variant);
        self.set_node(Variable::Field(local, variant), known, Extent::Whole, at);
    }

    /// An `Option` that holds this value (`some`) or nothing.
    pub(super) fn in_variant(&mut self, held: Value, some: bool, at: SpanRange) -> Value {
        let variant = self.nothing(at);
        self.computed.insert(variant.node, Computed::Number(u64::from(some)));
        if !some {
            // Nobody asks for it.
            self.computed.insert(held.node, Computed::Number(0));
        }
        self.in_known_variant(held, variant)
    }

    /// A `Result` that holds this value, whose variant the text shows.
    pub(super) fn in_outcome(&mut self, held: Value, ok: bool, at: SpanRange) -> Value {
        let variant = self.nothing(at);
        self.computed.insert(variant.node, Computed::Number(u64::from(ok)));
        self.in_known_variant(held, variant)
    }

    /// An `Option` that holds this value where its variant, which is 0 or 1, says so.
    pub(super) fn in_known_variant(&mut self, held: Value, variant: Value) -> Value {
        let mut value = self.without_variant(&held);
        value.fields.push((self.variant(), variant));
        value
    }

    /// The value inside of an `Option`, which may be an `Option` itself with a variant of its own.
    pub(super) fn without_variant(&mut self, value: &Value) -> Value {
        let variant = self.variant();
        let mut held = value.clone();
        held.fields.retain(|(field, _)| *field != variant);
        held
    }

    /// Whether a value is `None`, as the text shows.
    pub(super) fn is_nothing(&mut self, value: &Value) -> bool {
        let variant = self.variant();
        let [(field, known)] = &value.fields[..] else { return false };
        *field == variant && self.computed.get(&known.node) == Some(&Computed::Number(0))
    }

    /// The number of an `Option`'s variant.
    pub(super) fn variant_of(&mut self, value: &Value, at: SpanRange) -> Option<NodeId> {
        let variant = self.variant();
        let known = value.fields.iter().find(|(field, _)| *field == variant).map(|(_, known)| known.node);
        known.or_else(|| match self.nodes[value.node.0].source.read() {
            Some(Variable::Local(local)) if !self.is_set_since(value.node, local) => {
                Some(self.read(Variable::Field(local, variant), at))
            }
            _ => None,
        })
    }

    /// The value of whether a value is of some variant, which is another value than what it holds.
    pub(super) fn is_variant(&mut self, value: &Value, variant: Variant, at: SpanRange) -> NodeId {
        let known = self.variant_of(value, at);
        let node = self.combined(vec![known.unwrap_or(value.node)], at).node;
        let some = match variant {
            Variant::Some => Some(true),
            Variant::None => Some(false),
            Variant::Ok | Variant::Err => None,
        };
        if let (Some(_), Some(some)) = (known, some) {
            self.computed.insert(node, Computed::Is { some });
        }
        node
    }

    /// The value with its variant as it is now, for tests that come later.
    pub(super) fn with_variant(&mut self, value: &Value, at: SpanRange) -> Value {
        let known = self.variant_of(value, at);
        let now = self.combined(vec![known.unwrap_or(value.node)], at);
        self.computed.extend(known.map(|_| (now.node, Computed::Held)));
        self.in_known_variant(value.clone(), now)
    }

    /// The value with its variant in a variable of its own, because that which has been read is set anew.
    pub(super) fn with_kept_variant(&mut self, value: Value, at: SpanRange) -> Value {
        let variant = self.variant();
        let Some(now) = value.fields.iter().find(|(field, _)| *field == variant).map(|(_, now)| now.node) else {
            return value;
        };
        let kept = self.temporary();
        self.set_node(kept, now, Extent::Whole, at);
        let kept = Value::of(self.read(kept, at));
        self.in_known_variant(value, kept)
    }

    /// Whether a local, or a part of it, may have been set since a node was evaluated.
    fn is_set_since(&self, node: NodeId, local: LocalId) -> bool {
        for step in self.blocks[self.current.0].steps.iter().rev() {
            if let StepKind::Value(ValueStep::Evaluate(evaluated)) = step.kind
                && evaluated == node
            {
                return false;
            }
            let set = step.kind.set().map(|(variable, ..)| variable);
            if let Some(Variable::Local(set) | Variable::Field(set, _)) = set
                && set == local
            {
                return true;
            }
        }
        true
    }

    /// Builds `option.unwrap()` or `option.unwrap_or(value)`, of the option and of the value, if there is one.
    pub(super) fn unwrapped(&mut self, value: &Value, nodes: &[NodeId], at: SpanRange) -> Value {
        let variant = self.variant_of(value, at);
        let is_or = nodes.len() > 1;
        let held = self.combined(nodes.iter().copied().chain(variant.filter(|_| is_or)).collect(), at);
        let computed = if is_or { Computed::HeldOr } else { Computed::Held };
        self.computed.insert(held.node, computed);
        let region = value.region.clone();
        Value { region, ..held }
    }

    fn variant(&mut self) -> u16 {
        let variant = self.numbered(VARIANT.to_string());
        self.variants.insert(variant, None);
        variant
    }
}

impl<'f> Builder<'f> {
    /// Builds a struct, or a variant of an enum.
    pub(super) fn structure(
        &mut self,
        variant: Option<&Ident>,
        fields: &'f [(Member, Expr)],
        base: Option<&'f Expr>,
        at: SpanRange,
    ) -> Value {
        let members = fields.iter().map(|(member, _)| self.field_of_variant(variant, member)).collect();
        let mut value = self.aggregate(members, fields.iter().map(|(_, field)| field), base, at);
        if variant.is_some() {
            let (which, known) = (self.which_variant(), self.nothing(at));
            value.fields.push((which, known));
        }
        value
    }

    /// Builds a tuple or a struct.
    pub(super) fn aggregate(
        &mut self,
        members: Vec<u16>,
        values: impl Iterator<Item = &'f Expr>,
        base: Option<&'f Expr>,
        at: SpanRange,
    ) -> Value {
        let mut values = self.values(values.chain(base));
        let whole = self.combined(values.iter().map(|value| value.node).collect(), at);
        // The base comes last, and has the fields that are not written.
        let others = values.split_off(members.len()).into_iter().flat_map(|base| base.fields);
        let others: Vec<_> = others.filter(|(field, _)| !members.contains(field)).collect();
        let fields = members.into_iter().zip(values).chain(others).collect();
        Value { fields, ..whole }
    }
}

impl<'f> Builder<'f> {
    /// Builds what `base[index]` is made of, where `base` is no memory of its own.
    pub(super) fn of_element(&mut self, base: &'f Expr, index: &'f Expr) -> Vec<Value> {
        if !is_part_of_memory(base) {
            return self.values([base, index]);
        }
        let before = self.accesses.len();
        let of = self.value(base);
        if has_index_within(base) {
            self.covers_part_of_item(before);
            return vec![of, self.value(index)];
        }
        // It has just been read.
        let read = self.accesses.len().checked_sub(1);
        let index = self.value(index);
        let covers = self.item_of(base, index.node);
        if let Some(read) = read.and_then(|read| self.accesses.get_mut(read)) {
            read.covers = covers;
        }
        vec![of, index]
    }

    /// The last access of an item, of those from this number on, is one of a part of it. Indexes may have been read after it.
    pub(super) fn covers_part_of_item(&mut self, before: usize) {
        let mut read = self.accesses[before..].iter_mut();
        if let Some(access) = read.rfind(|access| matches!(access.covers, Covers::Item { .. })) {
            access.covers = Covers::Item { field: None, index: None };
        }
    }

    /// Returns which part of an element an access of `base[index]` covers, where `base` is one itself.
    pub(super) fn item_of(&mut self, base: &'f Expr, index: NodeId) -> Covers {
        if let ExprKind::Field { base, member } = &base.kind
            && base.memory().is_some()
        {
            return Covers::Item { field: Some(self.field(member)), index: Some(index) };
        }
        Covers::Item { field: None, index: None }
    }
}

/// Whether a place within an element is selected by an index, too.
pub(super) fn has_index_within(expr: &Expr) -> bool {
    if let ExprKind::Index { base, .. } = &expr.kind {
        return is_part_of_memory(base);
    }
    if let ExprKind::Field { base, .. } = &expr.kind { has_index_within(base) } else { false }
}

/// Whether an expression is a field of an element of memory, or a part of one.
pub(super) fn is_part_of_memory(expr: &Expr) -> bool {
    let (ExprKind::Field { base, .. } | ExprKind::Index { base, .. }) = &expr.kind else { return false };
    base.memory().is_some() || is_part_of_memory(base)
}
