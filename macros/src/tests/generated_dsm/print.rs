//! The tree as the source of a kernel, with the line on which each access stands.

use std::collections::BTreeMap;

use super::super::page::{Page, Printer};
use super::super::shrink::Nested;
use super::tree::{
    Access, Array, Arrival, Block, Form, Index, Jump, Kernel, Kind, LENGTH, Number, Owner, Parity, Rounds, Stmt,
    THREADS, Test,
};

/// A kernel's source, and the line of each site.
pub(super) struct Source {
    pub(super) text: String,
    pub(super) lines: BTreeMap<usize, usize>,
}

pub(super) fn print(kernel: &Kernel) -> Source {
    let mut writer = Writer::default();
    writer.line(&format!("#[cluster_kernel(cluster = {}, block = {THREADS})]", kernel.blocks));
    writer.text("fn kernel(p0: u32, p1: u32) ");
    writer.braces(|writer| {
        writer.line("let cluster = this_cluster();");
        writer.line("let block = this_thread_block();");
        writer.line(&format!("let a = shared_array::<u32, {LENGTH}>();"));
        writer.line(&format!("let b = shared_array::<u32, {LENGTH}>();"));
        writer.line(&format!("let rows = shared_array::<[u32; {LENGTH}], 2>();"));
        writer.line("let i = block.thread_rank();");
        writer.line("let rank = cluster.block_rank();");
        writer.line("let n = cluster.num_blocks();");
        writer.line("let mut cur = 0;");
        writer.line("let mut sum = 0;");
        writer.names(&kernel.body);
        kernel.body.iter().for_each(|stmt| writer.statement(stmt));
    });
    writer.text("\n");
    Source { text: writer.page.text, lines: writer.lines }
}

#[derive(Default)]
struct Writer {
    page: Page,
    lines: BTreeMap<usize, usize>,
    /// Of peers' memory.
    named: BTreeMap<String, String>,
}

impl Printer for Writer {
    fn page(&mut self) -> &mut Page {
        &mut self.page
    }
}

pub(in crate::tests) fn number(number: Number) -> String {
    match number {
        Number::Parameter(index) => format!("p{index}"),
        Number::Round(label) => format!("k{label}"),
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
    }
}

fn array(array: Array) -> &'static str {
    match array {
        Array::A => "a",
        Array::B => "b",
        Array::Rows => "rows",
    }
}

/// The memory that is accessed, without its index.
pub(in crate::tests) fn memory(access: &Access) -> String {
    let array = array(access.place.array);
    let rank = match access.owner {
        Owner::Own => return array.into(),
        Owner::Next => "(rank + 1) % n".into(),
        Owner::Previous => "(rank + n - 1) % n".into(),
        Owner::Rank(rank) => rank.to_string(),
    };
    format!("cluster.map_shared_rank(&{array}, {rank})")
}

pub(in crate::tests) fn test(test: Test) -> String {
    match test {
        Test::Equals(of, value) => format!("{} == {value}", number(of)),
        Test::Even(of) => format!("{} % 2 == 0", number(of)),
        Test::BlockRank(rank) => format!("rank == {rank}"),
        Test::ThreadRank(rank) => format!("i == {rank}"),
    }
}

/// The access as a statement, of memory with this name.
pub(in crate::tests) fn touch(access: &Access, memory: &str) -> String {
    let row = match access.place.array {
        Array::A | Array::B => String::new(),
        Array::Rows => format!("[{}]", parity(access.place.row)),
    };
    let index = match access.place.index {
        Index::Literal(index) => index.to_string(),
        Index::Own => "i".into(),
        Index::Other => "1 - i".into(),
        Index::Parity(which) => parity(which),
    };
    match access.kind {
        Kind::Read => format!("sum += {memory}{row}[{index}];"),
        Kind::Write => format!("{memory}{row}[{index}] = 7;"),
        Kind::Update => format!("{memory}{row}[{index}] += 7;"),
        Kind::Atomic => format!("{memory}{row}.atomic({index}).fetch_add(1, Relaxed);"),
    }
}

impl Writer {
    /// Gives peers' memory its names.
    fn names(&mut self, block: &Block) {
        for stmt in block {
            if let Stmt::Access(access) = stmt
                && access.named
                && access.is_remote()
                && !self.named.contains_key(&memory(access))
            {
                let name = format!("far{}", self.named.len());
                self.line(&format!("let {name} = {};", memory(access)));
                self.named.insert(memory(access), name);
            }
            stmt.clone().blocks().into_iter().for_each(|inner| self.names(inner));
        }
    }

