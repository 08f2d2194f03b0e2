//! Tuples of options of references to elements, taken apart where they are written: `match (left.get(i), right.get(j)) { .. }`. As
//! [`optional_references`](super::optional_references) has it for one option, each part is rewritten as an option of a copy, whose names are
//! bound by reference.

use syn::{Arm, Expr, ExprTuple, Pat, PatGuard, PatTuple};

use super::Parser;
use super::optional_references::by_reference;
use super::syntax::strip;

impl Parser<'_> {
    /// Returns the tuple and the patterns over copies, if a part is an option of a reference.
    pub(super) fn tuple_over_copies(&self, value: &Expr, patterns: &[&Pat]) -> Option<(Expr, Vec<Pat>)> {
        let Expr::Tuple(tuple) = strip(value) else { return None };
        let count = tuple.elems.len();
        let mut patterns: Vec<Pat> = patterns.iter().map(|pat| (*pat).clone()).collect();
        let mut copies = ExprTuple { ..tuple.clone() };
        let mut any = false;
        for (at, part) in copies.elems.iter_mut().enumerate() {
            if !may_be_option(part) {
                continue;
            }
            let (mut over_copies, mut is_certain) = (patterns.clone(), false);
            let is_possible = over_copies.iter_mut().all(|pat| {
                each_part(pat, at, count, &mut |part| match by_reference(part) {
                    Some((over_copy, is_explicit)) => {
                        is_certain |= is_explicit;
                        *part = over_copy;
                        true
                    }
                    None => false,
                })
            });
            if is_possible && let Some(copy) = self.copied_option(part, is_certain) {
                (*part, patterns, any) = (copy, over_copies, true);
            }
        }
        any.then_some((Expr::Tuple(copies), patterns))
    }

    /// Returns the arms over the parts' copies.
    pub(super) fn arms_over_copies(&self, value: &Expr, arms: &[Arm]) -> Option<(Expr, Vec<Arm>)> {
        let (value, patterns) = self.tuple_over_copies(value, &arms.iter().map(|arm| &arm.pat).collect::<Vec<_>>())?;
        let arms = arms.iter().zip(patterns).map(|(arm, pat)| Arm { pat, ..arm.clone() });
        Some((value, arms.collect()))
    }
}

/// Whether an expression may be an option of a reference.
fn may_be_option(part: &Expr) -> bool {
    matches!(strip(part), Expr::MethodCall(_) | Expr::Path(_))
}

/// Visits the parts at a position of the tuples of a pattern. Returns whether each could be changed.
fn each_part(pat: &mut Pat, at: usize, count: usize, change: &mut impl FnMut(&mut Pat) -> bool) -> bool {
    match pat {
        Pat::Wild(_) => true,
        Pat::Paren(paren) => each_part(&mut paren.pat, at, count, change),
        Pat::Guard(PatGuard { pat, .. }) => each_part(pat, at, count, change),
        Pat::Or(or) => or.cases.iter_mut().all(|case| each_part(case, at, count, change)),
        Pat::Tuple(tuple) => {
            let (rest, length) = (rest_of(tuple), tuple.elems.len());
            let index = match rest {
                None => Some(at),
                Some(rest) if at < rest => Some(at),
                // Those behind `..` are counted from the end.
                Some(rest) => (at + length).checked_sub(count).filter(|index| *index > rest),
            };
            index.and_then(|index| tuple.elems.get_mut(index)).is_none_or(change)
        }
        _ => false,
    }
}

fn rest_of(tuple: &PatTuple) -> Option<usize> {
    tuple.elems.iter().position(|part| matches!(part, Pat::Rest(_)))
}
