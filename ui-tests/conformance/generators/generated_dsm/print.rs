//! Prints the tree as the source of a kernel, and records the line of each access.

use std::collections::BTreeMap;

use super::super::page::{Page, Printer};
use super::super::shrink::Nested;
use super::tree::{Access, Arrival, Block, Kernel, LENGTH, Stmt, THREADS};
use super::words::{Statements, memory, touch};

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
        writer.line("let mut slot = rank;");
        writer.line("let mut sum = 0;");
        writer.names(&kernel.body);
        writer.statements(&kernel.body);
    });
    writer.text("\n");
    Source { text: writer.page.text, lines: writer.lines }
}

#[derive(Default)]
struct Writer {
    page: Page,
    lines: BTreeMap<usize, usize>,
    /// The names of peers' memory.
    named: BTreeMap<String, String>,
}

impl Printer for Writer {
    fn page(&mut self) -> &mut Page {
        &mut self.page
    }
}

impl Writer {
    /// Gives peers' memory its names.
    fn names(&mut self, block: &Block) {
        for stmt in block {
            if let Stmt::Access(access) = stmt
                && access.named
                && access.has_one_owner()
                && !self.named.contains_key(&memory(access))
            {
                let name = format!("far{}", self.named.len());
                self.line(&format!("let {name} = {};", memory(access)));
                self.named.insert(memory(access), name);
            }
            stmt.clone().blocks().into_iter().for_each(|inner| self.names(inner));
        }
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
}

impl Statements for Writer {
    type Stmt = Stmt;

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
                self.statements(body);
                self.start();
                self.text(&format!("cluster.barrier_wait(t{id});"));
            }
            Stmt::Carried(label, rounds, blocks) => self.carried(*label, *rounds, blocks),
            Stmt::If(condition, then, otherwise) => self.branch(*condition, then, otherwise.as_deref()),
            Stmt::Loop(label, rounds, form, body) => self.repeat(*label, *rounds, *form, body),
            Stmt::Jump(jump) => self.jump(*jump),
            Stmt::Flip(true) => self.text("cur ^= 1;"),
            Stmt::Flip(false) => self.text("cur = 1 - cur;"),
            Stmt::Choose(of) => self.choose(*of),
            Stmt::Let(label, relative) => self.hold(*label, relative),
            Stmt::Set(relative) => self.set(relative),
        }
        self.text("\n");
    }
}
