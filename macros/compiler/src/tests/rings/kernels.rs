//! Skeletons of kernels: rings, persistent kernels, multicast, ping-pong, handshakes, bulk stores, tokens.

use super::words::{
    WithRole, Word, arrive, arrive_times, arrive_to, copy, copy_to, done, drop_out, expect, fill, filled, read, rounds,
    skeleton, wait,
};
use crate::rings::{Among, Skeleton};

/// The arrays of a ring: its barriers, and its slots.
pub(super) const FULL: usize = 0;
pub(super) const EMPTY: usize = 1;
pub(super) const TILE: usize = 0;

/// Returns the index and the parity of round `k` in a ring of `n` stages.
pub(super) fn turn(n: u32) -> (String, String) {
    (format!("k%{n}"), format!("k//{n}%2"))
}

/// Returns what a ring's producer does in a round.
pub(super) fn own(n: u32) -> Vec<Word> {
    let (i, parity) = turn(n);
    let empty = wait(EMPTY, &i, &format!("1-{parity}"));
    vec![empty, expect(FULL, &i, 4096), copy(TILE, &i, FULL, 4096), arrive(FULL, &i)]
}

/// Returns what a ring's consumers do in a round.
pub(super) fn using(n: u32) -> Vec<Word> {
    let (i, parity) = turn(n);
    vec![wait(FULL, &i, &parity), read(TILE, &i), done(TILE, &i), arrive(EMPTY, &i)]
}

/// A ring of `n` stages, whose loops have the given bodies.
pub(super) fn ring_of(n: u32, count: u32, producer: Vec<Word>, consumers: &[(u32, Vec<Word>)]) -> Skeleton {
    let ring = skeleton(1, &[(n, 1), (n, count)], &[(n, 1)]).role(1, &[rounds(producer)]);
    consumers.iter().fold(ring, |ring, (threads, body)| ring.role(*threads, &[rounds(body.clone())]))
}

pub(super) fn ring(n: u32) -> Skeleton {
    groups(n, 1, 128)
}

/// A ring with several roles of consumers.
pub(super) fn groups(n: u32, groups: u32, threads: u32) -> Skeleton {
    let consumers: Vec<_> = (0..groups).map(|_| (threads, using(n))).collect();
    ring_of(n, threads * groups, own(n), &consumers)
}

/// A ring of two stages with another producer or consumer, or another count.
pub(super) fn changed(producer: Option<Vec<Word>>, consumer: Option<Vec<Word>>, count: u32) -> Skeleton {
    ring_of(2, count, producer.unwrap_or(own(2)), &[(128, consumer.unwrap_or(using(2)))])
}

pub(super) fn two_groups(first: u32, second: u32) -> Skeleton {
    let body = |count| [&using(2)[..3], &[arrive_times(EMPTY, "k%2", count)]].concat();
    ring_of(2, 256, own(2), &[(128, body(first)), (128, body(second))])
}

