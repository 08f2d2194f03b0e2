//! The check, which speaks of all trip counts, against explicit runs of each trip count from 0 to 3N: on skeletons by hand and on
//! rings that are changed at random.

use super::cases::family;
use super::explicit;
use super::kernels::{
    EMPTY, FULL, TILE, drops, early, groups, handshake, kept, multicast, order_barrier, own, ping_pong, ring_of, split,
    stores, tiles_of_a_ring, turn, two_queues, using,
};
use super::words::{WithRole, Word, arrive, copy, expect, fill, filled, rounds, share, skeleton, wait};
use crate::rings::{Among, Data, Op, Skeleton, Verdict, check, proved_in_order};
use crate::tests::random::Random;

/// How a comparison came out.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) proved: usize,
    /// Proved by one order of the steps.
    in_order: usize,
    pub(super) faulty: usize,
    /// Not proved though no explicit run has a fault, and though one has.
    unproved: usize,
    unproved_faulty: usize,
    /// Skeletons with too many explicit states.
    pub(super) skipped: usize,
    states: usize,
}

pub(super) fn trips(most: usize) -> Vec<Vec<bool>> {
    (0..=most).map(|trips| vec![true; trips]).collect()
}

/// Compares the verdict with explicit runs; returns the difference in words.
pub(super) fn compare(skeleton: &Skeleton, strings: &[Vec<bool>], tally: &mut Tally) -> Option<String> {
    let verdict = check(skeleton, 200_000);
    let mut fault = None;
    for string in strings {
        match explicit::run(skeleton, string, 150_000) {
            Some(Ok(states)) => tally.states += states,
            Some(Err(found)) => {
                fault = Some((found, string.clone()));
                break;
            }
            None => {
                tally.skipped += 1;
                return None;
            }
        }
    }
    let in_order = proved_in_order(skeleton, 200_000);
    tally.in_order += usize::from(in_order.is_some());
    if let (Some(_), Some(_)) = (in_order, &fault) {
        return Some(format!("proved in one order\nexplicit runs: {fault:?}\n{skeleton:#?}"));
    }
    match (&verdict, &fault) {
        (Verdict::Proved { .. }, None) => tally.proved += 1,
        (Verdict::Fault { .. }, Some(_)) => tally.faulty += 1,
        (Verdict::NotProved(_), None) => tally.unproved += 1,
        (Verdict::NotProved(_), Some(_)) => tally.unproved_faulty += 1,
        (Verdict::Proved { .. }, Some(_)) | (Verdict::Fault { .. }, None) => {
            return Some(format!("{verdict:?}\nexplicit runs: {fault:?}\n{skeleton:#?}"));
        }
    }
    None
}

#[test]
fn skeletons_by_hand() {
    let two = |n: u32, threads| groups(n, 1, threads);
    let skeletons = [
        ("ring 1", 1, two(1, 2)),
        ("ring 2", 2, two(2, 2)),
        ("ring 2, 3 threads", 2, two(2, 3)),
        ("ring 3", 3, two(3, 2)),
        ("order", 1, order_barrier(0, false, 2)),
        ("order, both", 1, order_barrier(0, true, 2)),
        ("ping-pong", 2, ping_pong(0, 2, 1)),
        ("split 2", 1, split(2, 3)),
        ("split 1", 1, split(1, 3)),
        ("handshake 2", 2, handshake(2, 2)),
        ("handshake 1", 1, handshake(1, 2)),
        ("multicast", 1, multicast(1, 2, true, true, 1, 2)),
        ("stores", 2, stores(2, 1, true, 1)),
        ("stores 1", 1, stores(1, 1, true, 1)),
        ("two queues", 1, two_queues(true)),
        ("two queues, one wait", 1, two_queues(false)),
        ("tiles", 1, tiles_of_a_ring("same?", "same?")),
        ("tiles, filled always", 1, tiles_of_a_ring("1", "same?")),
        ("drops", 1, drops(false, 2)),
        ("drops on", 1, drops(true, 2)),
        ("early", 1, early(2)),
    ];
    let mut tally = Tally::default();
    for (name, n, skeleton) in skeletons {
        let verdict = check(&skeleton, 200_000);
        assert_ne!(family(&verdict), "unknown", "{name}: {verdict:?}");
        let different = compare(&skeleton, &trips(3 * n), &mut tally);
        assert!(different.is_none(), "{name}: {}", different.unwrap_or_default());
    }
    assert_eq!(tally.skipped, 0);
    let nested = kept(2, "1-phase", false, 2);
    let strings: Vec<Vec<bool>> = (0..8)
        .flat_map(|length| (0..1 << length).map(move |bits| (0..length).map(|at| bits >> at & 1 == 1).collect()))
        .collect();
    let different = compare(&nested, &strings, &mut tally);
    assert!(different.is_none(), "{}", different.unwrap_or_default());
    assert_eq!(tally.proved + tally.faulty, 22);
}

