//! Prints the tree as the source of a kernel.

use super::super::generated_dsm::tree::{Arrival, LENGTH, Label};
use super::super::generated_dsm::words::{Statements, memory, test, touch};
use super::super::page::{Page, Printer};
use super::tree::{Ending, Group, Kernel, Stmt};

pub(super) fn print(kernel: &Kernel) -> String {
    let mut writer = Writer::default();
    writer.kernel(kernel);
    writer.page.text
}

/// Prints the kernel, and a device function of this name that has some of its statements.
pub(super) fn print_outlined(kernel: &Kernel, part: Part, name: &str) -> String {
    let mut writer = Writer { outlined: Some((part, name.into())), ..Writer::default() };
    writer.kernel(kernel);
    assert!(!writer.function.is_empty(), "the part is one of the kernel's");
    format!("{}{}", writer.function, writer.page.text)
}

/// Consecutive statements of one block of a kernel: the first, and how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) first: *const Stmt,
    pub(super) count: usize,
}

#[derive(Default)]
struct Writer {
    page: Page,
    /// The statements that a device function of this name will get, until it has them.
    outlined: Option<(Part, String)>,
    function: String,
    /// The enclosing loops, and the variables of `let`s.
    rounds: Vec<Label>,
    lets: Vec<Label>,
}

impl Printer for Writer {
    fn page(&mut self) -> &mut Page {
        &mut self.page
    }
}

fn group(group: Group) -> &'static str {
    match group {
        Group::Block => "block",
        Group::Cluster => "cluster",
    }
}

impl Writer {
    fn kernel(&mut self, kernel: &Kernel) {
        self.line(&format!("#[cluster_kernel(cluster = {}, block = {})]", kernel.blocks, kernel.threads));
        self.text("fn kernel(p0: u32, p1: u32) ");
        self.braces(|writer| {
            writer.line("let cluster = this_cluster();");
            writer.line("let block = this_thread_block();");
            writer.line(&format!("let a = shared_array::<u32, {LENGTH}>();"));
            writer.line(&format!("let b = shared_array::<u32, {LENGTH}>();"));
            writer.line(&format!("let rows = shared_array::<[u32; {LENGTH}], 2>();"));
            writer.ranks();
            writer.line("let mut of_block: Option<ArrivalToken<ThreadBlock>> = None;");
            writer.line("let mut of_cluster: Option<ArrivalToken<Cluster>> = None;");
            writer.line("let mut cur = 0;");
            writer.line("let mut slot = rank;");
            writer.line("let mut sum = 0;");
            writer.statements(&kernel.body);
        });
        self.text("\n");
    }

    /// Prints a call in place of statements, and the function that has them.
    fn call(&mut self, name: &str, part: &[Stmt]) {
        let rounds = self.rounds.iter().map(|label| format!("k{label}"));
        let known: Vec<String> = rounds.chain(self.lets.iter().map(|label| format!("h{label}"))).collect();
        let given: String = known.iter().map(|name| format!(", {name}")).collect();
        self.line(&format!("cur = {name}(&cluster, &block, &a, &b, &rows, p0, p1, cur, slot{given});"));
        let kernel = std::mem::take(&mut self.page);
        let given: String = known.iter().map(|name| format!(", {name}: u32")).collect();
        let array = format!("&SharedArray<u32, {LENGTH}>");
        self.line("#[device]");
        self.text(&format!("fn {name}(cluster: &Cluster, block: &ThreadBlock, a: {array}, b: {array}, "));
        self.text(&format!(
            "rows: &SharedArray<[u32; {LENGTH}], 2>, p0: u32, p1: u32, given: u32, slot: u32{given}) -> u32 "
        ));
        self.braces(|writer| {
            writer.ranks();
            writer.line("let mut cur = given;");
            writer.line("let mut sum = 0;");
            writer.statements(part);
            writer.line("cur");
        });
        self.text("\n");
        self.function = std::mem::replace(&mut self.page, kernel).text;
    }

    fn ranks(&mut self) {
        self.line("let i = block.thread_rank();");
        self.line("let rank = cluster.block_rank();");
        self.line("let n = cluster.num_blocks();");
    }
}

impl Statements for Writer {
    type Stmt = Stmt;

    /// Prints statements, with a call in place of those that are outlined.
    fn statements(&mut self, block: &[Stmt]) {
        let mut left = block;
        let lets = self.lets.len();
        while let Some((stmt, rest)) = left.split_first() {
            left = rest;
            match self.outlined.take_if(|(part, _)| std::ptr::eq(part.first, stmt)) {
                Some((part, name)) => {
                    self.call(&name, &block[block.len() - rest.len() - 1..][..part.count]);
                    left = &rest[part.count - 1..];
                }
                None => self.statement(stmt),
            }
        }
        self.lets.truncate(lets);
    }

    fn round(&mut self, label: Label, inside: impl FnOnce(&mut Self)) {
        self.rounds.push(label);
        self.braces(inside);
        self.rounds.pop();
    }

    fn statement(&mut self, stmt: &Stmt) {
        self.start();
        match stmt {
            Stmt::Access(access) => self.text(&touch(access, &memory(access))),
            Stmt::Sync(of) => self.text(&format!("{}.sync();", group(*of))),
            Stmt::Fence => self.text("fence(AcqRel, Scope::Cluster);"),
            Stmt::Split(id, of, arrival, body) => {
                let relaxed = if *arrival == Arrival::Relaxed { "_relaxed" } else { "" };
                self.text(&format!("let t{id} = {}.barrier_arrive{relaxed}();\n", group(*of)));
                self.statements(body);
                self.start();
                self.text(&format!("{}.barrier_wait(t{id});", group(*of)));
            }
            Stmt::Arms(id, of, condition, [then, otherwise]) => {
                self.text(&format!("let t{id} = {}.barrier_arrive();\n", group(*of)));
                self.start();
                self.text(&format!("if {} ", test(*condition)));
                for (arm, ending) in [then, otherwise] {
                    self.braces(|writer| {
                        writer.statements(arm);
                        match ending {
                            Ending::Wait => writer.line(&format!("{}.barrier_wait(t{id});", group(*of))),
                            Ending::Forget => writer.line(&format!("t{id}.forget();")),
                            Ending::Lose => {}
                        }
                    });
                    self.text(if std::ptr::eq(arm, &then.0) { " else " } else { "" });
                }
            }
            Stmt::Put(of) => self.text(&format!("of_{0} = Some({0}.barrier_arrive());", group(*of))),
            Stmt::Take(of) => {
                let of = group(*of);
                self.text(&format!("if let Some(token) = of_{of}.take() {{ {of}.barrier_wait(token); }}"));
            }
            Stmt::Carried(label, rounds, blocks) => self.carried(*label, *rounds, blocks),
            Stmt::If(condition, then, otherwise) => self.branch(*condition, then, otherwise.as_deref()),
            Stmt::Loop(label, rounds, form, body) => self.repeat(*label, *rounds, *form, body),
            Stmt::Jump(jump) => self.jump(*jump),
            Stmt::Flip => self.text("cur ^= 1;"),
            Stmt::Choose(of) => self.choose(*of),
            Stmt::Let(label, relative) => {
                self.lets.push(*label);
                self.hold(*label, relative);
            }
            Stmt::Set(relative) => self.set(relative),
        }
        self.text("\n");
    }
}
