//! Local arrays of a few numbers, as the phases of a ring's stages: each element is a variable of its own, as a field is.

use proc_macro2::TokenStream;

use super::{Builder, NodeId, Source, Value, Variable};
use crate::check::cfg::{Extent, Formula};
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind, Stmt, StmtKind};
use crate::model::walk::{Node, block_nodes};
use crate::span::SpanRange;

/// The largest number of elements that are followed.
const MOST: usize = 8;

impl<'f> Builder<'f> {
    /// The elements of an array that is made of numbers in the text.
    pub(super) fn with_elements(&mut self, whole: Value, elements: &[&Expr]) -> Value {
        let is_number = |element: &&Expr| matches!(element.kind, ExprKind::Int { .. } | ExprKind::Bool(_));
        if elements.len() > MOST || !elements.iter().all(is_number) {
            return whole;
        }
        let nodes: Vec<NodeId> = elements.iter().map(|element| self.number(element)).collect();
        let fields = nodes.into_iter().enumerate();
        let fields = fields.map(|(index, node)| (self.element(index), Value::of(node))).collect();
        Value { fields: [whole.fields.clone(), fields].concat(), ..whole }
    }

    /// The elements of `[number; length]`.
    pub(super) fn with_repeated(&mut self, whole: Value, element: &Expr, length: &TokenStream) -> Value {
        match length.to_string().trim_end_matches("usize").parse::<usize>() {
            Ok(length) if length <= MOST => self.with_elements(whole, &vec![element; length]),
            Ok(_) => whole,
            Err(_) => {
                self.named_lengths.push(whole.node);
                whole
            }
        }
    }

    /// Reads the element of a local array at an index, if its elements are variables.
    pub(super) fn element_of(&mut self, base: &Expr, index: &'f Expr, at: SpanRange) -> Option<Value> {
        let (local, length) = self.local_array(base)?;
        if let Some(index) = index.integer() {
            let index = usize::try_from(index).ok().filter(|index| *index < length)?;
            let field = self.element(index);
            return Some(Value::of(self.read(Variable::Field(local, field), at)));
        }
        let index = self.value(index).node;
        let mut operands = vec![index];
        for element in 0..length {
            let field = self.element(element);
            operands.push(self.read(Variable::Field(local, field), at));
        }
        let node = self.node(Source::Operands, operands, at);
        self.formulas.insert(node, Formula::Pick);
        Some(Value::of(node))
    }

    /// Stores to the element of a local array at an index. Returns whether its elements are variables.
    pub(super) fn store_element(&mut self, place: &'f Expr, value: &Value, at: SpanRange) -> bool {
        let ExprKind::Index { base, index, .. } = &place.kind else { return false };
        let Some((local, length)) = self.local_array(base) else { return false };
        if let Some(index) = index.integer() {
            let Some(index) = usize::try_from(index).ok().filter(|index| *index < length) else { return false };
            let field = self.element(index);
            self.set_node(Variable::Local(local), value.node, Extent::Field, at);
            self.set(Variable::Field(local, field), &Value::of(value.node), at);
            return true;
        }
        let index = self.value(index).node;
        self.replace(local, length, (index, value.node), at);
        true
    }

    /// The index of the element that a reference refers to, if the elements of the array are variables.
    pub(super) fn index_of_element(&mut self, base: &Expr, index: &'f Expr) -> Option<NodeId> {
        self.local_array(base)?;
        Some(self.value(index).node)
    }

    /// Stores a value to the element at an index of an array, through a reference. Returns whether its elements are variables.
    pub(super) fn replace_element(&mut self, array: LocalId, index: NodeId, value: NodeId, at: SpanRange) -> bool {
        let Some(length) = self.elements_of(array) else { return false };
        self.replace(array, length, (index, value), at);
        true
    }

