//! How the number of states and the time of a check grow with a ring's stages, roles and blocks.

use std::time::Instant;

use super::kernels::{groups, kept, multicast, ping_pong};
use crate::rings::{Skeleton, check};

#[test]
#[ignore = "prints a table"]
fn states_and_times() {
    let limit = std::env::var("PHALANX_STATES").ok().and_then(|limit| limit.parse().ok()).unwrap_or(200_000);
    let stages = [2, 4, 8, 16];
    let mut rows: Vec<(String, Skeleton)> = Vec::new();
    rows.extend(stages.map(|n| (format!("ring, N = {n}"), groups(n, 1, 128))));
    for roles in [2, 3] {
        rows.extend(stages.map(|n| (format!("{roles} groups, N = {n}"), groups(n, roles, 128))));
    }
    for blocks in 2..=4 {
        rows.extend(
            stages
                .map(|n| (format!("multicast, {blocks} blocks, N = {n}"), multicast(n, blocks, true, true, 1, blocks))),
        );
    }
    rows.extend(
        [2, 4].map(|n| (format!("multicast, 2 blocks of 128 readers, N = {n}"), multicast(n, 2, true, true, 128, 256))),
    );
    rows.extend([2, 3, 4, 8, 16].map(|n| (format!("ping-pong, N = {n}"), ping_pong(0, n, 128))));
    rows.push(("persistent, counters by hand, N = 2".into(), kept(2, "1-phase", false, 128)));
    let sought = std::env::var("PHALANX_ROW").unwrap_or_default();
    for (name, skeleton) in rows.into_iter().filter(|(name, _)| name.contains(&sought)) {
        let begin = Instant::now();
        let verdict = check(&skeleton, limit);
        let milliseconds = begin.elapsed().as_secs_f64() * 1000.0;
        let begin = Instant::now();
        check(&skeleton, 0);
        let built = begin.elapsed().as_secs_f64() * 1000.0;
        println!("{name:45} {milliseconds:9.2} ms, {built:6.2} ms before the search, {verdict:?}");
    }
}
