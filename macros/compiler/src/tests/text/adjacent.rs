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

#[test]
fn loads_of_a_loop_that_stores_nothing() {
    let sums = |index: &str| format!("let mut sum = 0.0; for k in 0..8 {{ sum += w[{index}]; }} m[0] = sum;");
    for index in ["k", "at + k", "k + at * 8", "(j * 8) as usize + k", "(j * 8 + k as u32) as usize"] {
        let (_, statements) = tested(MEMORY, &sums(index));
        assert!(statements.iter().any(|found| found.contains("w.get_adjacent(")), "{index}: {statements:#?}");
    }
    for index in ["k * 2", "at - k", "at + k + k", "k * n + at"] {
        let (_, statements) = tested(MEMORY, &sums(index));
        assert!(!statements.iter().any(|found| found.contains("get_adjacent")), "{index}: {statements:#?}");
    }
    // The inner loop is unrolled.
    prints(
        "for i in 0..n { for k in 0..4 { m[0] = w[i]; } for k in 0..4 { n == k; x[i * 4 + k] == 0.0; } }",
        "x.get_adjacent(i * 4 + k_2) == <slot4 0.0>;",
    );
}

#[test]
fn stores_of_neighbours() {
    prints("for k in 0..4 { m[at + k] = w[at + k]; }", "m.get_adjacent(at + k) = w.get_unchecked(at + k);");
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
        assert!(!statements.iter().any(|found| found.contains("get_adjacent")), "{body}: {statements:#?}");
    }
}

#[test]
fn neighbours_of_the_elements_of_an_array() {
    let items = "let mut items = [0.0; 8];";
    for (body, place) in [
        ("for (item, &value) in items.iter_mut().zip(&w[at..at + 8]) { *item += value; }", "(items_2_2, position)"),
        ("for (k, &item) in items.iter().enumerate() { m[at + k] = item; }", "(m, at + k)"),
    ] {
        let text = text(&format!("#[device] fn subject({MEMORY}) {{ {items} {body} }}"), |_| None);
        let place = format!("get_adjacent_of<length_of<decltype(items_2)>()>{place}");
        assert!(text.contains(&place), "{text}");
    }
}

#[test]
fn neighbours_in_a_chunk_and_under_a_name() {
    let sum = "let mut sum = 0.0; for two in w[..n].chunks_exact(2) { sum += two[0] * two[1]; } m[0] = sum;";
    let text = text(&format!("#[device] fn subject({MEMORY}) {{ {sum} }}"), |_| None);
    assert!(text.contains("two.get_adjacent(0) * two.get_adjacent(1);"), "{text}");
    prints("for k in 0..4 { let i = at * 4 + k; m[i] = w[i]; }", "m.get_adjacent(i) = w.get_unchecked(i);");
}