    fn block(&mut self, block: &Block) {
        self.braces(|writer| block.iter().for_each(|stmt| writer.statement(stmt)));
    }

    fn access(&mut self, access: &Access) {
        let line = self.line_number();
        self.lines.insert(access.site, line);
        let mut text = memory(access);
        if access.named
            && let Some(name) = self.named.get(&text)
        {
            text = name.clone();
        }
        self.text(&touch(access, &text));
    }

    fn statement(&mut self, stmt: &Stmt) {
        self.start();
        match stmt {
            Stmt::Access(access) => self.access(access),
            Stmt::Sync => self.text("cluster.sync();"),
            Stmt::SyncBlock => self.text("block.sync();"),
            Stmt::Fence => self.text("fence(AcqRel, Scope::Cluster);"),
            Stmt::Split(id, arrival, body) => {
                let relaxed = if *arrival == Arrival::Relaxed { "_relaxed" } else { "" };
                self.text(&format!("let t{id} = cluster.barrier_arrive{relaxed}();\n"));
                body.iter().for_each(|stmt| self.statement(stmt));
                self.start();
                self.text(&format!("cluster.barrier_wait(t{id});"));
            }
            Stmt::Carried(label, rounds, [first, second, last]) => {
                self.text(&format!("let mut t{label} = cluster.barrier_arrive();\n"));
                self.start();
                self.text(&format!("for k{label} in 0..{rounds} "));
                self.braces(|writer| {
                    first.iter().for_each(|stmt| writer.statement(stmt));
                    writer.line(&format!("cluster.barrier_wait(t{label});"));
                    second.iter().for_each(|stmt| writer.statement(stmt));
                    writer.line(&format!("t{label} = cluster.barrier_arrive();"));
                });
                self.text("\n");
                last.iter().for_each(|stmt| self.statement(stmt));
                self.start();
                self.text(&format!("cluster.barrier_wait(t{label});"));
            }
            Stmt::If(condition, then, otherwise) => {
                self.text(&format!("if {} ", test(*condition)));
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.text(" else ");
                    self.block(otherwise);
                }
            }
            Stmt::Loop(label, rounds, form, body) => {
                let end = match rounds {
                    Rounds::Literal(rounds) => rounds.to_string(),
                    Rounds::Parameter(index) => format!("p{index}"),
                };
                match form {
                    Form::For => {
                        self.text(&format!("'l{label}: for k{label} in 0..{end} "));
                        self.block(body);
                    }
                    Form::Loop | Form::While => {
                        self.text(&format!("let mut c{label} = 0;\n"));
                        self.start();
                        let loops = *form == Form::Loop;
                        let head = if loops { "loop ".into() } else { format!("while c{label} < {end} ") };
                        self.text(&format!("'l{label}: {head}"));
                        self.braces(|writer| {
                            if loops {
                                writer.line(&format!("if c{label} >= {end} {{ break; }}"));
                            }
                            writer.line(&format!("let k{label} = c{label};"));
                            writer.line(&format!("c{label} += 1;"));
                            body.iter().for_each(|stmt| writer.statement(stmt));
                        });
                    }
                    Form::WhileLast => {
                        self.text(&format!("let mut k{label} = 0;\n"));
                        self.start();
                        self.text(&format!("'l{label}: while k{label} < {end} "));
                        self.braces(|writer| {
                            body.iter().for_each(|stmt| writer.statement(stmt));
                            writer.line(&format!("k{label} += 1;"));
                        });
                    }
                }
            }
            Stmt::Jump(Jump::Break(label)) => self.text(&format!("break 'l{label};")),
            Stmt::Jump(Jump::Continue(label)) => self.text(&format!("continue 'l{label};")),
            Stmt::Jump(Jump::Return) => self.text("return;"),
            Stmt::Flip(true) => self.text("cur ^= 1;"),
            Stmt::Flip(false) => self.text("cur = 1 - cur;"),
            Stmt::Choose(of) => {
                let test = test(Test::Even(*of));
                self.text(&format!("if {test} {{ cur = 0; }} else {{ cur = 1; }}"));
            }
        }
        self.text("\n");
    }
}
