//! Checks the verdict on kernels whose faults are known.

use phalanx_compiler::Rule;

use super::judge::judge;
use super::relative::{Base, Modulus, Relative, Step, Sum};
use super::run::Unknown;
use super::tree::{
    Access, Array, Arrival, Form, Index, Kernel, Kind, Number, Owner, Parity, Place, Rounds, Stmt, Test,
};

fn access(kind: Kind, owner: Owner, row: Parity) -> Stmt {
    let place = Place { array: Array::Rows, row, index: Index::Own };
    Stmt::Access(Access { site: 0, kind, owner, named: false, place })
}

fn write(row: Parity) -> Stmt {
    access(Kind::Write, Owner::Own, row)
}

fn read(row: Parity) -> Stmt {
    access(Kind::Read, Owner::Next, row)
}

#[track_caller]
fn check(body: Vec<Stmt>, expected: &[Rule]) {
    check_of(2, body, expected);
}

#[track_caller]
fn check_of(blocks: usize, body: Vec<Stmt>, expected: &[Rule]) {
    let verdict = judge(&Kernel { blocks, body }, Unknown::default());
    let rules: Vec<Rule> = verdict.must.into_iter().flat_map(|(_, rules)| rules).collect();
    assert_eq!(rules, expected);
}

const ROW: Parity = Parity::Literal(0);
/// Either rule may report it.
const EXITS: [Rule; 2] = [Rule::ExitBeforePeersDone, Rule::RelaxedPublishes];

#[test]
fn one_after_the_other() {
    check(vec![write(ROW), Stmt::Sync, read(ROW), Stmt::Sync], &[]);
    check(vec![write(ROW), Stmt::Sync, read(Parity::Literal(1)), write(ROW), Stmt::Sync], &[]);
    check(vec![write(ROW), Stmt::Sync, read(ROW)], &EXITS);
    check(vec![Stmt::Sync, write(ROW), Stmt::SyncBlock, read(ROW), Stmt::Sync], &[Rule::UnpublishedRemoteRead]);
    check(vec![Stmt::Sync, read(ROW), write(ROW), Stmt::Sync], &[Rule::OverwriteWhileRead]);
    let remote = access(Kind::Write, Owner::Next, ROW);
    check(vec![Stmt::Sync, remote.clone(), write(ROW), Stmt::Sync], &[Rule::UnorderedRemoteWrite]);
    check(vec![remote, Stmt::Sync, write(ROW)], &[Rule::RemoteBeforeEntry]);
    let beyond = access(Kind::Write, Owner::Rank(2), ROW);
    check(vec![Stmt::Sync, beyond, Stmt::Sync], &[Rule::RankOutOfRange]);
}

#[test]
fn split() {
    check(vec![Stmt::Split(1, Arrival::Full, vec![write(ROW)]), read(ROW), Stmt::Sync], &[Rule::WriteAfterArrive]);
    check(vec![Stmt::Split(1, Arrival::Full, vec![write(ROW)]), Stmt::Sync, read(ROW), Stmt::Sync], &[]);
    check(
        vec![Stmt::Sync, Stmt::Split(1, Arrival::Full, vec![read(ROW)]), write(ROW), Stmt::Sync],
        &[Rule::OverwriteWhileRead],
    );
    check(vec![Stmt::Sync, read(ROW), Stmt::Split(1, Arrival::Full, vec![]), write(ROW)], &[]);
    check(vec![Stmt::Sync, read(ROW), Stmt::Split(1, Arrival::Full, vec![write(ROW)])], &[Rule::OverwriteWhileRead]);
}

#[test]
fn relaxed() {
    let relaxed = || Stmt::Split(1, Arrival::Relaxed, vec![]);
    let by_first = || Stmt::If(Test::ThreadRank(0), vec![Stmt::Fence], None);
    let behind = |before: Vec<Stmt>, last: Stmt| before.into_iter().chain([relaxed(), last, Stmt::Sync]).collect();
    let publishes = [Rule::RelaxedPublishes];
    check(behind(vec![write(ROW)], read(ROW)), &publishes);
    check(behind(vec![write(ROW), Stmt::Fence], read(ROW)), &[]);
    check(behind(vec![Stmt::Fence, write(ROW)], read(ROW)), &publishes);
    check(behind(vec![write(ROW), by_first()], read(ROW)), &publishes);
    check(behind(vec![write(ROW), Stmt::SyncBlock, by_first()], read(ROW)), &[]);
    check(behind(vec![Stmt::Sync, read(ROW)], write(ROW)), &publishes);
    check(behind(vec![write(ROW), relaxed(), Stmt::Sync], read(ROW)), &[]);
    check(vec![Stmt::Sync, read(ROW), relaxed()], &EXITS);
    check(vec![Stmt::Sync, read(ROW), Stmt::Fence, relaxed()], &[]);
}

