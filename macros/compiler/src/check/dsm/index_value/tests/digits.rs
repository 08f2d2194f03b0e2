//! Tests of digits of mixed radix: random expressions of the rank, a variable and a number that differs between threads, whose values
//! are compared with what is said of them.

use super::super::*;
use crate::model::LocalId;
use crate::model::expr::BinaryOp;
use crate::tests::random::Random;

const K: Base = Base::Variable(Variable::Local(LocalId(0)));
/// The numbers of threads, and of rounds, that are tried.
const THREADS: u32 = 8;

/// An index as the text has it.
#[derive(Debug, Clone)]
enum Index {
    Rank,
    K,
    Thread,
    Number(u32),
    Of(BinaryOp, Box<Index>, Box<Index>),
    /// A counter that begins with the first value, and goes by such steps up to the second one, that it may be at in round `K`.
    Counter(Box<Index>, Box<Index>, u32),
}

impl Index {
    fn random(random: &mut Random, depth: u32) -> Index {
        use BinaryOp::{Add, BitOr, Div, Mul, Rem, Shl};
        match random.below(if depth == 0 { 4 } else { 12 }) {
            0 => Index::Rank,
            1 => Index::Thread,
            2 => Index::K,
            3 => Index::Number([0, 1, 4, 8, 16, 32][random.below(6)]),
            4 => {
                let start = Index::random(random, depth - 1);
                let length = Index::Number([1, 4, 8, 16][random.below(4)]);
                let end = Index::Of(Add, Box::new(start.clone()), Box::new(length));
                let end = if random.below(2) == 0 { end } else { Index::random(random, depth - 1) };
                Index::Counter(Box::new(start), Box::new(end), [1, 4, 8, 32][random.below(4)])
            }
            _ => {
                let (op, by): (_, &[u32]) = [
                    (Add, &[][..]),
                    (Add, &[]),
                    (Add, &[1, 4, 8]),
                    (Mul, &[2, 4, 8, 16]),
                    (Mul, &[4, 8]),
                    (Rem, &[2, 4, 8, 16, 32]),
                    (Div, &[2, 4, 8]),
                    (BitOr, &[]),
                    (Shl, &[1, 2, 3]),
                ][random.below(9)];
                let first = Box::new(Index::random(random, depth - 1));
                let second = if by.is_empty() {
                    Index::random(random, depth - 1)
                } else {
                    Index::Number(by[random.below(by.len())])
                };
                Index::Of(op, first, Box::new(second))
            }
        }
    }

    fn known(&self, blocks: u32) -> IndexValue {
        match self {
            Index::Rank => IndexValue::rank(Some(blocks.into())),
            Index::K => IndexValue { lower: Some(0), upper: Some(Size::Number(THREADS.into())), ..IndexValue::of(K) },
            Index::Thread => IndexValue::between(0, Some(Size::Number(THREADS.into()))),
            Index::Number(number) => IndexValue::literal(u64::from(*number)),
            Index::Of(op, a, b) => IndexValue::of_operator(*op, &a.known(blocks), &b.known(blocks), true),
            Index::Counter(start, end, step) => {
                let (start, end) = (start.known(blocks), end.known(blocks));
                let form = start.until(&end).or_else(|| start.in_steps_of(u64::from(*step)));
                IndexValue {
                    form: form.unwrap_or_default(),
                    lower: start.lower,
                    upper: start.lower.and(end.as_upper_bound()),
                }
            }
        }
    }

    /// The value; `None` if a counter does not come so far.
    fn value(&self, rank: u32, k: u32, thread: u32) -> Option<u32> {
        Some(match self {
            Index::Rank => rank,
            Index::K => k,
            Index::Thread => thread,
            Index::Number(number) => *number,
            Index::Of(op, a, b) => {
                let (a, b) = (a.value(rank, k, thread)?, b.value(rank, k, thread)?);
                match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Mul => a * b,
                    BinaryOp::Rem => a % b,
                    BinaryOp::Div => a / b,
                    BinaryOp::BitOr => a | b,
                    BinaryOp::Shl => a << b,
                    BinaryOp::Sub
                    | BinaryOp::BitXor
                    | BinaryOp::BitAnd
                    | BinaryOp::Shr
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge
                    | BinaryOp::And
                    | BinaryOp::Or => panic!("no operator of these tests: {op:?}"),
                }
            }
            Index::Counter(start, end, step) => {
                let at = start.value(rank, k, thread)? + (thread + k) % 4 * step;
                (at < end.value(rank, k, thread)?).then_some(at)?
            }
        })
    }
}

/// Random expressions that are said to be disjoint in two blocks are so, and many are.
#[test]
fn what_is_disjoint_is_never_equal() {
    let mut random = Random::new(1);
    let mut disjoint = 0;
    for _ in 0..15_000 {
        let own = Index::random(&mut random, 4);
        let peers = if random.below(2) == 0 { own.clone() } else { Index::random(&mut random, 3) };
        let blocks = 2 + random.below(3) as u32;
        let (known, others) = (own.known(blocks), peers.known(blocks));
        let values = |index: &Index, rank: u32, k: u32| -> Vec<u32> {
            (0..THREADS).filter_map(|thread| index.value(rank, k, thread)).collect()
        };
        for (value, index) in [(&known, &own), (&others, &peers)] {
            let all = (0..blocks).flat_map(|rank| (0..THREADS).flat_map(move |k| values(index, rank, k)));
            let is_within = |number: u32| {
                let number = u64::from(number);
                value.lower.is_none_or(|lower| lower <= number) && value.max().is_none_or(|max| number <= max)
            };
            assert!(all.into_iter().all(is_within), "{index:?} {value:?}");
        }
        if known.overlap(&others, Ranks { owner: None, blocks: Some(blocks) }) != Overlap::Never {
            continue;
        }
        let pairs = (0..blocks).flat_map(|rank| (0..blocks).map(move |peer| (rank, peer)));
        for (rank, peer) in pairs.filter(|(rank, peer)| rank != peer) {
            for k in 0..THREADS {
                let theirs = values(&peers, peer, k);
                let meet = values(&own, rank, k).iter().any(|own| theirs.contains(own));
                assert!(!meet, "{own:?} {peers:?} {known:?} {others:?} of {rank} and {peer}");
            }
        }
        disjoint += usize::from(known.form != Form::Unknown && others.form != Form::Unknown);
    }
    assert!(disjoint > 800, "{disjoint}");
}
