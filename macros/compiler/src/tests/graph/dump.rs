//! Prints a graph as text, one line per block.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::check::cfg::{BasicBlock, BlockId, CallId, Cfg, End, GroupStep, Step, StepKind, TokenStep, Variable};
use crate::model::token::TokenLoss;
use crate::model::{Function, LocalId};

/// Prints the steps of tokens; those of values are left out.
pub(super) fn dump(function: &Function, cfg: &Cfg<'_>) -> String {
    let mut dump = Dump { function, cfg, numbers: BTreeMap::new(), order: Vec::new() };
    dump.visit(cfg.entry);
    dump.text()
}

/// The blocks that control reaches, numbered as a walk from the entry meets them. An empty block that only jumps is
/// left out.
struct Dump<'f> {
    function: &'f Function,
    cfg: &'f Cfg<'f>,
    numbers: BTreeMap<BlockId, usize>,
    order: Vec<BlockId>,
}

impl Dump<'_> {
    fn visit(&mut self, block: BlockId) {
        let block = self.skip(block);
        if !self.numbers.contains_key(&block) {
            self.numbers.insert(block, self.order.len());
            self.order.push(block);
            self.cfg.blocks[block.0].end.successors().for_each(|next| self.visit(next));
        }
    }

    fn skip(&self, mut block: BlockId) -> BlockId {
        // At most as often as there are blocks: an empty loop never ends.
        for _ in &self.cfg.blocks {
            match &self.cfg.blocks[block.0] {
                BasicBlock { steps, end: End::Goto(next) } if steps.iter().all(|step| self.step(step).is_none()) => {
                    block = *next;
                }
                _ => break,
            }
        }
        block
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for block in &self.order {
            let steps = self.cfg.blocks[block.0].steps.iter().filter_map(|step| Some(self.step(step)? + "; "));
            let end = self.end(&self.cfg.blocks[block.0].end);
            _ = writeln!(out, "{}: {}{end}", self.block(*block), steps.collect::<String>());
        }
        out
    }

    fn block(&self, block: BlockId) -> String {
        format!("b{}", self.numbers[&self.skip(block)])
    }

    /// Returns the name; a shadowing variable's with its number among those of the name.
    fn local(&self, id: LocalId) -> String {
        let name = &self.function.local(id).name;
        let earlier = self.function.locals[..id.0].iter().filter(|local| local.name == *name).count();
        if earlier == 0 { name.to_string() } else { format!("{name}#{}", earlier + 1) }
    }

    fn variable(&self, variable: Variable) -> String {
        match variable {
            Variable::Local(local) => self.local(local),
            Variable::Field(local, field) => format!("{}.{field}", self.local(local)),
            Variable::Temporary(number) => format!("_{number}"),
        }
    }

    fn step(&self, step: &Step) -> Option<String> {
        let variable = |variable: &Variable| self.variable(*variable);
        Some(match &step.kind {
            StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::Group(GroupStep::FormGroup(_) | GroupStep::Convergent { .. } | GroupStep::Aligned { .. })
            | StepKind::Copy(_)
            | StepKind::BarrierCall(_) => return None,
            StepKind::Group(GroupStep::Collective { team, name, .. }) => format!("{name} {}", team.group.rust_name()),
            StepKind::Group(GroupStep::Arrive { group, into, .. } | GroupStep::ArriveForgotten { group, into, .. }) => {
                format!("{} = arrive {}", variable(into), group.rust_name())
            }
            StepKind::Group(GroupStep::Wait { group, from } | GroupStep::WaitElected { group, from }) => {
                format!("wait {} {}", group.rust_name(), variable(from))
            }
            StepKind::Call(CallId(call)) => match self.cfg.calls[*call].returned_token {
                Some((_, into)) => format!("{} = call", variable(&into)),
                None => "call".into(),
            },
            StepKind::Token(TokenStep::Move { from, into }) => format!("{} = {}", variable(into), variable(from)),
            StepKind::Token(TokenStep::Forget { from, .. }) => format!("forget {}", variable(from)),
            StepKind::Token(TokenStep::HandOver { from }) => format!("hand over {}", variable(from)),
            StepKind::Token(TokenStep::Clear { variable: cleared }) => format!("{} = none", variable(cleared)),
            StepKind::Token(TokenStep::Drop { variable: dropped, how }) => {
                format!("drop {} ({})", variable(dropped), loss(*how))
            }
        })
    }

    fn end(&self, end: &End) -> String {
        match end {
            End::Never => "never".into(),
            End::Leave => "leave".into(),
            End::Goto(next) => format!("goto {}", self.block(*next)),
            End::Branch { then, otherwise, .. } => format!("if {} else {}", self.block(*then), self.block(*otherwise)),
            End::Option { variable, some, none, .. } => {
                format!("some({}) {} else {}", self.variable(*variable), self.block(*some), self.block(*none))
            }
        }
    }
}

fn loss(how: TokenLoss) -> &'static str {
    match how {
        TokenLoss::Unused => "unused",
        TokenLoss::Discarded => "discarded",
        TokenLoss::Overwritten => "overwritten",
        TokenLoss::EndOfScope => "end",
        TokenLoss::Return => "return",
        TokenLoss::Question => "question",
        TokenLoss::Break => "break",
        TokenLoss::Continue => "continue",
    }
}
