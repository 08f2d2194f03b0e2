//! Evaluates an expression for each thread.

use super::super::tree::{BLOCK, CLUSTER, Expr, GRID, Op, SLICE};
use super::{Mask, Run, Values, both, hash, not};

impl Run<'_> {
    pub(super) fn value(&mut self, value: &Expr, mask: &Mask) -> Values {
        match value {
            Expr::Int(number) => vec![*number; GRID],
            Expr::Bool(truth) => vec![u32::from(*truth); GRID],
            Expr::Var(var) => {
                let id = self.named(*var);
                self.vars[&id][0].clone()
            }
            Expr::Field(var, half) => {
                let id = self.named(*var);
                self.vars[&id][*half].clone()
            }
            Expr::Scalar(index) => vec![(self.input as u32 / [1, 4][*index]) % 4; GRID],
            Expr::Rank => (0..GRID).map(|thread| (thread % BLOCK) as u32).collect(),
            Expr::ClusterThread => (0..GRID).map(|thread| (thread % CLUSTER) as u32).collect(),
            Expr::GridThread => (0..GRID).map(|thread| thread as u32).collect(),
            Expr::BlockRank => (0..GRID).map(|thread| (thread % CLUSTER / BLOCK) as u32).collect(),
            Expr::ClusterRank => (0..GRID).map(|thread| (thread / CLUSTER) as u32).collect(),
            Expr::Input(index) => {
                let index = self.value(index, mask);
                let element = |index: &u32| hash(&[1, self.input, u64::from(*index) % SLICE as u64]) % 8;
                index.iter().map(element).collect()
            }
            Expr::State(index) => {
                self.value(index, mask);
                (0..GRID as u64).map(|thread| hash(&[2, self.input, self.clock as u64, thread]) % 8).collect()
            }
            Expr::Shared(index) => self.load(&(0..GRID).map(|thread| thread / BLOCK).collect::<Vec<_>>(), *index, mask),
            Expr::Remote(rank, index) => {
                let ranks = self.value(rank, mask);
                let blocks = ranks.iter().enumerate().map(|(thread, rank)| thread / CLUSTER * 2 + *rank as usize % 2);
                self.load(&blocks.collect::<Vec<_>>(), *index, mask)
            }
            Expr::Binary(op @ (Op::And | Op::Or), left, right) => {
                let left = self.test(left, mask);
                let open = if *op == Op::And { both(mask, &left) } else { both(mask, &not(&left)) };
                let right = self.test(right, &open);
                let whole = |(left, right): (&bool, &bool)| match op {
                    Op::And => *left && *right,
                    _ => *left || *right,
                };
                left.iter().zip(&right).map(|both| u32::from(whole(both))).collect()
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.value(left, mask), self.value(right, mask));
                left.iter().zip(&right).map(|(left, right)| apply(*op, *left, *right)).collect()
            }
            Expr::Not(inner) => self.value(inner, mask).iter().map(|truth| u32::from(*truth == 0)).collect(),
            Expr::If(test, then, otherwise) => {
                let test = self.test(test, mask);
                let first = self.value(then, &both(mask, &test));
                let second = self.value(otherwise, &both(mask, &not(&test)));
                (0..GRID).map(|thread| if test[thread] { first[thread] } else { second[thread] }).collect()
            }
            Expr::Any(site, inner) => {
                let votes = self.test(inner, mask);
                self.collective(*site, mask);
                self.together(*site, mask);
                let votes = both(&votes, mask);
                let all = votes.chunks(site.group.threads());
                all.flat_map(|group| vec![u32::from(group.contains(&true)); group.len()]).collect()
            }
            Expr::Shuffle(site, inner, lane) => {
                let (values, lanes) = (self.value(inner, mask), self.value(lane, mask));
                self.collective(*site, mask);
                self.together(*site, mask);
                let size = site.group.threads();
                (0..GRID).map(|thread| values[thread / size * size + lanes[thread] as usize % size]).collect()
            }
            Expr::Claim(site, index) => {
                self.collective(*site, mask);
                let size = site.group.threads();
                let value = |thread| hash(&[3, self.input, *index as u64, (thread / size) as u64]) % 4;
                (0..GRID).map(value).collect()
            }
        }
    }

    /// Loads a value. If it may be another thread's and no barrier orders it, it is different for each thread.
    fn load(&mut self, blocks: &[usize], index: usize, mask: &Mask) -> Values {
        let mut values = vec![0; GRID];
        for thread in (0..GRID).filter(|thread| mask[*thread]) {
            let (value, ordered) = self.memory.read(blocks[thread], index, thread);
            values[thread] = if ordered { value } else { hash(&[4, self.clock as u64, thread as u64]) };
        }
        values
    }
}

fn apply(op: Op, left: u32, right: u32) -> u32 {
    match op {
        Op::Add => left.wrapping_add(right),
        Op::Xor => left ^ right,
        Op::Rem => left % right,
        Op::Div => left / right,
        Op::Mask => left & right,
        Op::Times => left.wrapping_mul(right),
        // As `next_multiple_of` does without checks of overflow.
        Op::RoundUp if left.is_multiple_of(right) => left,
        Op::RoundUp => left.wrapping_add(right - left % right),
        Op::Less => u32::from(left < right),
        Op::Equal => u32::from(left == right),
        Op::And => left & right,
        Op::Or => left | right,
    }
}
