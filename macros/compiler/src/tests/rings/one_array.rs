//! Rings whose `full` and `empty` barriers are elements of one array, each with a number of arrivals of its own, and rings in dynamic shared
//! memory, of which the launch or the text says how large it is: right ones are proved, or accepted, and each mistake is refused.

use super::super::rules;
use super::extraction::{faulty, proved};

/// Where the barriers of stage `s` are in their array, and how they are initialized.
struct Layout {
    full: &'static str,
    empty: &'static str,
    init: &'static str,
}

/// Layouts of two stages in an array of four barriers.
const LAYOUTS: [Layout; 6] = [
    Layout { full: "s", empty: "2 + s", init: "for s in 0..2 { bars[s].init(1); bars[2 + s].init(COUNT); }" },
    Layout { full: "s + 2", empty: "s", init: "for s in 0..2 { bars[s].init(COUNT); bars[s + 2].init(1); }" },
    Layout {
        full: "2 * s",
        empty: "2 * s + 1",
        init: "for s in 0..2 { bars[2 * s].init(1); bars[2 * s + 1].init(COUNT); }",
    },
    Layout {
        full: "s << 1",
        empty: "(s << 1) + 1",
        init: "for s in 0..2 { bars[s << 1].init(1); bars[(s << 1) + 1].init(COUNT); }",
    },
    Layout {
        full: "s",
        empty: "s + 2",
        init: "bars[0].init(1); bars[1].init(1); bars[2].init(COUNT); bars[3].init(COUNT);",
    },
    Layout {
        full: "s",
        empty: "3 - s",
        init: "for s in 0..2 { bars[s].init(1); } for s in 2..4 { bars[s].init(COUNT); }",
    },
];

/// A ring of two stages, in this memory, which a copy fills from `TO`, and whose elements are read at `AT`.
fn ring(layout: &Layout, count: &str, memory: [&str; 3], change: (&str, &str)) -> String {
    let [declared, to, at] = memory;
    let Layout { full, empty, init } = layout;
    let init = init.replace("COUNT", count);
    let text = format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[f32], out: &mut [f32], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = {declared};
            let bars = shared_barriers::<4>();
            if i == 0 {{ {init} }}
            block.sync();
            if i == 64 {{
                for k in 0..chunks {{
                    let s = k % 2;
                    bars[{empty}].wait_parity(k / 2 % 2 == 0);
                    bars[{full}].expect_tx(256);
                    bulk_copy_async(&{to}, &input[k * 64..(k + 1) * 64], &bars[{full}]);
                    let _ = bars[{full}].arrive();
                }}
            }} else if i < 64 {{
                let mut sum = 0.0;
                for k in 0..chunks {{
                    let s = k % 2;
                    bars[{full}].wait_parity(k / 2 % 2 == 1);
                    sum += {at};
                    let _ = bars[{empty}].arrive();
                }}
                out[i] = sum;
            }}
        }}"
    );
    let changed = text.replace(change.0, change.1);
    assert!(changed != text || change.0.is_empty(), "no {:?} in\n{text}", change.0);
    changed
}

const ROWS: [&str; 3] = ["shared_array::<[f32; 64], 2>()", "stages[s]", "stages[s][i]"];
const LAUNCHED: [&str; 3] = ["dynamic_shared::<f32>()", "stages[s * 64..s * 64 + 64]", "stages[s * 64 + i]"];
const SLICE: [&str; 3] = ["dynamic_shared_slice::<f32>(64, 128)", "stages[s * 64..s * 64 + 64]", "stages[s * 64 + i]"];

/// What is changed, and the rules of which one refuses it, also where the accesses of the stages are not followed.
const MISTAKES: [(&str, &str, &[&str]); 5] = [
    ("k / 2 % 2 == 1", "k / 2 % 2 == 0", &["ring_read", "ring_overtaken", "ring_deadlock"]),
    ("k / 2 % 2 == 0", "k / 2 % 2 == 1", &["ring_deadlock"]),
    ("expect_tx(256)", "expect_tx(128)", &["ring_deadlock"]),
    ("expect_tx(256)", "expect_tx(512)", &["ring_deadlock"]),
    ("k / 2 % 2 == 1", "k % 2 == 1", &["ring_deadlock", "ring_read", "ring_overtaken"]),
];

#[test]
fn barriers_of_one_array() {
    for layout in &LAYOUTS {
        proved(&ring(layout, "64", ROWS, ("", "")));
        faulty(&ring(layout, "63", ROWS, ("", "")), "ring_count");
        faulty(&ring(layout, "65", ROWS, ("", "")), "ring_deadlock");
    }
}

#[test]
fn in_dynamic_memory() {
    for layout in [&LAYOUTS[0], &LAYOUTS[2]] {
        proved(&ring(layout, "64", LAUNCHED, ("", "")));
        assert!(rules(&ring(layout, "64", SLICE, ("", ""))).is_empty());
        for memory in [LAUNCHED, SLICE] {
            faulty(&ring(layout, "63", memory, ("", "")), "ring_count");
            for (right, wrong, refused_by) in MISTAKES {
                let source = ring(layout, "64", memory, (right, wrong));
                let found = rules(&source);
                assert!(matches!(&found[..], [rule] if refused_by.contains(&&**rule)), "{found:?} of\n{source}");
            }
        }
    }
}

/// Which number an element has is not known where an `init` may be for each of them: nothing is reported of what the numbers may be.
#[test]
fn of_which_barrier_is_not_known() {
    let layout = Layout {
        full: "s",
        empty: "2 + s",
        init: "let mut s = 0; while s < 2 { bars[s].init(1); bars[2 + s].init(COUNT); s += 1; }",
    };
    assert!(rules(&ring(&layout, "64", ROWS, ("", ""))).is_empty());
}

/// Launches say how large the memory is: no number of stages is too large.
#[test]
fn many_stages_of_dynamic_memory() {
    let all = "#[cluster_kernel(block = 96)] fn sums(input: &[f32], out: &mut [f32], chunks: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let stages = dynamic_shared::<f32>();
        let full = shared_barrier();
        full.init_collective(&block, 1);
        if i == 64 {
            for k in 0..40 {
                full.expect_tx(256);
                bulk_copy_async(&stages[k * 64..k * 64 + 64], &input[k * 64..(k + 1) * 64], &full);
            }
            let _ = full.arrive();
        } else if i < 64 {
            full.wait_parity(false);
            let mut sum = 0.0;
            for k in 0..40 { sum += stages[k * 64 + i]; }
            out[i] = sum;
        }
    }";
    assert!(rules(all).is_empty());
}
