//! Elements that are next to each other in loops that are unrolled.

use super::bounds::tested;
use super::text;

const MEMORY: &str = "m: &mut [f32], w: &[f32], x: &[f32], rows: &[[f32; 8]], at: usize, j: u32, n: usize";

#[track_caller]
fn prints(body: &str, statement: &str) {
    let (_, statements) = tested(MEMORY, body);
    let expected = |found: &String| found == statement;
    assert!(statements.iter().any(expected), "{body}: {statements:#?}");
}

#[track_caller]
fn contains(body: &str, expected: &str) {
    let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(expected), "{text}");
}

#[test]
fn loads_of_a_loop_that_stores_nothing() {
    let sums = |index: &str| format!("let mut sum = 0.0; for k in 0..8 {{ sum += w[{index}]; }} m[0] = sum;");
    for index in ["k", "at + k", "k + at * 8", "(j * 8) as usize + k", "(j * 8 + k as u32) as usize"] {
        let (_, statements) = tested(MEMORY, &sums(index));
        assert!(statements.iter().any(|found| found.contains("w_ahead.get_unchecked(k)")), "{index}: {statements:#?}");
    }
    for index in ["k * 2", "at - k", "at + k + k", "k * n + at"] {
        let (_, statements) = tested(MEMORY, &sums(index));
        assert!(!statements.iter().any(|found| found.contains("get_adjacent")), "{index}: {statements:#?}");
    }
    // The inner loop is unrolled.
    prints(
        "for i in 0..n { for k in 0..4 { m[0] = w[i]; } for k in 0..4 { n == k; x[i * 4 + k] == 0.0; } }",
        "x_ahead.get_unchecked(k_2) == <slot4 0.0>;",
    );
}

#[test]
fn stores_of_neighbours() {
    prints("for k in 0..4 { m[at + k] = w[at + k]; }", "m.get_adjacent(at + k) = w_ahead.get_unchecked(k);");
    prints("for k in 0..4 { m[at + k] += 1.0; }", "m.get_adjacent(at + k) += <slot2 1.0>;");
}

#[test]
fn what_has_nothing_to_join() {
    for body in [
        "for k in 0..n { m[k] = w[k]; }",
        "for k in 0..64 { m[k] = w[k]; }",
        "for k in (0..8).step_by(2) { m[k] = w[k]; }",
        "for k in 0..8 { if k < j as usize { m[k] = 1.0; } }",
        "for k in 0..8 { m[j as usize] = w[at]; }",
        "for k in 0..8 { let mut i = at + k; m[i] = 1.0; }",
        // A row is loaded as a whole.
        "for k in 0..8 { m[j as usize] = rows[at][k]; }",
    ] {
        let (_, statements) = tested(MEMORY, body);
        let joins = |found: &String| found.contains("get_adjacent") || found.contains("ahead");
        assert!(!statements.iter().any(joins), "{body}: {statements:#?}");
    }
}

#[test]
fn neighbours_of_the_elements_of_an_array() {
    let items = "let mut items = [0.0; 8];";
    for (body, place) in [
        ("for (item, &value) in items.iter_mut().zip(&w[at..at + 8]) { *item += value; }", "(items_2_2, position)"),
        ("for (k, &item) in items.iter().enumerate() { m[at + k] = item; }", "(m, at + k)"),
    ] {
        let place = format!("get_adjacent_of<length_of<decltype(items_2)>()>{place}");
        contains(&format!("{items} {body}"), &place);
    }
}

#[test]
fn neighbours_in_a_chunk_and_under_a_name() {
    let sum = "let mut sum = 0.0; for two in w[..n].chunks_exact(2) { sum += two[0] * two[1]; } m[0] = sum;";
    contains(sum, "two.get_adjacent(0) * two.get_adjacent(1);");
    // A method of a number changes no memory.
    let sum =
        "let mut sum = 0; for two in w[..n].chunks_exact(2) { sum ^= (two[0] + two[1]).to_bits(); sum.to_le_bytes(); }";
    contains(sum, "two.get_adjacent(0) + two.get_adjacent(1)");
    prints("for k in 0..4 { let i = at * 4 + k; m[i] = w[i + 1]; }", "m.get_adjacent(i) = w_ahead.get_unchecked(k);");
    let named = "for k in 0..4 { let i = at * 4; let at = i + k; m[at] = w[at + i]; }";
    contains(named, "auto i = at * 4; auto at_2 = i + k; return memory.get_adjacent(at_2 + i);");
}

/// What a loop loads before it does the same in all iterations, and nothing in the loop changes what it is of.
#[test]
fn loads_ahead() {
    let ahead = |body: &str| {
        let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
        text.contains("loaded_ahead<")
    };
    for body in [
        "for k in 0..8 { m[at + k] = w[at + k] * 2.0 + x[k]; }",
        "for k in 0..8 { if m[at + k] < w[at + k] { m[at + k] = 0.0; } }",
    ] {
        assert!(ahead(body), "{body}");
    }
    for body in [
        "for k in 1..8 { m[at + k] = w[at + k]; }",
        "for k in 0..8 { if k < j as usize { m[at + k] = w[at + k]; } }",
        "for k in 0..8 { m[at + k] = match k { 0..4 => w[at + k], _ => 0.0 }; }",
        "for k in 0..8 { m[at + k] = if n > 8 && w[at + k] > 0.0 { 1.0 } else { 0.0 }; }",
        "for k in 0..8 { if m[at + k] < 0.0 { break; } m[at + k] = w[at + k]; }",
        "let mut from = at; for k in 0..8 { m[at + k] = w[from + k]; from += 8; }",
        "let mut w = w; for k in 0..8 { m[at + k] = w[k]; w = &x[..]; }",
        "for k in 0..8 { m[at + k] = w[at + k]; this_thread_block().sync(); }",
        "for k in 0..64 { m[at + k] = w[at + k]; }",
    ] {
        assert!(!ahead(body), "{body}");
    }
}
