//! The values of constants that the body of a function defines itself, and of arrays of tuples and structs.

use super::{Builder, NodeId, Source, Value};
use crate::check::cfg::Formula;
use crate::model::Listed;
use crate::model::expr::Member;
use crate::span::SpanRange;

impl Builder<'_> {
    /// The value of a name, if it is one of a constant that the body defines and all of it is numbers.
    pub(super) fn constant_of_body(&mut self, name: &str, at: SpanRange) -> Option<Value> {
        let listed = self.function.listed.get(name)?;
        Some(self.constant(listed, at))
    }

    fn constant(&mut self, listed: &Listed, at: SpanRange) -> Value {
        match listed {
            Listed::Array(elements) => {
                let elements: Vec<Value> = elements.iter().map(|element| self.constant(element, at)).collect();
                self.array(&elements, at)
            }
            Listed::Tuple(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.constant(part, at)).collect();
                let whole = self.combined(parts.iter().map(|part| part.node).collect(), at);
                let members: Vec<u16> =
                    (0..parts.len()).map(|part| self.field(&Member::Unnamed(part as u32))).collect();
                Value { fields: members.into_iter().zip(parts).collect(), ..whole }
            }
            Listed::Number(number) => {
                let node = self.node(Source::Integer(number.unsigned_abs()), Vec::new(), at);
                if *number >= 0 {
                    return Value::of(node);
                }
                let negative = self.combined(vec![node], at);
                self.formulas.insert(negative.node, Formula::Negative);
                negative
            }
        }
    }

    /// An array of values, with an array of each of the fields that all of them have.
    pub(super) fn array(&mut self, elements: &[Value], at: SpanRange) -> Value {
        let array = |builder: &mut Self, nodes: Vec<NodeId>| {
            let value = builder.combined(nodes, at);
            builder.formulas.insert(value.node, Formula::Array);
            value
        };
        let whole = array(self, elements.iter().map(|element| element.node).collect());
        let first: Vec<u16> =
            elements.first().iter().flat_map(|first| &first.fields).map(|(field, _)| *field).collect();
        let field_of = |element: &Value, field: u16| {
            element.fields.iter().find(|(known, _)| *known == field).map(|(_, value)| value.node)
        };
        let mut fields = Vec::new();
        for field in first {
            let nodes: Option<Vec<NodeId>> = elements.iter().map(|element| field_of(element, field)).collect();
            fields.extend(nodes.map(|nodes| (field, array(self, nodes))));
        }
        Value { fields, ..whole }
    }

    /// The element of an array of tuples or structs, by the arrays of its fields.
    pub(super) fn element_with_fields(&mut self, array: &Value, index: NodeId, element: Value, at: SpanRange) -> Value {
        let mut fields = Vec::new();
        for (field, value) in &array.fields {
            if !self.is_element(*field) {
                let node = self.combined(vec![value.node, index], at).node;
                self.formulas.insert(node, Formula::Element);
                fields.push((*field, Value::of(node)));
            }
        }
        Value { fields, ..element }
    }
}
