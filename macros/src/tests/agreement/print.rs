//! The tree as the source of a kernel.

use super::super::generated_dsm::tree::{Arrival, LENGTH};
use super::super::generated_dsm::words::{Statements, memory, test, touch};
use super::super::page::{Page, Printer};
use super::tree::{Group, Kernel, Stmt};

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
        writer.statements(&kernel.body);
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

impl Statements for Writer {
    type Stmt = Stmt;

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
                for (arm, waits) in [then, otherwise] {
                    self.braces(|writer| {
                        writer.statements(arm);
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
            Stmt::Carried(label, rounds, blocks) => self.carried(*label, *rounds, blocks),
            Stmt::If(condition, then, otherwise) => self.branch(*condition, then, otherwise.as_deref()),
            Stmt::Loop(label, rounds, form, body) => self.repeat(*label, *rounds, *form, body),
            Stmt::Jump(jump) => self.jump(*jump),
            Stmt::Flip => self.text("cur ^= 1;"),
            Stmt::Choose(of) => self.choose(*of),
        }
        self.text("\n");
    }
}