/// Changes one or two steps of a ring at random.
fn mutated(random: &mut Random) -> (usize, Skeleton) {
    let form = random.below(7);
    let n = [2, 2, 2, 1, 3][random.below(5)];
    let n = if form == 5 { 1 } else { n.min(if form == 6 { 2 } else { 3 }) };
    let (i, parity) = turn(n);
    let mut producer = own(n);
    let mut consumers = match form {
        3 | 4 => vec![using(n), using(n)],
        _ => vec![using(n)],
    };
    let mut threads = match form {
        0 => vec![2],
        1 | 2 => vec![3],
        3 => vec![1, 2],
        _ => vec![1, 1],
    };
    let mut blocks = 1;
    let mut parts = 1;
    let mut producers = 1;
    if form == 2 && random.chance(60) {
        // The threads of the producer fill the slot themselves.
        producers = [1, 2][random.below(2)];
        parts = producers;
        producer = vec![wait(EMPTY, &i, &format!("1-{parity}")), fill(TILE, &i), filled(TILE, &i), arrive(FULL, &i)];
    }
    if form == 6 {
        // They copy together: three are single threads of a search, and the fourth is the rest.
        producers = [2, 2, 3, 4][random.below(4)];
        parts = producers;
        threads = vec![if producers == 2 { 2 } else { 1 }];
        producer = vec![wait(EMPTY, &i, &format!("1-{parity}")), share(TILE, &i, FULL), arrive(FULL, &i)];
    }
    if form == 5 {
        blocks = 2;
        parts = 2;
        threads = vec![1];
        producer = vec![
            wait(EMPTY, &i, &format!("1-{parity}")),
            Word::Expect(FULL, i.clone(), 8),
            arrive(FULL, &i),
            super::words::copy(TILE, &i, FULL, 4),
            super::words::copy_to(TILE, &i, FULL, 4, "1-b"),
        ];
        consumers = vec![using(n)];
        consumers[0].push(super::words::arrive_to(EMPTY, &i, "1-b"));
    }
    let whole = blocks * threads.iter().sum::<u32>();
    let count = [whole, whole, whole, whole, 1, whole + 1, 2 * whole][random.below(7)];
    for _ in 0..[0, 1, 1, 1, 2, 2, 3][random.below(7)] {
        let role = random.below(1 + consumers.len());
        let body = if role == 0 { &mut producer } else { &mut consumers[role - 1] };
        if body.is_empty() {
            continue;
        }
        let at = random.below(body.len());
        match random.below(6) {
            0 => drop(body.remove(at)),
            1 => {
                let other = random.below(body.len());
                body.swap(at, other);
            }
            2 => body.insert(at, body[at].clone()),
            3 | 4 => change(&mut body[at], n, random),
            _ => {
                let moved = body.remove(at);
                body.insert(random.below(body.len() + 1), moved);
            }
        }
    }
    let end = if blocks > 1 { vec![Word::Sync(0, Among::Cluster)] } else { Vec::new() };
    let full = producers;
    // Of some slots, only conflicts matter.
    let parts = if random.chance(20) { 0 } else { parts };
    let ring = skeleton(blocks, &[(n, full), (n, count)], &[(n, parts)]);
    let body = |steps: Vec<Word>| [vec![rounds(steps)], end.clone()].concat();
    let ring = ring.role(producers, &body(producer));
    let ring = consumers.into_iter().zip(threads).fold(ring, |ring, (steps, threads)| ring.role(threads, &body(steps)));
    (usize::try_from(n).unwrap_or(1), ring)
}

