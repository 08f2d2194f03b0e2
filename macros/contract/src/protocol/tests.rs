//! The results of the solvers for effects, guards and the summaries of callees.

extern crate std;

use std::vec::Vec;

use super::*;

const READS: ParameterUses = ParameterUses::of(Party::Owner, When::First, Uses::READ);
const LATE_READS: ParameterUses = ParameterUses::of(Party::Owner, When::Last, Uses::READ);
const FIRST: ParameterUses = ParameterUses::at(When::First);
const LAST: ParameterUses = ParameterUses::at(When::Last);

const READS_FIRST: ProtocolSummary =
    ProtocolSummary { behavior: Behavior::NEEDS_ENTRY, parameters: &[READS], ..ProtocolSummary::UNKNOWN };
const SYNCS: ProtocolSummary = ProtocolSummary { parameters: &[LATE_READS], ..ProtocolSummary::UNKNOWN };
const PLAIN: ProtocolSummary =
    ProtocolSummary { behavior: Behavior::MAY_NOT_ENTER.union(Behavior::MAY_NOT_ARRIVE), ..ProtocolSummary::UNKNOWN };

fn guard(when: &'static [Predicate], unless: &'static [(usize, Behavior)]) -> Guard {
    Guard { when, unless }
}

#[test]
fn all_that_is_asked_holds_and_nothing_comes_between() {
    let callees = [READS_FIRST, SYNCS, PLAIN];
    const READ_FIRST: Predicate = Predicate::Does(0, Behavior::NEEDS_ENTRY);
    assert!(guard(&[], &[]).holds(&callees));
    assert!(guard(&[READ_FIRST, Predicate::Uses(1, 0, LAST)], &[]).holds(&callees));
    assert!(!guard(&[READ_FIRST, Predicate::Uses(1, 0, FIRST)], &[]).holds(&callees));
    assert!(
        !guard(&[Predicate::Uses(2, 7, FIRST)], &[]).holds(&callees),
        "a function that has faults has no parameters"
    );
    assert!(guard(&[], &[(2, Behavior::MAY_NOT_ENTER)]).holds(&callees), "it may not have waited");
    let both = &[(2, Behavior::MAY_NOT_ENTER), (1, Behavior::MAY_NOT_ENTER)];
    assert!(!guard(&[], both).holds(&callees), "one of the two has");
}

#[test]
fn what_callers_learn() {
    let callees = [READS_FIRST, SYNCS, PLAIN];
    const WRITES: ParameterUses = ParameterUses::of(Party::Peer, When::Arrived, Uses::WRITE);
    let effects = [
        (Effect::Does(Behavior::LEAVES_REMOTE_OPEN), guard(&[], &[(1, Behavior::MAY_NOT_ARRIVE)])),
        (Effect::Does(Behavior::NEEDS_ENTRY), guard(&[Predicate::Does(0, Behavior::NEEDS_ENTRY)], &[])),
        (Effect::Uses(1, WRITES), guard(&[], &[])),
        (
            Effect::Passes { own: 0, call: 1, parameter: 0, when: When::Last, seen: When::Last },
            guard(&[], &[(2, Behavior::MAY_NOT_ENTER)]),
        ),
        (
            Effect::Passes { own: 0, call: 0, parameter: 0, when: When::First, seen: When::First },
            guard(&[], &[(1, Behavior::MAY_NOT_ENTER)]),
        ),
    ];
    assert_eq!(behavior(&effects, &callees), Behavior::NEEDS_ENTRY);
    assert_eq!(parameter_uses::<2>(&effects, &callees), [LATE_READS, WRITES]);
}

/// Different uses have different bits.
#[test]
fn uses_are_told_apart() {
    let parties = [Party::Owner, Party::Peer];
    let whens = [When::First, When::Last, When::Arrived, When::Waited, When::BesideClosure, When::Ever];
    let of_memory = parties.into_iter().flat_map(|party| {
        whens.into_iter().flat_map(move |when| Uses::all().iter().map(move |uses| ParameterUses::of(party, when, uses)))
    });
    let of_barriers = BarrierUses::all().iter().map(ParameterUses::of_barrier);
    let of_copies = CopyUses::all().iter().map(ParameterUses::of_copies);
    let all: Vec<ParameterUses> = of_memory.chain(of_barriers).chain(of_copies).collect();
    let union = all.iter().fold(ParameterUses::NONE, |union, uses| union.union(*uses));
    assert_eq!((all.len(), union.bits().count_ones()), (89, 89));
    assert_eq!(ParameterUses::from_bits(union.bits()), union);
}

#[test]
fn pairs_of_parameters() {
    let callee = ProtocolSummary { clashes: clashes(&[(Effect::Clashes(0, 2), guard(&[], &[]))], &[]), ..PLAIN };
    assert!(guard(&[Predicate::Clashes(0, 0, 2)], &[]).holds(&[callee]));
    assert!(!guard(&[Predicate::Clashes(0, 0, 1)], &[]).holds(&[callee]));
    // Different pairs have different bits, as far as the representation distinguishes them.
    let pairs: Vec<Clashes> =
        (0..11).flat_map(|second| (0..second).map(move |first| Clashes::of(first, second))).collect();
    let union = pairs.iter().fold(Clashes::NONE, |union, pair| union.union(*pair));
    assert_eq!(union.0.count_ones() as usize, pairs.len());
    let with_dynamic = (0..11).fold(Clashes::NONE, |union, first| union.union(Clashes::of(first, DYNAMIC)));
    assert_eq!(with_dynamic.0.count_ones(), 11);
    assert!(!union.intersects(with_dynamic));
    assert_eq!(Clashes::of(0, 11), Clashes::of(3, 40));
    assert_eq!(Clashes::of(12, DYNAMIC), Clashes::of(3, 40));
}

