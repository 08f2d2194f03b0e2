//! Operators whose operands' type only rustc knows.

use super::Text;
use super::filling::Filling;
use crate::program::template::Fragment;

impl Text {
    /// Prints an operator, or the call of the function that is in its place.
    pub(super) fn operation(
        &mut self,
        callee: u16,
        (symbol, site): (&str, Option<u16>),
        operands: &[&'static [Fragment]],
        filling: &Filling<'_>,
    ) {
        let Some(function) = filling.function.callee(callee) else {
            // One that assigns is a statement.
            let (open, close) = if symbol.ends_with('=') { ("", "") } else { ("(", ")") };
            self.push(open);
            let (left, right) = operands.split_at(operands.len() - 1);
            left.iter().for_each(|left| self.fragments(left, filling));
            self.push(if left.is_empty() { "" } else { " " });
            if let Some(site) = site {
                self.site(&filling.function.definition, site);
            }
            self.push(symbol);
            self.push(if left.is_empty() { "" } else { " " });
            right.iter().for_each(|right| self.fragments(right, filling));
            return self.push(close);
        };
        self.push(&filling.names.functions[function]);
        for (index, operand) in operands.iter().enumerate() {
            self.push(if index == 0 { "(" } else { ", " });
            self.fragments(operand, filling);
        }
        self.push(")");
    }
}