/// Changes one or two steps of a ring whose producer loads rounds ahead, or none.
fn mutated_ahead(random: &mut Random) -> (usize, Skeleton) {
    let n = 1 + u32::try_from(random.below(3)).unwrap();
    let ahead = 1 + u32::try_from(random.below(n as usize)).unwrap();
    let stage = |k: &str| format!("({k})%{n}");
    let load = |k: &str| vec![expect(FULL, &stage(k), 4), copy(TILE, &stage(k), FULL, 4), arrive(FULL, &stage(k))];
    let later = format!("k+{ahead}");
    let mut first: Vec<Vec<Word>> = (0..ahead).map(|s| load(&s.to_string())).collect();
    let waits = wait(EMPTY, &stage(&later), &format!("1-({later})//{n}%2"));
    let mut body = [vec![waits], load(&later)].concat();
    let mut consumer = using(n);
    let (mut of_first, mut of_body) = ((1..=ahead).collect::<Vec<u32>>(), ahead);
    for _ in 0..[0, 0, 1, 1, 1, 2][random.below(6)] {
        match random.below(8) {
            0 => of_body = 1 + u32::try_from(random.below(4)).unwrap(),
            1 => of_first[random.below(ahead as usize)] = 1 + u32::try_from(random.below(4)).unwrap(),
            2 | 3 => {
                let at = random.below(body.len());
                change(&mut body[at], n, random);
            }
            4 => drop(body.remove(random.below(body.len()))),
            5 => {
                let load = &mut first[random.below(ahead as usize)];
                let at = random.below(load.len());
                change(&mut load[at], n, random);
            }
            6 => drop(consumer.remove(random.below(consumer.len()))),
            _ => {
                let at = random.below(consumer.len());
                change(&mut consumer[at], n, random);
            }
        }
    }
    let first = first.into_iter().zip(of_first).map(|(load, next)| Word::When(format!("next {next}"), load));
    let producer = first.chain([rounds(vec![Word::When(format!("next {of_body}"), body)])]).collect::<Vec<Word>>();
    let threads = [1, 2][random.below(2)];
    let mut ring = skeleton(1, &[(n, 1), (n, threads)], &[(n, 1)]);
    ring = ring.role(1, &producer).role(threads, &[rounds(consumer)]);
    // A round's data are those that are there.
    for step in ring.roles.iter_mut().flat_map(|role| &mut role.steps) {
        if let Op::Copy { data, .. } | Op::BeginRead { data, .. } = &mut step.op {
            *data = Data::Fixed(0);
        }
    }
    (n as usize, ring)
}

/// Compares rings that load ahead from a seed on.
fn mutants_ahead(seed: u64, number: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in seed..seed + number {
        let (n, ring) = mutated_ahead(&mut Random::new(seed));
        let different = compare(&ring, &trips(3 * n + 1), &mut tally);
        assert!(different.is_none(), "seed {seed}: {}", different.unwrap_or_default());
    }
    tally
}

#[test]
fn rings_that_load_ahead() {
    let tally = mutants_ahead(1, 40);
    assert!(tally.proved > 10 && tally.in_order > 10 && tally.faulty > 10, "{tally:?}");
}

/// Changes a step's stage, parity, number or block.
fn change(word: &mut Word, n: u32, random: &mut Random) {
    let (i, parity) = turn(n);
    let stage = [i.clone(), "0".into(), format!("(k+1)%{n}")][random.below(3)].clone();
    match word {
        Word::Wait(_, index, own) => {
            *index = stage;
            *own = [parity.clone(), format!("1-{parity}"), "k%2".into()][random.below(3)].clone();
        }
        Word::Arrive { index, count, to, drops, barrier, .. } => match random.below(5) {
            0 => *index = stage,
            1 => *count = 2,
            2 => *to = "1-b".into(),
            3 => *barrier = 1 - *barrier,
            _ => *drops = true,
        },
        Word::Expect(_, index, bytes) => {
            if random.chance(50) {
                *index = stage;
            } else {
                *bytes *= 2;
            }
        }
        Word::Share(_, index, barrier) => match random.below(3) {
            0 => *barrier = 1 - *barrier,
            _ => *index = stage,
        },
        Word::Copy { index, signals, .. } => match random.below(4) {
            0 => *signals = "1-b".into(),
            _ => *index = stage,
        },
        Word::Fill(_, index, _) | Word::Filled(_, index) | Word::Read(_, index) | Word::Done(_, index) => {
            *index = stage
        }
        _ => {}
    }
}

/// Compares mutated rings from a seed on.
fn mutants(seed: u64, number: usize) -> Tally {
    let mut tally = Tally::default();
    for at in 0..number {
        let mut random = Random::new(seed + at as u64);
        let (n, ring) = mutated(&mut random);
        // What is not checked at all needs no explicit run.
        if let Verdict::NotProved(crate::rings::Reason::Unpaired { .. }) = check(&ring, 200_000) {
            continue;
        }
        let different = compare(&ring, &trips(3 * n), &mut tally);
        assert!(different.is_none(), "seed {}: {}", seed + at as u64, different.unwrap_or_default());
    }
    tally
}

#[test]
fn mutated_rings() {
    let tally = mutants(1, 80);
    assert!(tally.proved > 5 && tally.in_order > 5 && tally.faulty > 25, "{tally:?}");
}

/// As many mutated rings as `PHALANX_RINGS` says, from the seed `PHALANX_SEED` on.
#[test]
#[ignore = "minutes: run it after a change of `rings`"]
fn many_mutated_rings() {
    let number = |name, otherwise| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (seed, number) = (number("PHALANX_SEED", 1000), number("PHALANX_RINGS", 5000));
    println!("{:?}", mutants_ahead(seed, number / 5));
    println!("{:?}", mutants(seed, usize::try_from(number).unwrap()));
}

#[test]
fn a_ring_without_consumers_agrees() {
    let ring = ring_of(2, 1, own(2), &[]);
    let different = compare(&ring, &trips(6), &mut Tally::default());
    assert!(different.is_none(), "{}", different.unwrap_or_default());
}