    fn replace(&mut self, local: LocalId, length: usize, (index, value): (NodeId, NodeId), at: SpanRange) {
        let both = self.combined(vec![value, index], at).node;
        self.set_node(Variable::Local(local), both, Extent::Field, at);
        // The value may depend on elements, which are set one after the other.
        let new = self.temporary();
        self.set_node(new, value, Extent::Whole, at);
        for element in 0..length {
            let field = Variable::Field(local, self.element(element));
            let operands = vec![index, self.read(new, at), self.read(field, at)];
            let node = self.node(Source::Operands, operands, at);
            self.formulas.insert(node, Formula::Replaced { element: element as u64 });
            self.set(field, &Value::of(node), at);
        }
    }

    /// The number of elements of a local array, or of what refers to one, if its declaration shows it.
    pub(super) fn length_of_local(&self, array: &Expr) -> Option<u64> {
        let init = self.init_of_local(array)?;
        if let ExprKind::Array { elements, .. } = &init.kind {
            u64::try_from(elements.len()).ok()
        } else if let ExprKind::Repeat { length, .. } = &init.kind {
            length.to_string().trim_end_matches("usize").parse().ok()
        } else {
            None
        }
    }

    /// The node of the length of an array that the declaration does not show: one constant, whatever the elements are.
    pub(super) fn hidden_length(&mut self, array: &Expr, at: SpanRange) -> Value {
        let is_named = self.init_of_local(array).is_some_and(|init| matches!(init.kind, ExprKind::Repeat { .. }));
        let length = self.nothing(at);
        if is_named {
            self.named_lengths.push(length.node);
        }
        length
    }

    /// The value with which a local, or what an expression refers to, is declared.
    fn init_of_local(&self, array: &Expr) -> Option<&'f Expr> {
        let local = self.local_behind(array)?;
        let mut found = None;
        block_nodes(&self.function.body, &mut |node| {
            if let Node::Statement(Stmt { kind: StmtKind::Let { local: declared, init: Some(init), .. }, .. }) = node
                && *declared == local
            {
                found = Some(init);
            }
        });
        found
    }

    /// Whether syntax shows that an expression is a local array, or a reference to one: its type has the length.
    pub(super) fn is_local_array(&self, array: &Expr) -> bool {
        self.local_behind(array).is_some_and(|local| self.function.local(local).is_array)
    }

    /// The local that an expression is, or a reference to.
    fn local_behind(&self, array: &Expr) -> Option<LocalId> {
        let array =
            if let ExprKind::Borrow { target, .. } | ExprKind::Deref(target) = &array.kind { target } else { array };
        let ExprKind::Local(mut local) = array.kind else { return None };
        while let Some(target) = self.referents.get(&local) {
            local = *target;
        }
        Some(local)
    }

    /// The local array that an expression is, and the number of its elements, if these are variables.
    fn local_array(&mut self, base: &Expr) -> Option<(LocalId, usize)> {
        let base = if let ExprKind::Deref(reference) = &base.kind { reference } else { base };
        let ExprKind::Local(local) = base.kind else { return None };
        let local = self.whole_behind(local);
        self.elements_of(local).map(|length| (local, length))
    }

    /// The number of elements of a local array, if these are variables.
    fn elements_of(&mut self, local: LocalId) -> Option<usize> {
        if self.variable_of(local) != Variable::Local(local) {
            return None;
        }
        let known = self.fields_of.get(&local).cloned()?;
        let length = (0..MOST).take_while(|index| known.contains(&self.element(*index))).count();
        (length > 0).then_some(length)
    }

    /// Whether a field stands for an element.
    pub(super) fn is_element(&self, field: u16) -> bool {
        self.fields.iter().any(|(name, number)| *number == field && name.starts_with('['))
    }

    fn element(&mut self, index: usize) -> u16 {
        self.numbered(format!("[{index}]"))
    }

    fn number(&mut self, element: &Expr) -> NodeId {
        let truth = if let ExprKind::Bool(holds) = element.kind { Some(u64::from(holds)) } else { None };
        let number = truth.or_else(|| element.integer()).unwrap_or(u64::MAX);
        self.node(Source::Integer(number), Vec::new(), element.span)
    }
}
