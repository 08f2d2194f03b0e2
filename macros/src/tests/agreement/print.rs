//! The tree as the source of a kernel.

use super::super::generated_dsm::print::{memory, test, touch};
use super::super::generated_dsm::tree::{Arrival, Form, Jump, LENGTH, Rounds, Test};
use super::super::page::{Page, Printer};
use super::tree::{Block, Group, Kernel, Stmt};

pub(super) fn print(kernel: &Kernel) -> String {
    let mut writer = Writer::default();
    writer.line(&format!("#[cluster_kernel(cluster = {}, block = {})]", kernel.blocks, kernel.threads));
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
        writer.line("let mut of_block: Option<ArrivalToken<ThreadBlock>> = None;");
        writer.line("let mut of_cluster: Option<ArrivalToken<Cluster>> = None;");
        writer.line("let mut cur = 0;");
        writer.line("let mut sum = 0;");
        kernel.body.iter().for_each(|stmt| writer.statement(stmt));
    });
    writer.text("\n");
    writer.0.text
}

#[derive(Default)]
struct Writer(Page);

impl Printer for Writer {
    fn page(&mut self) -> &mut Page {
        &mut self.0
    }
}

fn group(group: Group) -> &'static str {
    match group {
        Group::Block => "block",
        Group::Cluster => "cluster",
    }
}

impl Writer {
    fn block(&mut self, block: &Block) {
        self.braces(|writer| block.iter().for_each(|stmt| writer.statement(stmt)));
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
                body.iter().for_each(|stmt| self.statement(stmt));
                self.start();
                self.text(&format!("{}.barrier_wait(t{id});", group(*of)));
            }
            Stmt::Arms(id, of, condition, [then, otherwise]) => {
                self.text(&format!("let t{id} = {}.barrier_arrive();\n", group(*of)));
                self.start();
                self.text(&format!("if {} ", test(*condition)));
                for (arm, waits) in [then, otherwise] {
                    self.braces(|writer| {
                        arm.iter().for_each(|stmt| writer.statement(stmt));
                        if *waits {
                            writer.line(&format!("{}.barrier_wait(t{id});", group(*of)));
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
            Stmt::Loop(label, rounds, form, body) => self.repeat(*label, *rounds, *form, body),
            Stmt::Jump(Jump::Break(label)) => self.text(&format!("break 'l{label};")),
            Stmt::Jump(Jump::Continue(label)) => self.text(&format!("continue 'l{label};")),
            Stmt::Jump(Jump::Return) => self.text("return;"),
            Stmt::Flip => self.text("cur ^= 1;"),
            Stmt::Choose(of) => {
                let even = test(Test::Even(*of));
                self.text(&format!("if {even} {{ cur = 0; }} else {{ cur = 1; }}"));
            }
        }
        self.text("\n");
    }

    fn repeat(&mut self, label: usize, rounds: Rounds, form: Form, body: &Block) {
        let end = match rounds {
            Rounds::Literal(rounds) => rounds.to_string(),
            Rounds::Parameter(index) => format!("p{index}"),
        };
        if form == Form::For {
            self.text(&format!("'l{label}: for k{label} in 0..{end} "));
            return self.block(body);
        }
        self.text(&format!("let mut c{label} = 0;\n"));
        self.start();
        let loops = form == Form::Loop;
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
}
