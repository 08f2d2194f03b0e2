//! Elements at places that threads have from each other: what is written and read there with no barrier in between is a race unless each
//! thread gets its own rank for its place. Sorts and compactions with the barrier, and threads that read what they have written themselves,
//! are right.

use super::rules;

/// A kernel of 128 threads, each with a key, that finds its `place`, and then does something with it.
fn placed(place: &str, then: &str) -> String {
    format!(
        "#[cluster_kernel(block = 128)] fn placed(input: &[u32], out: &mut [u32]) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let i = block.thread_rank();
            let counts = shared_array::<u32, 128>();
            let sums = shared_array::<u32, 4>();
            let next = shared_array::<u32, 1>();
            let sorted = shared_array::<u32, 128>();
            let key = input[i];
            let bit = key & 1;
            {place}
            {then}
            out[i] += warp.thread_rank();
        }}"
    )
}

/// Ways in which a thread gets the place of its key in the block.
const PLACES: [&str; 4] = [
    // A scan in shared memory.
    "counts[i] = 1 - bit;
     block.sync();
     let mut step = 1;
     while step < 128 {
         let add = if i >= step { counts[i - step] } else { 0 };
         block.sync();
         counts[i] += add;
         block.sync();
         step *= 2;
     }
     let place = if bit == 0 { counts[i] - 1 } else { counts[127] + i - counts[i] };",
    // Scans of warps, and the sums of the warps before.
    "let before = warp.exclusive_scan(1 - bit, |a, b| a + b);
     if warp.thread_rank() == 31 { sums[warp.meta_group_rank()] = before + 1 - bit; }
     block.sync();
     let (mut base, mut zeros) = (0, 0);
     for w in 0..4 {
         if w < warp.meta_group_rank() { base += sums[w]; }
         zeros += sums[w];
     }
     let place = if bit == 0 { base + before } else { zeros + i - base - before };",
    // A ticket.
    "if i == 0 { next[0] = 0; }
     block.sync();
     let place = next.atomic(0).fetch_add(1, Relaxed);",
    // The number of smaller keys.
    "counts[i] = key;
     block.sync();
     let mut place = 0;
     for j in 0..128 { if counts[j] < key || counts[j] == key && j < i { place += 1; } }",
];

/// What is wrong then, and what mends it.
const THEN: [(&str, &str); 4] = [
    ("sorted[place] = key; out[i] = sorted[i];", "sorted[place] = key; block.sync(); out[i] = sorted[i];"),
    ("sorted[place] = key; out[i] = sorted[127 - i];", "sorted[place] = key; block.sync(); out[i] = sorted[127 - i];"),
    ("sorted[i] = key; out[i] = sorted[place];", "sorted[i] = key; block.sync(); out[i] = sorted[place];"),
    (
        "sorted[place] = key; out[i] = sorted[i] + sorted[(i + 64) % 128];",
        "sorted[place] = key; block.sync(); out[i] = sorted[i] + sorted[(i + 64) % 128];",
    ),
];

#[test]
fn places_from_others() {
    for place in PLACES {
        for (wrong, right) in THEN {
            let wrong = placed(place, wrong);
            assert_eq!(rules(&wrong), ["unsynchronized_access"], "of\n{wrong}");
            let right = placed(place, right);
            assert!(rules(&right).is_empty(), "{:?} of\n{right}", rules(&right));
        }
    }
}

/// The lanes of a warp may meet in between: what they have from other warps is no place in their own part.
#[test]
fn warps_that_meet_in_between() {
    for place in PLACES {
        for (wrong, right) in THEN {
            let with_warp = |then: &str| right.replace("block.sync();", then);
            assert_ne!(with_warp("warp.sync();"), wrong);
            for met in
                ["warp.sync();", "warp.sync(); warp.sync();", "let all = warp.all(key > 0); out[i] = all as u32;"]
            {
                let wrong = placed(place, &with_warp(met));
                assert_eq!(rules(&wrong), ["unsynchronized_access"], "of\n{wrong}");
            }
        }
    }
}

/// Tickets of each warp, whose first ones one thread sets, and parts of warps that begin where one thread says.
#[test]
fn places_in_parts_of_warps() {
    for place in [
        "if i < 4 { sums[i] = 0; }
         block.sync();
         let place = i / 32 * 32 + sums[i / 32].atomic().fetch_add(1, Relaxed);",
        "if i < 4 { sums[i] = i * 32; }
         block.sync();
         let place = sums[i / 32] + warp.exclusive_scan(bit, |a, b| a + b);",
        "counts[i] = bit;
         warp.sync();
         let mut place = i / 32 * 32;
         for j in 0..31 { if j < i % 32 { place += counts[i / 32 * 32 + j]; } }",
    ] {
        let place = place.replace("sums[i / 32].atomic()", "sums.atomic(i / 32)");
        let right = placed(&place, "sorted[place] = key; warp.sync(); out[i] = sorted[i];");
        assert!(rules(&right).is_empty(), "{:?} of\n{right}", rules(&right));
    }
}

/// What is meant to be the thread's own, or its warp's, is no fault.
#[test]
fn places_of_ones_own() {
    let own = [
        // In the part of a warp, whose lanes meet.
        "let before = warp.exclusive_scan(1 - bit, |a, b| a + b);
         sorted[i / 32 * 32 + before] = key;
         warp.sync();
         out[i] = sorted[i];",
        // A part of the warp's that begins where the warps before have ended.
        "if i < 4 { sums[i] = i * 32; }
         block.sync();
         sorted[sums[i / 32] + i % 32] = key;
         out[i] = sorted[i];",
        // A scan of ones is the lane's rank.
        "let lane = warp.exclusive_scan(1, |a, b| a + b);
         sorted[i / 32 * 32 + lane] = key;
         out[i] = sorted[i];",
        // A function of the rank by way of a float.
        "let row = (i as f32 / 32.0) as u32;
         sorted[row * 32 + i % 32] = key;
         out[i] = sorted[i];",
        // Kept keys alone are written.
        "let before = warp.exclusive_scan(bit, |a, b| a + b);
         if bit == 1 { sorted[i / 32 * 32 + before] = key; }
         warp.sync();
         if i % 32 < before { out[i] = sorted[i]; }",
    ];
    for then in own {
        let right = placed("", then);
        assert!(rules(&right).is_empty(), "{:?} of\n{right}", rules(&right));
    }
    let wrong = placed("", &own[0].replace("warp.sync();", ""));
    assert_eq!(rules(&wrong), ["unsynchronized_access"], "of\n{wrong}");
}
