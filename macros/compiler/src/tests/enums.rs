//! Tests of enums whose variants have fields: which of their parts are uniform.

use super::rules;

/// The rules that a kernel of this body breaks, with a block, a rank, and memory.
fn broken(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = 64)]
        fn f(x: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let lane = tiled_partition::<32>(&block).thread_rank();
            let t = block.thread_rank();
            {body}
        }}"
    ))
}

/// Which variant a value is may be the same for all threads where its fields differ, and the other way round.
#[test]
fn variants_of_enums() {
    let same = [
        "let e = if n > 3 { Event::Lost(t) } else { Event::Hit { at: t } }; match e { Event::Hit { .. } => block.sync(), _ => {} }",
        "let mut e = Event::Lost(t); if n > 3 { e = Event::Hit { at: lane }; } if matches!(e, Event::Hit { .. }) { block.sync(); }",
        "let e = Event::Pair { at: t, of: n }; if let Event::Pair { of, .. } = e && of > 3 { block.sync(); }",
    ];
    let differ = [
        "let e = if t > n { Event::Lost(n) } else { Event::Miss }; if let Event::Lost(_) = e { block.sync(); }",
        "let e = if t > n { Event::Lost(n) } else { Event::Hit { at: n } }; match e { Event::Hit { .. } => block.sync(), _ => {} }",
        "let mut e = Event::Lost(n); if t > 3 { e = Event::Hit { at: n }; } if matches!(e, Event::Hit { .. }) { block.sync(); }",
        "let mut e = Event::Lost(n); for i in 0..t { e = Event::Hit { at: n }; } if matches!(e, Event::Hit { .. }) { block.sync(); }",
        "let e = Event::Pair { at: t, of: n }; if let Event::Pair { at, .. } = e && at > 3 { block.sync(); }",
        "let e = if t > n { Event::Lost(n) } else { Event::Miss }; match e { Event::Miss => block.sync(), _ => {} }",
        "let mut e = Event::Miss; if t > n { e = Event::Lost(n); } if let Event::Miss = e { block.sync(); }",
        "let e = if n > 3 { Event::EMPTY } else { Event::Lost(t) }; if let Event::EMPTY = e { block.sync(); }",
        "let e = Event::Lost(t); if let Event::Lost(4) = e { block.sync(); }",
        "let e = Event::Lost(x[t]); if e == Event::Lost(4) { block.sync(); }",
        "let mut e = Event::Miss; if t > 3 { e = event(n); } match e { Event::Lost(..) => block.sync(), _ => {} }",
        "let mut all = [Event::Lost(n); 4]; all[0] = if t > 3 { Event::Miss } else { Event::Lost(n) }; if let Event::Lost(_) = all[0] { block.sync(); }",
    ];
    for body in same {
        assert!(broken(body).is_empty(), "{body}");
    }
    for body in differ {
        assert_eq!(broken(body), ["divergent_collective"], "{body}");
    }
}
