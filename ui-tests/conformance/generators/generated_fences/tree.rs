//! A small language of kernels: accesses to shared, remote and global memory between barriers of the cluster.

use std::fmt::Write;

use super::super::shrink::Nested;

pub(super) const BLOCKS: usize = 2;
pub(super) const THREADS: usize = 4;

/// The memory of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// One of two shared arrays of the own block.
    Own(usize),
    /// The same array of the other block.
    Peer(usize),
    /// One of two buffers.
    Global(usize),
}

/// The element of an access: the thread's own one, that of another thread of the block, or that of the other block's thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Own,
    Neighbour,
    Opposite,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Atomic,
    AtomicLoad,
}

pub(super) type Block = Vec<Stmt>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stmt {
    Access(Memory, Element, Kind),
    /// `cluster.sync()`; the number among the kernel's arrivals, in the order of the text.
    Sync(usize),
    /// An arrival, what stands between, and the wait.
    Split(usize, Block),
    /// A test of the parameter, or of the block's rank: then the arms have no barriers.
    If(bool, Block, Block),
    /// Two iterations.
    Loop(Block),
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Block> {
        match self {
            Stmt::Access(..) | Stmt::Sync(_) => Vec::new(),
            Stmt::Split(_, body) | Stmt::Loop(body) => vec![body],
            Stmt::If(_, then, otherwise) => vec![then, otherwise],
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Kernel {
    pub(super) body: Block,
    pub(super) arrivals: usize,
}

impl Kernel {
    /// A kernel whose arrivals are numbered anew.
    pub(super) fn new(mut body: Block) -> Kernel {
        let mut arrivals = 0;
        number(&mut body, &mut arrivals);
        Kernel { body, arrivals }
    }

    pub(super) fn print(&self) -> String {
        let mut text = format!(
            "fn kernel(g: &mut [u32], h: &mut [u32], p: u32) {{
    let (cluster, block) = (this_cluster(), this_thread_block());
    let a = shared_array::<u32, {THREADS}>();
    let b = shared_array::<u32, {THREADS}>();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let me = cluster.thread_rank();
    let mut sum = 0;
"
        );
        print(&self.body, &mut text);
        text + "}\n"
    }
}

fn number(block: &mut Block, next: &mut usize) {
    for stmt in block {
        if let Stmt::Sync(number) | Stmt::Split(number, _) = stmt {
            *number = *next;
            *next += 1;
        }
        stmt.blocks().into_iter().for_each(|inner| number(inner, next));
    }
}

fn print(block: &Block, text: &mut String) {
    for stmt in block {
        match stmt {
            Stmt::Access(memory, element, kind) => {
                let (memory, first) = match memory {
                    Memory::Own(array) => (["a", "b"][*array].to_owned(), "i"),
                    Memory::Peer(array) => (format!("cluster.map_shared_rank(&{}, 1 - rank)", ["a", "b"][*array]), "i"),
                    Memory::Global(buffer) => (["g", "h"][*buffer].to_owned(), "me"),
                };
                let index = match element {
                    Element::Own => first.to_owned(),
                    Element::Neighbour => format!("{first} / {THREADS} * {THREADS} + (i + 1) % {THREADS}"),
                    Element::Opposite => {
                        format!("({first} + {THREADS}) % {}", if first == "i" { THREADS } else { 2 * THREADS })
                    }
                };
                let line = match kind {
                    Kind::Read => format!("sum += {memory}[{index}];"),
                    Kind::Write => format!("{memory}[{index}] = sum + me;"),
                    Kind::Atomic => format!("{memory}.atomic({index}).fetch_add(1, Relaxed);"),
                    Kind::AtomicLoad => format!("sum += {memory}.atomic({index}).load(Acquire);"),
                };
                writeln!(text, "{line}")
            }
            Stmt::Sync(_) => writeln!(text, "cluster.sync();"),
            Stmt::Split(number, body) => {
                writeln!(text, "let t{number} = cluster.barrier_arrive();").expect("a String takes every write");
                print(body, text);
                writeln!(text, "cluster.barrier_wait(t{number});")
            }
            Stmt::If(uniform, then, otherwise) => {
                let test = if *uniform { "p == 0" } else { "rank == 0" };
                writeln!(text, "if {test} {{").expect("a String takes every write");
                print(then, text);
                writeln!(text, "}} else {{").expect("a String takes every write");
                print(otherwise, text);
                writeln!(text, "}}")
            }
            Stmt::Loop(body) => {
                writeln!(text, "for _ in 0..2 {{").expect("a String takes every write");
                print(body, text);
                writeln!(text, "}}")
            }
        }
        .expect("a String takes every write");
    }
}
