//! Whether a peer's access may reach the owner's element, by trying each pair of blocks. Two accesses conflict only if in one pair of
//! blocks, and for the same values of variables, the peer's rank leads to the owner, both blocks get to their accesses, and all
//! indexes are equal. Affine values alone compare the dimensions one by one, for all ranks at once.

use std::collections::BTreeSet;

use super::affine::{Base, MAX_CLUSTER_SIZE, Ranks};
use super::guards::RankBounds;
use super::index_path::IndexPath;
use super::index_value::IndexValue;
use super::overlap::{ConstantIs, Overlap};
use crate::check::cfg::gcd;

/// The largest modulus of a variable of which each remainder is tried.
const LARGEST_MODULUS: u32 = 12;
/// The most combinations of remainders that are tried.
const MOST_COMBINATIONS: u32 = 64;

/// The remainder of a variable by a modulus, as the variable, the modulus and the remainder.
type Residue = (Base, i32, i32);

/// Whether the owner, by its path, and a peer, by the other, may select the same element: `None` if they never do, and otherwise what
/// must hold of constants for that.
pub(super) fn aliasing(own: &IndexPath, peers: &IndexPath, blocks: Option<u32>) -> Option<Vec<ConstantIs>> {
    let owner = peers.owner().and_then(IndexValue::affine);
    if own.ranks().excludes(owner, peers.ranks(), blocks) {
        return None;
    }
    let ranks = Ranks { owner, blocks };
    let mut conditions = Vec::new();
    for (own, peers) in own.indexes().zip(peers.indexes()) {
        match own.overlap(peers, ranks) {
            Overlap::Never => return None,
            Overlap::If(condition) => conditions.push(condition),
            Overlap::Possible => {}
        }
    }
    may_meet(own, peers, blocks).then_some(conditions)
}

/// Whether in some pair of blocks both may select the same element, whatever constants are.
fn may_meet(own: &IndexPath, peers: &IndexPath, blocks: Option<u32>) -> bool {
    let sizes = blocks.map_or(2..=MAX_CLUSTER_SIZE, |blocks| blocks..=blocks);
    sizes.into_iter().any(|blocks| {
        combinations(own, peers, blocks).iter().any(|residues| {
            let pairs = (0..blocks).flat_map(|owner| (0..blocks).map(move |peer| (owner, peer)));
            pairs.filter(|(owner, peer)| owner != peer).any(|pair| meets(own, peers, pair, blocks, residues))
        })
    })
}

/// Whether the block of a rank may reach another block by this path.
pub(super) fn reaches_another(peers: &IndexPath, blocks: Option<u32>) -> bool {
    may_meet(&IndexPath::default(), peers, blocks)
}

fn meets(own: &IndexPath, peers: &IndexPath, (owner, peer): (u32, u32), blocks: u32, residues: &[Residue]) -> bool {
    let at = |value: &IndexValue, rank: u32| {
        residues.iter().fold(value.at_rank(rank, blocks), |value, (base, modulus, remainder)| {
            value.at_residue(*base, *modulus, *remainder)
        })
    };
    let ranks = Ranks { owner: None, blocks: Some(blocks) };
    let may_be = |a: &IndexValue, b: &IndexValue| a.overlap(b, ranks) != Overlap::Never;
    let is_there = |bounds: &RankBounds, rank: u32| bounds.admits(rank, |bound| at(&bound, rank));
    is_there(own.ranks(), owner)
        && is_there(peers.ranks(), peer)
        && peers.owner().is_none_or(|mapped| may_be(&IndexValue::literal(owner.into()), &at(mapped, peer)))
        && own.indexes().zip(peers.indexes()).all(|(own, peers)| may_be(&at(own, owner), &at(peers, peer)))
}

