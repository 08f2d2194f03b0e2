//! Prints the syntax tree as text: indentation and parentheses. It decides nothing about meaning.

use super::ast::{AtLaunchForm, CuExpr, CuStmt, Fragment, Unrolling};
use super::name::Names;
use crate::model::ty::{ParamType, TypeShape};
use crate::model::{Function, Role, Unroll};

/// Prints a body with its braces.
pub(super) fn body(statements: &[CuStmt], function: &Function, names: &Names) -> Vec<Fragment> {
    let mut printer = Printer { out: Vec::new(), indent: 0, names };
    printer.text("{\n");
    if function.role == Role::Kernel {
        let known = || function.params.iter().filter(|param| param.ty.is_known_of_a_launch());
        let has_wide = known().any(|param| matches!(&param.ty, ParamType::Value(of) if of.shape.bytes() == Some(8)));
        let has_arrays = known().any(|param| match &param.ty {
            ParamType::Slice { element, .. } => matches!(element.shape, TypeShape::Array(..)),
            _ => false,
        });
        let known: Vec<&str> = known().map(|param| names.local(param.local)).collect();
        printer.fragment(&Fragment::Prologue { known: known.join(", "), has_wide, has_arrays });
    }
    printer.statements(statements);
    printer.text("}");
    printer.out
}

struct Printer<'n> {
    out: Vec<Fragment>,
    indent: usize,
    names: &'n Names,
}

/// Returns the precedence of an operator, as in C++ (cppreference, operator precedence); the highest binds tightest.
fn precedence(op: &str) -> u8 {
    match op {
        "*" | "/" | "%" => 80,
        "+" | "-" => 70,
        "<<" | ">>" => 60,
        "<" | "<=" | ">" | ">=" => 50,
        "==" | "!=" => 45,
        "&" => 40,
        "^" => 35,
        "|" => 30,
        "&&" => 25,
        "||" => 20,
        _ => ASSIGN,
    }
}

const POSTFIX: u8 = 100;
const PREFIX: u8 = 90;
const TERNARY: u8 = 10;
const ASSIGN: u8 = 5;