#[test]
fn round_a_loop() {
    let looped = |body| vec![Stmt::Loop(1, Rounds::Literal(3), Form::For, body), Stmt::Sync];
    let round = Parity::Rem(Number::Round(1), 0);
    check(looped(vec![write(round), Stmt::Sync, read(round)]), &[]);
    check(looped(vec![write(ROW), Stmt::Sync, read(ROW)]), &[Rule::OverwriteWhileRead]);
    let (current, other) = (Parity::Current, Parity::CurrentMinus);
    check(looped(vec![Stmt::Sync, read(current), write(other), Stmt::Flip(true)]), &[]);
    check(looped(vec![Stmt::Sync, read(current), write(other)]), &[]);
    check(looped(vec![Stmt::Sync, read(current), write(current)]), &[Rule::OverwriteWhileRead]);
}

#[test]
fn by_rank() {
    let branch = |test, then, otherwise| Stmt::If(test, vec![then], Some(vec![otherwise]));
    let arms = |test| vec![Stmt::Sync, branch(test, write(ROW), read(ROW)), Stmt::Sync];
    check(arms(Test::BlockRank(0)), &[Rule::UnpublishedRemoteRead, Rule::OverwriteWhileRead]);
    // Of two elements.
    check(arms(Test::ThreadRank(0)), &[]);
    check(arms(Test::Equals(Number::Parameter(0), 1)), &[]);
}

fn of(base: Base, number: Option<(Step, Number)>, more: u32, modulus: Modulus) -> Relative {
    Relative::Sum(Sum { number, more, modulus: Some(modulus), ..Sum::of(base) })
}

/// Returns a write to the block's own element, and a read of a peer's.
fn elements(own: Relative, owner: Owner, peer: Relative) -> Vec<Stmt> {
    let place = |index| Place { array: Array::A, row: ROW, index: Index::Relative(index) };
    let access = |kind, owner, index| Stmt::Access(Access { site: 0, kind, owner, named: false, place: place(index) });
    vec![Stmt::Sync, access(Kind::Write, Owner::Own, own), access(Kind::Read, owner, peer), Stmt::Sync]
}

#[test]
fn counted_from_ranks() {
    let (rank, unpublished) = (Relative::RANK, [Rule::UnpublishedRemoteRead]);
    let next = of(Base::Rank, None, 1, Modulus::Blocks);
    for blocks in [2, 3, 4] {
        // The peer's rank is not the owner's.
        check_of(blocks, elements(rank, Owner::Next, rank), &[]);
        check_of(blocks, elements(rank, Owner::Next, next), &unpublished);
        check_of(blocks, elements(rank, Owner::Relative(next), rank), &[]);
        // No block has this peer.
        check_of(blocks, elements(rank, Owner::Relative(rank), rank), &[]);
        // A peer's element is behind it, unless the rank wraps.
        let behind = Relative::Sum(Sum { more: 1, ..Sum::of(Base::Rank) });
        check_of(blocks, elements(behind, Owner::Next, rank), if blocks == 2 { &unpublished } else { &[] });
    }
    // Two blocks of three have the same.
    let of_two = of(Base::Rank, Some((Step::Plus, Number::Parameter(0))), 0, Modulus::Literal(2));
    check_of(2, elements(of_two, Owner::Next, of_two), &[]);
    check_of(3, elements(of_two, Owner::Next, of_two), &unpublished);
    // 0 - 1 is a multiple of 3.
    let below = of(Base::Rank, Some((Step::Below, Number::Current)), 0, Modulus::Blocks);
    let after = |index| [vec![Stmt::Flip(true)], elements(below, Owner::Previous, index)].concat();
    check_of(4, after(of(Base::Rank, None, 3, Modulus::Blocks)), &[]);
    check_of(3, after(of(Base::Rank, None, 2, Modulus::Blocks)), &unpublished);
}

#[test]
fn held_by_variables() {
    let of_current = of(Base::Rank, Some((Step::Plus, Number::Current)), 0, Modulus::Blocks);
    let before = |owner| {
        let start = vec![Stmt::Let(1, of_current), Stmt::Flip(true)];
        [start, elements(Relative::Sum(Sum::of(Base::Held(1, 3))), owner, of_current)].concat()
    };
    check_of(3, before(Owner::Next), &[Rule::UnpublishedRemoteRead]);
    check_of(3, before(Owner::Previous), &[]);
    let step = Stmt::Set(of(Base::Slot, None, 1, Modulus::Blocks));
    let slot = Relative::Sum(Sum::of(Base::Slot));
    let round = |owner| {
        let body = [elements(slot, owner, Relative::RANK), vec![step.clone()]].concat();
        vec![Stmt::Loop(1, Rounds::Literal(2), Form::For, body)]
    };
    // In the second iteration it is the next block's rank.
    check_of(3, round(Owner::Next), &[]);
    check_of(3, round(Owner::Previous), &[Rule::UnpublishedRemoteRead]);
}