fn set(values: &[(&'static str, &str)]) -> Word {
    Word::Let(values.iter().map(|(name, value)| (*name, (*value).into())).collect())
}

fn when(test: &str, body: Vec<Word>) -> Word {
    Word::When(test.into(), body)
}

/// A persistent kernel: tiles outside, their parts inside; stage and phase are kept by hand over all of both.
pub(super) fn kept(wrap: u32, flip: &str, resets: bool, threads: u32) -> Skeleton {
    let wraps = when(&format!("stage=={wrap}"), vec![set(&[("stage", "0"), ("phase", flip)])]);
    let step = [set(&[("stage", "stage+1")]), Word::Next, wraps];
    let begin = set(&[("stage", "0"), ("phase", "0")]);
    let own = [
        wait(EMPTY, "stage", "1-phase"),
        expect(FULL, "stage", 64),
        copy(TILE, "stage", FULL, 64),
        arrive(FULL, "stage"),
    ];
    let using = [wait(FULL, "stage", "phase"), read(TILE, "stage"), done(TILE, "stage"), arrive(EMPTY, "stage")];
    let inner = |body: &[Word]| Word::Loop("k", false, [body, &step].concat());
    let reset = if resets { vec![set(&[("stage", "0"), ("phase", "0")])] } else { Vec::new() };
    skeleton(1, &[(2, 1), (2, threads)], &[(2, 1)])
        .role(1, &[begin.clone(), Word::Loop("t", false, vec![inner(&own)])])
        .role(threads, &[begin, Word::Loop("t", false, [reset, vec![inner(&using)]].concat())])
}

/// A round that all agree to leave out, or only the producer or the consumer.
pub(super) fn tail(producer_skips: bool, consumer_skips: bool) -> Skeleton {
    let step = [set(&[("s", "1-s")]), Word::Next, when("s==0", vec![set(&[("f", "1-f")])])];
    let own = [wait(EMPTY, "s", "1-f"), expect(FULL, "s", 8), copy(TILE, "s", FULL, 8), arrive(FULL, "s")];
    let using = [wait(FULL, "s", "f"), read(TILE, "s"), done(TILE, "s"), arrive(EMPTY, "s")];
    let body = |steps: &[Word], skips: bool| {
        let steps = [steps, &step].concat();
        let body = if skips { vec![when("all?", steps)] } else { [vec![when("all?", Vec::new())], steps].concat() };
        [set(&[("s", "0"), ("f", "0")]), Word::Loop("k", false, body)]
    };
    let ring = skeleton(1, &[(2, 1), (2, 128)], &[(2, 1)]);
    ring.role(1, &body(&own, producer_skips)).role(128, &body(&using, consumer_skips))
}

/// Each of several blocks copies its part of every tile to all of them; a stage is empty when the readers of all blocks have
/// said so to all.
pub(super) fn multicast(n: u32, blocks: u32, to_peer: bool, closing: bool, threads: u32, count: u32) -> Skeleton {
    let (i, parity) = turn(n);
    let end = if closing { vec![Word::Sync(0, Among::Cluster)] } else { Vec::new() };
    let peer = |ahead: u32| format!("(b+{ahead})%{blocks}");
    let mut own = vec![wait(EMPTY, &i, &format!("1-{parity}")), expect(FULL, &i, blocks), arrive(FULL, &i)];
    let mut using = vec![wait(FULL, &i, &parity), read(TILE, &i), done(TILE, &i), arrive(EMPTY, &i)];
    own.push(copy(TILE, &i, FULL, 1));
    for ahead in 1..blocks {
        own.push(copy_to(TILE, &i, FULL, 1, &peer(ahead)));
        using.push(if to_peer { arrive_to(EMPTY, &i, &peer(ahead)) } else { arrive(EMPTY, &i) });
    }
    let body = |steps: Vec<Word>| [vec![rounds(steps)], end.clone()].concat();
    skeleton(blocks, &[(n, 1), (n, count)], &[(n, blocks)]).role(1, &body(own)).role(threads, &body(using))
}

/// Two groups take tiles in turn; `order` barriers let one multiply while the other is in its epilogue.
pub(super) fn ping_pong(first: u32, n: u32, threads: u32) -> Skeleton {
    let (i, parity) = turn(n);
    let mut ring = skeleton(1, &[(n, 1), (n, threads), (2, threads)], &[(n, 1)]).role(1, &[rounds(own(n))]);
    for group in 0..2 {
        let order = wait(2, &group.to_string(), &format!("(k//2+{})%2", u32::from(group == first)));
        let meet = Word::Sync(group, Among::Roles(vec![group + 1]));
        let other = arrive(2, &(1 - group).to_string());
        let body =
            [vec![order, wait(FULL, &i, &parity), meet, read(TILE, &i), done(TILE, &i), arrive(EMPTY, &i), other]];
        ring = ring.role(threads, &[rounds(vec![when(&format!("k%2=={group}"), body.concat())])]);
    }
    ring
}

/// Two groups fill one slot in turn, each when the other has handed the turn over.
pub(super) fn order_barrier(first: u32, both: bool, threads: u32) -> Skeleton {
    let ring = skeleton(1, &[(2, threads)], &[(1, threads)]);
    (0..2).fold(ring, |ring, group| {
        let mine = wait(0, &group.to_string(), &format!("(k+{})%2", u32::from(group == first || both)));
        let fill = Word::Fill(0, "0".into(), u8::try_from(group).unwrap());
        ring.role(threads, &[rounds(vec![mine, fill, filled(0, "0"), arrive(0, &(1 - group).to_string())])])
    })
}

/// Each block tells the other and waits for its word.
pub(super) fn handshake(bars: u32, threads: u32) -> Skeleton {
    let (i, parity) = turn(bars);
    let body = rounds(vec![arrive_to(0, &i, "(b+1)%2"), wait(0, &i, &parity)]);
    skeleton(2, &[(bars, threads)], &[]).role(threads, &[body, Word::Sync(0, Among::Cluster)])
}

/// Threads write a row, and one of them begins the bulk store.
pub(super) fn stores(slots: u32, allow: u32, drain: bool, helpers: u32) -> Skeleton {
    let row = format!("k%{slots}");
    let [free, made] = [0, 1].map(|meeting| Word::Sync(meeting, Among::Block));
    let helper = vec![free, fill(0, &row), filled(0, &row), made];
    let leader = [vec![Word::WaitStores(0, allow)], helper.clone(), vec![Word::Store(0, 0, row)]].concat();
    let end = if drain { vec![Word::WaitStores(0, 0)] } else { Vec::new() };
    skeleton(1, &[], &[(slots, helpers + 1)])
        .role(1, &[vec![rounds(leader)], end].concat())
        .role(helpers, &[rounds(helper)])
}

/// Two threads fill two slots, of which one thread's bulk copies read one, and its products the other. It waits for both kinds, or for
/// the bulk copies alone.
pub(super) fn two_queues(waits_for_both: bool) -> Skeleton {
    let [free, made] = [0, 1].map(|meeting| Word::Sync(meeting, Among::Block));
    let of_slot = |slot: usize| vec![fill(slot, "0"), filled(slot, "0")];
    let helper = [vec![free], of_slot(0), of_slot(1), vec![made]].concat();
    let waits = vec![Word::WaitStores(0, 0), Word::WaitStores(1, 0)];
    let before = if waits_for_both { waits.clone() } else { vec![Word::WaitStores(0, 0)] };
    let stores = vec![Word::Store(0, 0, "0".into()), Word::Store(1, 1, "0".into())];
    let leader = [before, helper.clone(), stores].concat();
    skeleton(1, &[], &[(1, 2), (1, 2)]).role(1, &[vec![rounds(leader)], waits].concat()).role(1, &[rounds(helper)])
}

/// Loops over tiles with a ring whose loop has iterations for all tiles or for none; the consumers meet once for each tile. The
/// producer may ask for the iterations of each tile anew, so that nothing bounds how many tiles without any it is ahead.
pub(super) fn tiles_of_a_ring(condition: &str, consumer: &str) -> Skeleton {
    let meeting = vec![arrive(2, "0"), wait(2, "0", "t%2")];
    let part = |test: &str, steps: Vec<Word>| {
        vec![Word::When(test.into(), [steps, vec![Word::Let(vec![("k", "k+1".into())])]].concat())]
    };
    let producer = part(condition, vec![wait(EMPTY, "0", "1-k%2"), fill(0, "0"), filled(0, "0"), arrive(FULL, "0")]);
    let reads = part(consumer, vec![wait(FULL, "0", "k%2"), read(0, "0"), done(0, "0"), arrive(EMPTY, "0")]);
    let tiles = |body: Vec<Word>| Word::Loop("t", true, body);
    skeleton(1, &[(1, 1), (1, 2), (1, 2)], &[(1, 1)])
        .role(1, &[tiles(producer)])
        .role(2, &[tiles([reads, meeting].concat())])
}

/// Arrive, work, wait with tokens; a neighbour's word of this round is read after the wait.
pub(super) fn split(halves: u32, threads: u32) -> Skeleton {
    let half = format!("k%{halves}");
    let arrive = Word::Arrive { barrier: 0, index: "0".into(), count: 1, to: "b".into(), drops: false, token: true };
    let body =
        vec![fill(0, &half), filled(0, &half), arrive, Word::WaitToken(0, "0".into()), read(0, &half), done(0, &half)];
    skeleton(1, &[(1, threads)], &[(halves, threads)]).role(threads, &[rounds(body)])
}

fn worker() -> Vec<Word> {
    vec![arrive(0, "0"), wait(0, "0", "k%2")]
}

/// Some threads drop out of a barrier in any round.
pub(super) fn drops(go_on: bool, threads: u32) -> Skeleton {
    let leave = if go_on { vec![drop_out(0)] } else { vec![drop_out(0), Word::Leave] };
    let leavers = [vec![when("?", leave)], worker()].concat();
    skeleton(1, &[(1, 2 * threads)], &[]).role(threads, &[rounds(worker())]).role(threads, &[rounds(leavers)])
}

/// Some threads drop out before the first round.
pub(super) fn early(threads: u32) -> Skeleton {
    skeleton(1, &[(1, 2 * threads)], &[]).role(threads, &[rounds(worker())]).role(threads, &[drop_out(0)])
}

/// Two roles wait for each other before they tell each other.
pub(super) fn cross() -> Skeleton {
    let body = |own: usize| vec![rounds(vec![wait(own, "0", "k%2"), arrive(1 - own, "0")])];
    skeleton(1, &[(1, 1), (1, 1)], &[]).role(1, &body(0)).role(1, &body(1))
}

/// Block 0 arrives at block 1 once; block 1 does not wait for it.
pub(super) fn last_act(closing: bool) -> Skeleton {
    let end = if closing { vec![Word::Sync(0, Among::Cluster)] } else { Vec::new() };
    skeleton(2, &[(1, 1)], &[]).role(1, &[vec![when("b==0", vec![arrive_to(0, "0", "1")])], end].concat())
}

/// Two roles of which neither waits for the other.
pub(super) fn unbounded() -> Skeleton {
    let body = [rounds(vec![Word::WaitStores(0, 0)])];
    skeleton(1, &[], &[]).role(1, &body).role(1, &body)
}
