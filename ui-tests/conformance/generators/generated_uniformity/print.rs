//! Prints the tree as the source of a kernel. A probe prints nothing.

use super::super::page::{Page, Printer};
use super::tree::{Block, Expr, Group, Jump, Op, SHARED, Stmt, Var};

pub(super) fn print(kernel: &Block) -> String {
    let mut printer = Source::default();
    printer.line("#[cluster_kernel(cluster = 2, block = 64)]");
    printer.text("fn kernel(n0: u32, n1: u32, input: &[u32], state: &mut [u32]) ");
    printer.braces(|printer| {
        printer.line("let cluster = this_cluster();");
        printer.line("let block = this_thread_block();");
        printer.line("let warp = tiled_partition::<32>(&block);");
        printer.line("let tile = tiled_partition::<8>(&block);");
        printer.line(&format!("let shared = shared_array::<u32, {SHARED}>();"));
        kernel.iter().for_each(|stmt| printer.statement(stmt));
    });
    printer.text("\n");
    printer.0.text
}

#[derive(Default)]
struct Source(Page);

impl Printer for Source {
    fn page(&mut self) -> &mut Page {
        &mut self.0
    }
}

fn group(group: Group) -> &'static str {
    match group {
        Group::Tile => "tile",
        Group::Warp => "warp",
        Group::Block => "block",
        Group::Cluster => "cluster",
    }
}

fn name(var: Var) -> String {
    format!("v{}", var.name)
}

impl Source {
    fn block(&mut self, block: &Block) {
        self.braces(|printer| block.iter().for_each(|stmt| printer.statement(stmt)));
    }

    fn around(&mut self, before: &str, value: &Expr, after: &str) {
        self.text(before);
        self.value(value);
        self.text(after);
    }

