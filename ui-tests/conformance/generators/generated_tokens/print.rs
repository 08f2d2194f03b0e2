//! Prints the tree as the source of a kernel, and records the line of each site.

use std::collections::BTreeMap;

use super::super::page::{Page, Printer};
use super::tree::{Arm, Block, Group, Jump, Kernel, Site, Stmt, Test, Value, Var, ends};

/// A kernel's source, and the line of each site's id.
pub(super) struct Source {
    pub(super) text: String,
    pub(super) lines: BTreeMap<usize, usize>,
}

pub(super) fn print(kernel: &Kernel) -> Source {
    let mut printer = Writer::default();
    let attribute = if kernel.parameters.is_empty() { "cluster_kernel" } else { "device" };
    printer.line(&format!("#[{attribute}]"));
    printer.text("fn kernel(flag: &[bool]");
    for (site, var) in &kernel.parameters {
        printer.site(*site);
        printer.text(&format!(", mut {}: {}", name(*var), ty(*var)));
    }
    printer.text(") ");
    printer.braces(|printer| {
        printer.line("let cluster = this_cluster();");
        printer.line("let block = this_thread_block();");
        printer.line("let grid = this_grid();");
        kernel.body.iter().for_each(|stmt| printer.statement(stmt));
    });
    printer.text("\n");
    Source { text: printer.page.text, lines: printer.lines }
}

#[derive(Default)]
struct Writer {
    page: Page,
    lines: BTreeMap<usize, usize>,
    conditions: usize,
}

fn group(group: Group) -> &'static str {
    match group {
        Group::Block => "block",
        Group::Cluster => "cluster",
        Group::Grid => "grid",
    }
}

fn ty(var: Var) -> &'static str {
    match (var.group, var.optional) {
        (Group::Block, false) => "ArrivalToken<ThreadBlock>",
        (Group::Cluster, false) => "ArrivalToken<Cluster>",
        (Group::Grid, false) => "ArrivalToken<Grid>",
        (Group::Block, true) => "Option<ArrivalToken<ThreadBlock>>",
        (Group::Cluster, true) => "Option<ArrivalToken<Cluster>>",
        (Group::Grid, true) => "Option<ArrivalToken<Grid>>",
    }
}

fn name(var: Var) -> String {
    format!("{}{}", if var.optional { "p" } else { "t" }, var.name)
}

impl Printer for Writer {
    fn page(&mut self) -> &mut Page {
        &mut self.page
    }
}

impl Writer {
    fn site(&mut self, site: Site) {
        let line = self.line_number();
        self.lines.insert(site.id, line);
    }

    fn block(&mut self, block: &Block) {
        self.braces(|printer| block.iter().for_each(|stmt| printer.statement(stmt)));
    }