/// The remainders of the variables by what values are known modulo: each combination, or a single one of which nothing is known.
fn combinations(own: &IndexPath, peers: &IndexPath, blocks: u32) -> Vec<Vec<Residue>> {
    let values = || own.indexes().chain(peers.indexes()).chain(peers.owner());
    let affine = || values().filter_map(IndexValue::affine);
    let bases: Vec<Base> =
        affine().map(|affine| affine.base).filter(|base| *base != Base::Zero).fold(Vec::new(), |mut bases, base| {
            if !bases.contains(&base) {
                bases.push(base);
            }
            bases
        });
    let moduli: BTreeSet<u32> = affine().map(|affine| affine.effective_modulus(blocks)).filter(|of| *of > 1).collect();
    let common = moduli.into_iter().try_fold(1, |common: u32, of| {
        let multiple = u64::from(common) / gcd(common.into(), of.into()) * u64::from(of);
        u32::try_from(multiple).ok().filter(|multiple| *multiple <= LARGEST_MODULUS)
    });
    let Some(modulus) = common.filter(|modulus| *modulus > 1) else { return vec![Vec::new()] };
    let count = u32::try_from(bases.len()).ok().and_then(|bases| modulus.checked_pow(bases));
    if count.is_none_or(|count| count > MOST_COMBINATIONS) {
        return vec![Vec::new()];
    }
    bases.into_iter().fold(vec![Vec::new()], |combinations, base| {
        let remainders = 0..modulus.cast_signed();
        let with = |known: Vec<Residue>| {
            remainders
                .clone()
                .map(move |remainder| [known.clone(), vec![(base, modulus.cast_signed(), remainder)]].concat())
        };
        combinations.into_iter().flat_map(with).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::cfg::Variable;
    use crate::model::LocalId;
    use crate::model::expr::BinaryOp;

    const K: Base = Base::Variable(Variable::Local(LocalId(0)));

    /// An index as the text has it.
    #[derive(Debug, Clone)]
    enum Index {
        Rank,
        K,
        Number(u32),
        Of(BinaryOp, Box<Index>, Box<Index>),
    }

    impl Index {
        fn of(op: BinaryOp, a: &Index, b: Index) -> Index {
            Index::Of(op, Box::new(a.clone()), Box::new(b))
        }

        fn known(&self, blocks: u32) -> IndexValue {
            match self {
                Index::Rank => IndexValue::rank(Some(blocks.into())),
                Index::K => IndexValue { lower: Some(0), ..IndexValue::of(K) },
                Index::Number(number) => IndexValue::literal(u64::from(*number)),
                Index::Of(op, a, b) => {
                    let (a, b) = (a.known(blocks), b.known(blocks));
                    IndexValue::by_rank(*op, &a, &b, blocks.into())
                        .unwrap_or_else(|| IndexValue::of_operator(*op, &a, &b, true))
                }
            }
        }

        fn value(&self, rank: u32, k: u32) -> u32 {
            match self {
                Index::Rank => rank,
                Index::K => k,
                Index::Number(number) => *number,
                Index::Of(op, a, b) => {
                    let (a, b) = (a.value(rank, k), b.value(rank, k));
                    match op {
                        BinaryOp::Add => a.wrapping_add(b),
                        BinaryOp::Sub => a.wrapping_sub(b),
                        BinaryOp::Mul => a.wrapping_mul(b),
                        BinaryOp::Div => a / b,
                        BinaryOp::Rem => a % b,
                        BinaryOp::BitXor => a ^ b,
                        BinaryOp::BitAnd
                        | BinaryOp::BitOr
                        | BinaryOp::Shl
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
            }
        }
    }

    /// Indexes of one or two operators on the rank and a variable.
    fn indexes() -> Vec<Index> {
        use BinaryOp::{Add, BitXor, Div, Mul, Rem, Sub};
        let number = Index::Number;
        let twice = Index::of(Mul, &Index::Rank, number(2));
        let sums = [
            Index::Rank,
            Index::K,
            Index::of(Add, &Index::Rank, Index::K),
            Index::of(Sub, &Index::of(Add, &Index::Rank, number(1)), Index::K),
            Index::of(Sub, &number(3), Index::Rank),
            Index::of(Add, &twice, number(1)),
            Index::of(Add, &twice, Index::K),
        ];
        let mut all = vec![number(0), number(1), number(2)];
        for sum in &sums {
            all.push(sum.clone());
            all.extend(
                [(Rem, 2), (Rem, 3), (Rem, 4), (Div, 2), (BitXor, 1), (BitXor, 2)]
                    .map(|(op, by)| Index::of(op, sum, number(by))),
            );
            let even = Index::of(Mul, &Index::of(Rem, sum, number(2)), number(2));
            all.extend([Index::of(BitXor, &even, number(1)), even]);
        }
        all
    }

    /// Indexes that are said to be disjoint are so for all ranks and values of the variable, and half of those that are disjoint are said to be.
    #[test]
    fn what_never_meets_is_disjoint() {
        let (mut disjoint, mut all_disjoint) = (0, 0);
        let path = |owner: &Index, index: &Index, blocks| {
            IndexPath::of(owner.known(blocks), &[index.known(blocks)], &[], RankBounds::default())
        };
        let indexes = indexes();
        for blocks in 2..=4 {
            for owner in indexes.iter().step_by(5) {
                for own in indexes.iter().step_by(3) {
                    for peers in indexes.iter().skip(1).step_by(3) {
                        let meets = |rank: u32, peer: u32, k: u32| {
                            rank != peer && owner.value(peer, k) == rank && own.value(rank, k) == peers.value(peer, k)
                        };
                        let ranks = || (0..blocks).flat_map(|rank| (0..blocks).map(move |peer| (rank, peer)));
                        let meet = ranks().any(|(rank, peer)| (0..13).any(|k| meets(rank, peer, k)));
                        let own_path = path(&Index::Rank, own, blocks);
                        let says = may_meet(&own_path, &path(owner, peers, blocks), Some(blocks));
                        assert!(says || !meet, "{own:?} {peers:?} {owner:?} {blocks}");
                        disjoint += usize::from(!says);
                        all_disjoint += usize::from(!meet);
                    }
                }
            }
        }
        assert!(disjoint * 2 > all_disjoint, "{disjoint} of {all_disjoint}");
    }

    #[test]
    fn the_own_rank_reaches_no_other_block() {
        let reaches = |rank: Index| {
            let path = IndexPath::of(rank.known(4), &[], &[], RankBounds::default());
            reaches_another(&path, Some(4))
        };
        assert!(!reaches(Index::Rank));
        assert!(!reaches(Index::of(BinaryOp::Rem, &Index::Rank, Index::Number(4))));
        assert!(!reaches(Index::of(
            BinaryOp::Rem,
            &Index::of(BinaryOp::Add, &Index::Rank, Index::Number(4)),
            Index::Number(4)
        )));
        assert!(reaches(Index::of(BinaryOp::Rem, &Index::Rank, Index::Number(3))));
        assert!(reaches(Index::K));
        assert!(reaches_another(&IndexPath::default(), None), "nothing is known of the rank");
    }
}