    fn value(&mut self, value: &Expr) {
        match value {
            Expr::Int(number) => self.text(&number.to_string()),
            Expr::Bool(truth) => self.text(&truth.to_string()),
            Expr::Var(var) => self.text(&name(*var)),
            Expr::Field(var, half) => self.text(&format!("{}.{half}", name(*var))),
            Expr::Scalar(index) => self.text(&format!("n{index}")),
            Expr::Rank => self.text("block.thread_rank()"),
            Expr::ClusterThread => self.text("cluster.thread_rank()"),
            Expr::GridThread => self.text("(this_grid().thread_rank() as u32)"),
            Expr::BlockRank => self.text("cluster.block_rank()"),
            Expr::ClusterRank => self.text("(this_grid().cluster_rank() as u32)"),
            Expr::Input(index) => self.around("input[", index, " & 15]"),
            Expr::State(index) => self.around("state[", index, " & 15]"),
            Expr::Shared(index) => self.text(&format!("shared[{index}]")),
            Expr::Remote(rank, index) => self.around("cluster.map_shared_rank(&shared, ", rank, &format!(")[{index}]")),
            Expr::Binary(Op::RoundUp, left, right) => {
                self.around("", left, ".next_multiple_of(");
                self.around("", right, ")");
            }
            Expr::Binary(op, left, right) => {
                let op = match op {
                    Op::Add => "+",
                    Op::Xor => "^",
                    Op::Rem => "%",
                    Op::Div => "/",
                    Op::Mask => "&",
                    Op::Times => "*",
                    // A method, above.
                    Op::RoundUp => ".",
                    Op::Less => "<",
                    Op::Equal => "==",
                    Op::And => "&&",
                    Op::Or => "||",
                };
                self.around("(", left, &format!(" {op} "));
                self.around("", right, ")");
            }
            Expr::Not(inner) => self.around("!", inner, ""),
            Expr::If(test, then, otherwise) => {
                self.around("(if ", test, " { ");
                self.around("", then, " } else { ");
                self.around("", otherwise, " })");
            }
            Expr::Any(site, inner) => {
                self.text(group(site.group));
                self.around(".any(", inner, ")");
            }
            Expr::Shuffle(site, inner, lane) => {
                self.text(group(site.group));
                self.around(".shfl(", inner, ", ");
                self.around("", lane, ")");
            }
            Expr::Claim(site, index) => {
                self.text(&format!("{}.uniform(state[{index}])", group(site.group)));
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        self.start();
        match stmt {
            Stmt::Let(var, value) => self.around(&format!("let mut {} = ", name(*var)), value, ";"),
            Stmt::LetPair(var, left, right) => self.pair(&format!("let mut {}", name(*var)), left, right),
            Stmt::LetBoth([first, second], left, right) => {
                self.pair(&format!("let (mut {}, mut {})", name(*first), name(*second)), left, right);
            }
            Stmt::Assign(var, value) => self.around(&format!("{} = ", name(*var)), value, ";"),
            Stmt::Increase(var, value) => self.around(&format!("{} += ", name(*var)), value, ";"),
            Stmt::AssignField(var, half, value) => self.around(&format!("{}.{half} = ", name(*var)), value, ";"),
            Stmt::AssignPair(var, left, right) => self.pair(&name(*var), left, right),
            Stmt::Copy(to, from) => self.text(&format!("{} = {};", name(*to), name(*from))),
            Stmt::Store(index, value) => self.around(&format!("shared[{index}] = "), value, ";"),
            Stmt::StoreState(index, value) => {
                self.around("state[", index, " & 15] = ");
                self.around("", value, ";");
            }
            Stmt::If(test, then, otherwise) => {
                self.around("if ", test, " ");
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.text(" else ");
                    self.block(otherwise);
                }
            }
            Stmt::Match(value, arms) => {
                self.around("match ", value, " ");
                self.braces(|printer| {
                    for (index, arm) in arms.iter().enumerate() {
                        printer.start();
                        let last = index + 1 == arms.len();
                        printer.text(&if last { "_ => ".into() } else { format!("{index} => ") });
                        printer.block(arm);
                        printer.text("\n");
                    }
                });
            }
            Stmt::While(label, test, body) => {
                self.around(&format!("'a{label}: while "), test, " ");
                self.block(body);
            }
            Stmt::For(label, var, end, body) => {
                self.around(&format!("'a{label}: for {} in 0..", name(*var)), end, " ");
                self.block(body);
            }
            Stmt::Strided(label, var, [start, end], step, body) => {
                self.around(&format!("'a{label}: for {} in (", name(*var)), start, "..");
                self.around("", end, &format!(").step_by({step}) "));
                self.block(body);
            }
            Stmt::Loop(label, body) => {
                self.text(&format!("'a{label}: loop "));
                self.block(body);
            }
            Stmt::Labelled(label, body) => {
                self.text(&format!("'a{label}: "));
                self.block(body);
            }
            Stmt::Jump(Jump::Break(label)) => self.text(&format!("break 'a{label};")),
            Stmt::Jump(Jump::Continue(label)) => self.text(&format!("continue 'a{label};")),
            Stmt::Jump(Jump::Return) => self.text("return;"),
            Stmt::Sync(site) => {
                self.text(&format!("{}.sync();", group(site.group)));
            }
            Stmt::Split(arrive, wait, body) => {
                self.text(&format!("let t{} = {}.barrier_arrive();\n", arrive.id, group(arrive.group)));
                body.iter().for_each(|stmt| self.statement(stmt));
                self.start();
                self.text(&format!("{}.barrier_wait(t{});", group(wait.group), arrive.id));
            }
            Stmt::Assert(value) => self.around("assert!(", value, ");"),
            Stmt::Probe(_) => self.text("// Nothing."),
        }
        self.text("\n");
    }

    fn pair(&mut self, to: &str, left: &Expr, right: &Expr) {
        self.around(&format!("{to} = ("), left, ", ");
        self.around("", right, ");");
    }
}