    fn arm(&mut self, arm: &Arm) {
        self.braces(|printer| {
            arm.body.iter().for_each(|stmt| printer.statement(stmt));
            if let Some(value) = &arm.value {
                printer.start();
                printer.value(value);
                printer.text("\n");
            }
        });
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Arrive(site) => {
                self.site(*site);
                self.text(&format!("{}.barrier_arrive()", group(site.group)));
            }
            Value::Start(site) => {
                self.site(*site);
                let group = group(site.group);
                self.text(&format!("start_{group}(&{group})"));
            }
            Value::Pass(site, var) => {
                self.site(*site);
                self.text(&format!("pass_{}({})", group(site.group), name(*var)));
            }
            Value::Move(var) => self.text(&name(*var)),
            Value::Take(var) => self.text(&format!("{}.take()", name(*var))),
            Value::None => self.text("None"),
            Value::Some(inner) => self.around("Some(", inner, ")"),
            Value::Block(arm) => self.arm(arm),
            Value::If(then, otherwise) => {
                self.text("if ");
                self.test(&Test::Opaque);
                self.text(" ");
                self.arm(then);
                self.text(" else ");
                self.arm(otherwise);
            }
            Value::Loop(label, body) => {
                self.text(&format!("'a{label}: loop "));
                self.block(body);
            }
            Value::Labelled(label, arm) => {
                self.text(&format!("'a{label}: "));
                self.arm(arm);
            }
        }
    }

    fn around(&mut self, before: &str, value: &Value, after: &str) {
        self.text(before);
        self.value(value);
        self.text(after);
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::Opaque => {
                self.text(&format!("flag[{}]", self.conditions));
                self.conditions += 1;
            }
            Test::Some(value, bound) => {
                let bound = bound.map_or("_".into(), name);
                self.around(&format!("let Some({bound}) = "), value, "");
            }
            Test::None(value) => self.around("let None = ", value, ""),
            Test::IsSome(value) => self.around("", value, ".is_some()"),
            Test::IsNone(value) => self.around("", value, ".is_none()"),
        }
    }

    /// Returns true about every `n`th time, in the same way for the same kernel.
    fn turn(&self, n: usize) -> bool {
        self.page.text.len().is_multiple_of(n)
    }

    /// Prints an `if` in its other forms, `match` and `let ... else`, where they mean the same.
    fn choice(&mut self, test: &Test, then: &Block, otherwise: Option<&Block>) -> bool {
        let nothing = Block::new();
        let other = otherwise.unwrap_or(&nothing);
        let (value, first, second) = match test {
            Test::Some(value, Some(bound)) if ends(other) => {
                self.braces(|printer| {
                    printer.start();
                    printer.around(&format!("let Some({}) = ", name(*bound)), value, " else ");
                    printer.block(other);
                    printer.text(";\n");
                    then.iter().for_each(|stmt| printer.statement(stmt));
                });
                return true;
            }
            Test::Some(value, bound) => (Some(value), format!("Some({})", bound.map_or("_".into(), name)), "None"),
            // The value of an `if let None` is dropped in its other arm, that of a `match` is not.
            Test::None(value @ Value::Move(_)) => (Some(value), "None".into(), "Some(_)"),
            Test::Opaque => (None, "true".into(), "false"),
            Test::None(_) | Test::IsSome(_) | Test::IsNone(_) => return false,
        };
        self.text("match ");
        match value {
            Some(value) => self.value(value),
            None => self.test(&Test::Opaque),
        }
        self.text(" ");
        let second = if self.turn(3) { "_" } else { second };
        let mut arms = vec![(first.as_str(), then), (second, other)];
        if second != "_" && self.turn(5) {
            arms.reverse();
        }
        self.braces(|printer| {
            for (pattern, block) in arms {
                printer.start();
                printer.text(&format!("{pattern} => "));
                printer.block(block);
                printer.text("\n");
            }
        });
        true
    }

    fn statement(&mut self, stmt: &Stmt) {
        self.start();
        match stmt {
            Stmt::Let(var, value) => {
                // The result of a device function is a token only if a type says so.
                let ty = match value {
                    Value::Start(_) | Value::Pass(..) => format!(": {}", ty(*var)),
                    _ => String::new(),
                };
                self.around(&format!("let mut {}{ty} = ", name(*var)), value, ";");
            }
            Stmt::Declare(var) => self.text(&format!("let mut {};", name(*var))),
            Stmt::Assign(var, value) => self.around(&format!("{} = ", name(*var)), value, ";"),
            Stmt::Wait(site, value) => {
                self.site(*site);
                self.around(&format!("{}.barrier_wait(", group(site.group)), value, ");");
            }
            Stmt::Forget(site, value) => {
                self.site(*site);
                self.around("", value, ".forget();");
            }
            Stmt::Finish(value) => self.around("finish(", value, ");"),
            Stmt::FinishBoth(first, second) => {
                self.around("finish_both(", first, ", ");
                self.around("", second, ");");
            }
            Stmt::Sync(site) => {
                self.site(*site);
                self.text(&format!("{}.sync();", group(site.group)));
            }
            Stmt::Discard(value) => self.around("let _ = ", value, ";"),
            Stmt::Unused(value) => self.around("", value, ";"),
            Stmt::If(test, then, otherwise) if self.turn(2) && self.choice(test, then, otherwise.as_ref()) => {}
            Stmt::If(test, then, otherwise) => {
                self.text("if ");
                self.test(test);
                self.text(" ");
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.text(" else ");
                    self.block(otherwise);
                }
            }
            Stmt::While(label, test, body) => {
                self.text(&format!("'a{label}: while "));
                self.test(test);
                self.text(" ");
                self.block(body);
            }
            Stmt::For(label, body) => {
                self.text(&format!("'a{label}: for _ in 0..flag.len() "));
                self.block(body);
            }
            Stmt::Loop(label, body) => {
                self.text(&format!("'a{label}: loop "));
                self.block(body);
            }
            Stmt::Block(body) => self.block(body),
            Stmt::Labelled(label, body) => {
                self.text(&format!("'a{label}: "));
                self.block(body);
            }
            Stmt::Jump(Jump::Break(label)) => self.text(&format!("break 'a{label};")),
            Stmt::Jump(Jump::Continue(label)) => self.text(&format!("continue 'a{label};")),
            Stmt::Jump(Jump::Return) => self.text("return;"),
            Stmt::BreakWith(label, value) => self.around(&format!("break 'a{label} "), value, ";"),
        }
        self.text("\n");
    }
}