/// What a call names without being given it, its callers use at the time that they see.
#[test]
fn dynamic_memory() {
    const WRITES: ParameterUses = ParameterUses::of(Party::Owner, When::First, Uses::WRITE);
    const READS_OF_PEERS: ParameterUses = ParameterUses::of(Party::Peer, When::Last, Uses::READ);
    let inner = ProtocolSummary {
        dynamic: dynamic_uses(&[(Effect::Uses(DYNAMIC, WRITES.union(READS_OF_PEERS)), guard(&[], &[]))], &[]),
        ..PLAIN
    };
    let executes = |when, seen| [(Effect::Executes { call: 0, when, seen }, guard(&[], &[]))];
    let last = dynamic_uses(&executes(When::Last, When::BesideClosure), &[inner]);
    assert_eq!(last, ParameterUses::of(Party::Peer, When::BesideClosure, Uses::READ));
    assert_eq!(parameter_uses::<1>(&executes(When::Last, When::Last), &[inner]), [ParameterUses::NONE]);
    const MEET: Predicate = Predicate::Meet((0, When::Last), (1, When::First));
    assert!(guard(&[MEET], &[]).holds(&[inner, inner]), "the second writes what peers may still be reading");
    assert!(!guard(&[MEET], &[]).holds(&[inner, PLAIN]));
    const WRITES_NONE: Predicate = Predicate::Never(0, Behavior::WRITES_DYNAMIC);
    assert!(guard(&[WRITES_NONE], &[]).holds(&[PLAIN]));
    assert!(!guard(&[WRITES_NONE], &[]).holds(&[ProtocolSummary { behavior: Behavior::WRITES_DYNAMIC, ..PLAIN }]));
}

#[test]
fn rows_of_parameters() {
    const OF_ROW: ProtocolSummary = ProtocolSummary { rows: &[None, Some(2)], ..PLAIN };
    const ROW: Row = Row { call: 0, parameter: 1, by: 2 };
    const OTHERS: [Row; 4] =
        [Row { by: 1, ..ROW }, Row { parameter: 0, ..ROW }, Row { parameter: 7, ..ROW }, Row { call: 1, ..ROW }];
    const BEYOND: [[Predicate; 2]; 4] = {
        let mut beyond = [[Predicate::Beyond(ROW, None); 2]; 4];
        let mut at = 0;
        while at < beyond.len() {
            beyond[at] = [Predicate::Beyond(OTHERS[at], None), Predicate::Beyond(ROW, Some(OTHERS[at]))];
            at += 1;
        }
        beyond
    };
    let callees = [OF_ROW, PLAIN];
    assert!(!guard(&[Predicate::Beyond(ROW, None)], &[]).holds(&callees));
    assert!(!guard(&[Predicate::Beyond(ROW, Some(ROW))], &[]).holds(&callees));
    for predicates in &BEYOND {
        assert!(guard(predicates, &[]).holds(&callees), "{predicates:?}");
    }
}

/// What a function does not do with a parameter is a question of its own.
#[test]
fn uses_that_a_function_has_not() {
    const COPIES: ParameterUses = ParameterUses::of_copies(CopyUses::LEAVES_GROUP_WRITE);
    const DROPS: ParameterUses = ParameterUses::of_barrier(BarrierUses::DROPS);
    const DROPPING: ProtocolSummary = ProtocolSummary { parameters: &[DROPS], ..PLAIN };
    let never = |parameter, uses| Predicate::NeverUses(0, parameter, uses).holds(&[DROPPING]);
    assert!(!never(0, DROPS) && never(0, COPIES) && never(1, DROPS));
    assert!(Predicate::NeverUses(0, 0, DROPS).holds(&[PLAIN]));
    // It is known through a second function, too.
    let passed = [(Effect::Uses(3, DROPS), guard(&[Predicate::Uses(0, 0, DROPS)], &[]))];
    assert_eq!(parameter_uses::<4>(&passed, &[DROPPING])[3], DROPS);
    assert_eq!(parameter_uses::<4>(&passed, &[PLAIN])[3], ParameterUses::NONE);
}

#[test]
fn waits_for_copies_are_behavior() {
    const WAITS: Behavior = Behavior::WAITS_FOR_GROUP_COPIES.union(Behavior::WAITS_FOR_BULK_READS);
    const CALLEES: [ProtocolSummary; 2] = [ProtocolSummary { behavior: WAITS, ..PLAIN }, PLAIN];
    let never = |call, what| Predicate::Never(call, what).holds(&CALLEES);
    assert!(!never(0, Behavior::WAITS_FOR_BULK_READS) && never(0, Behavior::WAITS_FOR_BULK_WRITES));
    assert!(never(1, Behavior::all().difference(PLAIN.behavior)));
}

#[test]
fn calls_are_renamed() {
    let slots = |slot: u16| usize::from(slot) - 7;
    let row = Row { call: 9, parameter: 1, by: 2 };
    assert_eq!(Predicate::Beyond(row, Some(row)).rename(slots), {
        let row = Row { call: 2, parameter: 1, by: 2 };
        Predicate::Beyond(row, Some(row))
    });
    let uses = ParameterUses::of_barrier(BarrierUses::WAITS);
    assert_eq!(Predicate::NeverUses(9, 1, uses).rename(slots), Predicate::NeverUses(2, 1, uses));
    let passes = Effect::Passes { own: 0, call: 8, parameter: 1, when: When::Last, seen: When::Last };
    assert_eq!(
        passes.rename(slots),
        Effect::Passes { own: 0, call: 1, parameter: 1, when: When::Last, seen: When::Last }
    );
}

#[test]
#[should_panic(expected = "not so")]
fn a_fault_is_refused() {
    refuse(guard(&[], &[]), &[], "not so");
}
