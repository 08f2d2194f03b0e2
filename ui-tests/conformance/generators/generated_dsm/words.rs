//! The parts that the printers of kernels of clusters share: words of the language, and statements that hold others.
//! Each tree prints the rest itself.

use super::super::page::Printer;
use super::relative::Relative;
use super::tree::{Access, Array, Comparison, Form, Index, Jump, Kind, Label, Number, Owner, Parity, Rounds, Test};

pub(crate) fn number(number: Number) -> String {
    match number {
        Number::Parameter(index) => format!("p{index}"),
        Number::Round(label) => format!("k{label}"),
        Number::Current => "cur".into(),
    }
}

fn parity(parity: Parity) -> String {
    match parity {
        Parity::Literal(value) => value.to_string(),
        Parity::Rem(of, 0) => format!("{} % 2", number(of)),
        Parity::Rem(of, more) => format!("({} + {more}) % 2", number(of)),
        Parity::And(of) => format!("{} & 1", number(of)),
        Parity::Xor(of) => format!("({} & 1) ^ 1", number(of)),
        Parity::Minus(of) => format!("1 - {} % 2", number(of)),
        Parity::Current => "cur".into(),
        Parity::CurrentMinus => "1 - cur".into(),
        Parity::CurrentXor => "cur ^ 1".into(),
        Parity::Relative(relative) => relative.text(),
    }
}

fn array(array: Array) -> &'static str {
    match array {
        Array::A => "a",
        Array::B => "b",
        Array::Rows => "rows",
    }
}

/// Returns the memory that is accessed, without its index.
pub(crate) fn memory(access: &Access) -> String {
    let array = array(access.place.array);
    let rank = match access.owner {
        Owner::Own => return array.into(),
        Owner::Next => "(rank + 1) % n".into(),
        Owner::Previous => "(rank + n - 1) % n".into(),
        Owner::Rank(rank) => rank.to_string(),
        Owner::Relative(relative) => relative.text(),
    };
    format!("cluster.map_shared_rank(&{array}, {rank})")
}

pub(crate) fn test(test: Test) -> String {
    match test {
        Test::Equals(of, value) => format!("{} == {value}", number(of)),
        Test::Even(of) => format!("{} % 2 == 0", number(of)),
        Test::BlockRank(rank) => format!("rank == {rank}"),
        Test::ThreadRank(rank) => format!("i == {rank}"),
        Test::Compared(comparison, of) => match comparison {
            Comparison::Below => format!("rank < {}", number(of)),
            Comparison::AtLeast => format!("rank >= {}", number(of)),
            Comparison::Other => format!("rank != {}", number(of)),
            Comparison::Clear => format!("rank & {} == 0", number(of)),
            Comparison::Inside => format!("rank + {} < n", number(of)),
        },
    }
}

/// Returns the access as a statement, of memory with this name.
pub(crate) fn touch(access: &Access, memory: &str) -> String {
    let row = match access.place.array {
        Array::A | Array::B => String::new(),
        Array::Rows => format!("[{}]", parity(access.place.row)),
    };
    let index = match access.place.index {
        Index::Literal(index) => index.to_string(),
        Index::Own => "i".into(),
        Index::Other => "1 - i".into(),
        Index::Parity(which) => parity(which),
        Index::Relative(relative) => relative.text(),
        Index::Chunk(which) => format!("({}) * 2 + i", parity(which)),
    };
    match access.kind {
        Kind::Read => format!("sum += {memory}{row}[{index}];"),
        Kind::Write => format!("{memory}{row}[{index}] = 7;"),
        Kind::Update => format!("{memory}{row}[{index}] += 7;"),
        Kind::Atomic => format!("{memory}{row}.atomic({index}).fetch_add(1, Relaxed);"),
    }
}

/// The printer of a tree with statements like these.
pub(crate) trait Statements: Printer {
    type Stmt;

    /// Prints a statement with its newline.
    fn statement(&mut self, stmt: &Self::Stmt);

    fn statements(&mut self, block: &[Self::Stmt]) {
        block.iter().for_each(|stmt| self.statement(stmt));
    }

    fn block(&mut self, block: &[Self::Stmt]) {
        self.braces(|writer| writer.statements(block));
    }

    /// Prints the body of a loop.
    fn round(&mut self, _label: Label, inside: impl FnOnce(&mut Self)) {
        self.braces(inside);
    }

    /// Prints a loop that carries the cluster's token.
    fn carried(&mut self, label: Label, rounds: usize, [first, second, last]: &[Vec<Self::Stmt>; 3]) {
        self.text(&format!("let mut t{label} = cluster.barrier_arrive();\n"));
        self.start();
        self.text(&format!("for k{label} in 0..{rounds} "));
        self.round(label, |writer| {
            writer.statements(first);
            writer.line(&format!("cluster.barrier_wait(t{label});"));
            writer.statements(second);
            writer.line(&format!("t{label} = cluster.barrier_arrive();"));
        });
        self.text("\n");
        self.statements(last);
        self.start();
        self.text(&format!("cluster.barrier_wait(t{label});"));
    }

    fn branch(&mut self, condition: Test, then: &[Self::Stmt], otherwise: Option<&[Self::Stmt]>) {
        self.text(&format!("if {} ", test(condition)));
        self.block(then);
        if let Some(otherwise) = otherwise {
            self.text(" else ");
            self.block(otherwise);
        }
    }

    fn repeat(&mut self, label: Label, rounds: Rounds, form: Form, body: &[Self::Stmt]) {
        let end = match rounds {
            Rounds::Literal(rounds) => rounds.to_string(),
            Rounds::Parameter(index) => format!("p{index}"),
        };
        match form {
            Form::For => {
                self.text(&format!("'l{label}: for k{label} in 0..{end} "));
                self.round(label, |writer| writer.statements(body));
            }
            Form::Loop | Form::While => {
                self.text(&format!("let mut c{label} = 0;\n"));
                self.start();
                let loops = form == Form::Loop;
                let head = if loops { "loop ".into() } else { format!("while c{label} < {end} ") };
                self.text(&format!("'l{label}: {head}"));
                self.round(label, |writer| {
                    if loops {
                        writer.line(&format!("if c{label} >= {end} {{ break; }}"));
                    }
                    writer.line(&format!("let k{label} = c{label};"));
                    writer.line(&format!("c{label} += 1;"));
                    writer.statements(body);
                });
            }
            Form::WhileLast => {
                self.text(&format!("let mut k{label} = 0;\n"));
                self.start();
                self.text(&format!("'l{label}: while k{label} < {end} "));
                self.round(label, |writer| {
                    writer.statements(body);
                    writer.line(&format!("k{label} += 1;"));
                });
            }
        }
    }

    fn jump(&mut self, jump: Jump) {
        match jump {
            Jump::Break(label) => self.text(&format!("break 'l{label};")),
            Jump::Continue(label) => self.text(&format!("continue 'l{label};")),
            Jump::Return => self.text("return;"),
        }
    }

    fn hold(&mut self, label: Label, relative: &Relative) {
        self.text(&format!("let h{label} = {};", relative.text()));
    }

    fn set(&mut self, relative: &Relative) {
        self.text(&format!("slot = {};", relative.text()));
    }

    /// Prints `cur = n % 2`.
    fn choose(&mut self, of: Number) {
        let even = test(Test::Even(of));
        self.text(&format!("if {even} {{ cur = 0; }} else {{ cur = 1; }}"));
    }
}