impl Printer<'_> {
    /// Prints an expression by itself, as an initializer.
    fn alone(&self, expr: &CuExpr) -> Vec<Fragment> {
        let mut printer = Printer { out: Vec::new(), indent: 0, names: self.names };
        printer.expr(expr, ASSIGN);
        printer.out
    }

    fn text(&mut self, text: &str) {
        match self.out.last_mut() {
            Some(Fragment::Text(last)) => last.push_str(text),
            _ => self.out.push(text.into()),
        }
    }

    fn fragment(&mut self, fragment: &Fragment) {
        match fragment {
            Fragment::Text(text) => self.text(text),
            fragment => self.out.push(fragment.clone()),
        }
    }

    fn fragments(&mut self, fragments: &[Fragment]) {
        fragments.iter().for_each(|fragment| self.fragment(fragment));
    }

    fn line(&mut self, f: impl FnOnce(&mut Self)) {
        self.text(&"    ".repeat(self.indent));
        f(self);
        self.text("\n");
    }

    /// The pragma before a loop.
    fn unroll(&mut self, unrolling: Option<Unrolling>) {
        let Some(Unrolling { unroll, only_if }) = unrolling else { return };
        let mut pragma = Printer { out: Vec::new(), indent: self.indent, names: self.names };
        pragma.line(|p| {
            p.text("#pragma unroll");
            match unroll {
                Unroll::Fully => {}
                Unroll::Ahead(count) => p.text(&format!(" {count}")),
                Unroll::By(factor) => {
                    p.text(" ");
                    p.fragments(&[Fragment::Digits(factor)]);
                }
            }
        });
        match only_if {
            Some(of) => self.out.push(Fragment::Within { of, text: pragma.out }),
            None => self.fragments(&pragma.out),
        }
    }

    fn statements(&mut self, statements: &[CuStmt]) {
        self.indent += 1;
        for statement in statements {
            self.statement(statement);
        }
        self.indent -= 1;
    }

    fn close(&mut self, after: &str) {
        self.text(&"    ".repeat(self.indent));
        self.text("}");
        self.text(after);
    }

    fn statement(&mut self, statement: &CuStmt) {
        match statement {
            CuStmt::Line(line) => self.out.push(Fragment::Line(*line)),
            CuStmt::Expr(expr) => self.line(|p| {
                p.expr(expr, 0);
                p.text(";");
            }),
            CuStmt::Declare { ty, name, init } => self.line(|p| {
                p.fragments(ty);
                p.text(" ");
                p.text(name);
                if let Some(init) = init {
                    p.text(" = ");
                    p.expr(init, 0);
                }
                p.text(";");
            }),
            CuStmt::Constant(value) => self.fragment(&Fragment::Declare(*value)),
            CuStmt::Shared { index, ty, name } => {
                self.line(|p| p.fragment(&Fragment::Shared { index: *index, ty: ty.clone(), name: name.clone() }));
            }
            CuStmt::If { condition, then, otherwise } => {
                self.text(&"    ".repeat(self.indent));
                self.branch(condition, then, otherwise);
            }
            CuStmt::Continued { callee, arguments, inside, name, body } => self.line(|p| {
                p.fragment(&Fragment::Callee(*callee));
                p.arguments("(", arguments, "");
                let has_arguments = !arguments.is_empty();
                p.fragment(&Fragment::Then { callee: *callee, has_arguments, inside: inside.clone() });
                let params = vec![(vec!["auto".into()], name.clone())];
                let body = CuExpr::Lambda { capture: "[&]".into(), params, body: body.clone() };
                p.expr(&CuExpr::call("if_some", vec![body]), 0);
                p.text(");");
            }),
            CuStmt::Hoisted { test, callees, unchecked, checked } => {
                self.text(&"    ".repeat(self.indent));
                let mut choice = Printer { out: Vec::new(), indent: self.indent, names: self.names };
                choice.text("if (");
                choice.expr(test, 0);
                choice.text(") {\n");
                choice.statements(unchecked);
                choice.close(" else ");
                match callees.is_empty() {
                    true => self.fragments(&choice.out),
                    false => self.out.push(Fragment::Alone { callees: callees.clone(), text: choice.out }),
                }
                self.text("{\n");
                self.statements(checked);
                self.close("\n");
            }
            CuStmt::While { unroll, condition, body } => {
                self.unroll(*unroll);
                self.line(|p| {
                    p.text("while (");
                    p.expr(condition, 0);
                    p.text(") {");
                });
                self.statements(body);
                self.close("\n");
            }
            CuStmt::For { unroll, name, used, range, body } => {
                self.unroll(*unroll);
                self.line(|p| {
                    p.text(if *used { "for (auto " } else { "for ([[maybe_unused]] auto " });
                    p.text(name);
                    p.text(" : ");
                    p.expr(range, 0);
                    p.text(") {");
                });
                self.statements(body);
                self.close("\n");
            }
            CuStmt::Block(statements) => {
                self.line(|p| p.text("{"));
                self.statements(statements);
                self.close("\n");
            }
            CuStmt::Break => self.line(|p| p.text("break;")),
            CuStmt::Continue => self.line(|p| p.text("continue;")),
            CuStmt::Goto(label) => self.line(|p| p.text(&format!("goto {label};"))),
            CuStmt::Label(label) => self.line(|p| p.text(&format!("{label}:;"))),
            CuStmt::InlineCuda { parameters, text, arguments } => {
                let space = if text.starts_with('\n') { "" } else { " " };
                self.line(|p| p.text(&format!("[]({}) -> void {{{space}{text}", parameters.join(", "))));
                // The brace is below the text, whose last line may be a comment.
                self.text(&"    ".repeat(self.indent));
                self.text("}");
                self.arguments("(", arguments, ")");
                self.text(";\n");
            }
            CuStmt::Return(value) => self.line(|p| {
                p.text("return");
                if let Some(value) = value {
                    p.text(" ");
                    p.expr(value, 0);
                }
                p.text(";");
            }),
        }
    }

    /// Prints `if (c) {...} else if ...`, from after its indentation.
    fn branch(&mut self, condition: &CuExpr, then: &[CuStmt], otherwise: &[CuStmt]) {
        self.text("if (");
        self.expr(condition, 0);
        self.text(") {\n");
        self.statements(then);
        match otherwise {
            [] => self.close("\n"),
            [CuStmt::If { condition, then, otherwise }] => {
                self.close(" else ");
                self.branch(condition, then, otherwise);
            }
            otherwise => {
                self.close(" else {\n");
                self.statements(otherwise);
                self.close("\n");
            }
        }
    }

    /// Prints `expr`, in parentheses if its precedence is lower than `least`.
    fn expr(&mut self, expr: &CuExpr, least: u8) {
        let own = match expr {
            CuExpr::Infix { op, .. } => precedence(op),
            CuExpr::Prefix(..) => PREFIX,
            CuExpr::Ternary(..) => TERNARY,
            CuExpr::Assign { .. } => ASSIGN,
            CuExpr::Atom(_)
            | CuExpr::Index { .. }
            | CuExpr::Call { .. }
            | CuExpr::Operation { .. }
            | CuExpr::Method { .. }
            | CuExpr::Barrier { .. }
            | CuExpr::Member(..)
            | CuExpr::Lambda { .. }
            | CuExpr::Operator(_)
            | CuExpr::Braces(..)
            | CuExpr::Struct { .. } => POSTFIX,
            CuExpr::AtLaunch { checks, form, of } => return self.at_launch(checks, form, of, least),
        };
        if own < least {
            self.text("(");
            self.bare(expr);
            self.text(")");
        } else {
            self.bare(expr);
        }
    }

    /// Prints what is unnecessary if checks hold. The text around it may be left out, so that it has its own parentheses.
    fn at_launch(&mut self, checks: &[u16], form: &AtLaunchForm, of: &CuExpr, least: u8) {
        let name = |name: &str| {
            let number = |check: &u16| [Fragment::Text(format!("{name}<")), Fragment::LaunchCheck(*check), ">".into()];
            let numbers: Vec<Vec<Fragment>> = checks.iter().map(|check| number(check).into()).collect();
            numbers.join(&Fragment::from(" && "))
        };
        let around = |text: Vec<Fragment>| Fragment::AtLaunch { checks: checks.to_vec(), text };
        let before = match form {
            AtLaunchForm::Index => [name("at_launch"), vec!["(".into()]].concat(),
            AtLaunchForm::ScatteredIndex => [name("scattered_at_launch"), vec!["(".into()]].concat(),
            AtLaunchForm::Word => [name("word_at_launch"), vec!["(".into()]].concat(),
            AtLaunchForm::Once => [name("once_at_launch"), vec!["(".into()]].concat(),
            AtLaunchForm::Or => [vec!["(".into()], name("holds_at_launch"), vec![" || ".into()]].concat(),
            AtLaunchForm::Otherwise(unchecked) => {
                let mut inner = Printer { out: Vec::new(), indent: self.indent, names: self.names };
                inner.expr(unchecked, TERNARY + 1);
                [vec!["(".into()], name("holds_at_launch"), vec![" ? ".into()], inner.out, vec![" : ".into()]].concat()
            }
        };
        self.out.push(around(before));
        self.expr(of, least);
        self.out.push(around(vec![")".into()]));
    }

    fn bare(&mut self, expr: &CuExpr) {
        match expr {
            CuExpr::Atom(fragments) => self.fragments(fragments),
            CuExpr::Prefix(op, value) => {
                self.text(op);
                // The operand needs a higher precedence: `-(-x)`, never `--x`.
                self.expr(value, PREFIX + 1);
            }
            CuExpr::Infix { op, left, right, site } => {
                let own = precedence(op);
                self.expr(left, own);
                self.operator(op, *site);
                self.expr(right, own + 1);
            }
            CuExpr::Index { base, index, site } => {
                self.expr(base, POSTFIX);
                self.fragment(&Fragment::Site(*site));
                self.text("[");
                self.expr(index, 0);
                self.text("]");
            }
            CuExpr::Call { callee, arguments, site } => {
                if let Some(site) = site {
                    self.fragment(&Fragment::Site(*site));
                }
                #[cfg(test)]
                if let Some(Fragment::Text(callee)) = callee.first() {
                    self.names.assert_callable(callee);
                }
                self.fragments(callee);
                self.arguments("(", arguments, ")");
            }
            CuExpr::Operation { callee, symbol, operands, site } => {
                let operand = |operand: &CuExpr| {
                    let mut printer = Printer { out: Vec::new(), indent: self.indent, names: self.names };
                    printer.expr(operand, PREFIX + 1);
                    printer.out
                };
                let operands = operands.iter().map(operand).collect();
                self.out.push(Fragment::Operation { callee: *callee, symbol, operands, site: *site });
            }
            CuExpr::Method { base, name, arguments, site } => {
                self.expr(base, POSTFIX);
                self.text(".");
                if let Some(site) = site {
                    self.fragment(&Fragment::Site(*site));
                }
                self.text(name);
                self.arguments("(", arguments, ")");
            }
            CuExpr::Barrier { base, name, index, arguments } => {
                self.expr(base, POSTFIX);
                self.text(&format!(".{name}"));
                self.fragment(&Fragment::Fence(*index));
                self.arguments("(", arguments, ")");
            }
            CuExpr::Member(base, name) => {
                self.expr(base, POSTFIX);
                self.text(&format!(".{name}"));
            }
            CuExpr::Braces(ty, elements) => {
                self.fragments(ty);
                self.arguments("{", elements, "}");
            }
            CuExpr::Struct { slot, variant, fields, base } => {
                let fields = fields.iter().map(|(name, value)| (name.clone(), self.alone(value))).collect();
                let base = base.as_ref().map(|base| self.alone(base));
                self.fragment(&Fragment::Struct { slot: *slot, variant: variant.clone(), fields, base });
            }
            CuExpr::Lambda { capture, params, body } => {
                self.text(capture);
                self.text("(");
                for (index, (ty, name)) in params.iter().enumerate() {
                    self.text(if index > 0 { ", " } else { "" });
                    self.fragments(ty);
                    self.text(" ");
                    self.text(name);
                }
                self.text(") __attribute__((always_inline)) {");
                match &body[..] {
                    // A body that is one expression is printed on one line.
                    [CuStmt::Return(Some(value))] | [CuStmt::Line(_), CuStmt::Return(Some(value))] => {
                        self.text(" return ");
                        self.expr(value, 0);
                        self.text("; }");
                    }
                    body => {
                        self.text("\n");
                        self.statements(body);
                        self.close("");
                    }
                }
            }
            CuExpr::Operator(closure) => {
                let mut inner = Printer { out: Vec::new(), indent: self.indent, names: self.names };
                inner.expr(closure, 0);
                self.out.push(Fragment::Operator { text: inner.out });
            }
            CuExpr::Ternary(condition, then, otherwise) => {
                self.expr(condition, TERNARY + 1);
                self.text(" ? ");
                self.expr(then, TERNARY + 1);
                self.text(" : ");
                self.expr(otherwise, TERNARY);
            }
            CuExpr::AtLaunch { checks, form, of } => self.at_launch(checks, form, of, 0),
            CuExpr::Assign { op, place, value, site } => {
                self.expr(place, POSTFIX);
                self.operator(op, *site);
                self.expr(value, ASSIGN);
            }
        }
    }

    fn operator(&mut self, op: &str, site: Option<crate::model::SiteId>) {
        self.text(" ");
        if let Some(site) = site {
            self.fragment(&Fragment::Site(site));
        }
        self.text(op);
        self.text(" ");
    }

    fn arguments(&mut self, open: &str, arguments: &[CuExpr], close: &str) {
        self.text(open);
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.expr(argument, ASSIGN);
        }
        self.text(close);
    }
}
