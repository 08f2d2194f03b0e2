//! Numbers of constants that have names: what the runtime is asked for, and what the text has for the case that they are small.

use super::bounds::MEMORY;
use super::text;
use crate::tests::expand;

/// The text of a body, and the numbers that the runtime is to know.
fn numbers(body: &str) -> (String, Vec<String>) {
    let source = format!("#[device] fn subject<const N: usize>({MEMORY}) {{ {body} }}");
    let expansion = expand(&source).to_string();
    assert!(!expansion.contains("compile_error"), "{body}: {expansion}");
    let asked = expansion.split(":: phalanx :: __private :: number (").skip(1);
    let number = |rest: &str| rest.split(") , :: phalanx").next().unwrap().split(")]").next().unwrap().replace(' ', "");
    (text(&source, |_| None), asked.map(number).collect())
}

#[test]
fn rounds_of_threads() {
    let (text, asked) = numbers(
        "let i = this_thread_block().thread_rank() as usize; for k in (i..(N + 2) * WIDE).step_by(256) { m[k] = w[k]; }",
    );
    assert!(text.contains("#pragma unroll\n"), "{text}");
    let end = "((N)as::core::primitive::i128).wrapping_add(2i128).wrapping_mul(((WIDE)as::core::primitive::i128))";
    let rounds = ".wrapping_add(256i128).wrapping_sub(1).checked_div(256i128).unwrap_or(0)";
    assert_eq!(asked.len(), 1, "a loop is lowered twice, and asks once: {asked:#?}");
    assert!(asked[0].starts_with(&format!("{end}{rounds}")), "{asked:#?}");
    // What only the launch knows is no such number.
    let (text, asked) =
        numbers("let i = this_thread_block().thread_rank(); for k in (i..a * 2).step_by(256) { m[k] = w[k]; }");
    assert!(!text.contains("#pragma") && asked.is_empty(), "{text}");
}

#[test]
fn arrays_in_registers() {
    let loops = |first: &str, second: &str| {
        format!(
            "let mut x = [0usize; 16]; for t in {first} {{ for k in {second} {{ x[k] = x[k] * 3 + x[t] + b; }} }} *r = x[3];"
        )
    };
    let (text, asked) = numbers(&loops("0..N", "0..WIDE - 1"));
    assert_eq!((text.matches("#pragma unroll\n").count(), asked.len()), (2, 2), "{text}");
    assert!(asked[0].contains("(N)") && asked[0].contains("(WIDE)"), "both loops count: {asked:#?}");
    // The inner loop is unrolled if the outer one is.
    let (text, asked) = numbers(&loops("0..N", "t + 1..N"));
    assert_eq!(
        (text.matches("#pragma unroll\n").count(), asked.len()),
        (0, 0),
        "the length of a triangle is not known: {text}"
    );
    let (text, asked) = numbers(&loops("0..a", "0..b"));
    assert!(!text.contains("#pragma") && asked.is_empty(), "{text}");
}

#[test]
fn stages_that_take_turns() {
    let (text, asked) = numbers("for i in 0..a { m[i % N] = w[i]; this_thread_block().sync(); }");
    assert!(text.contains("#pragma unroll <digits"), "{text}");
    assert!(asked.len() == 1 && asked[0].starts_with("((N)as::core::primitive::i128"), "{asked:#?}");
}

#[test]
fn neighbours() {
    let (text, asked) = numbers("let mut s = 0; for k in 0..N { s += w[a * 8 + k]; } *r = s;");
    assert!(text.contains("loaded_ahead<<digits"), "{text}");
    assert_eq!(asked.len(), 1, "{asked:#?}");
}

/// What is done for a literal is done for a constant: conversions before sums, and one test for the neighbours of an element but itself.
#[test]
fn loops_of_neighbours() {
    let (text, _) = numbers("let y = a as u32; for k in 0..N as u32 { m[0] = w[(y + k) as usize * b]; }");
    assert!(text.contains("w.get_unchecked((as<usize>(y) + as<usize>(k)) * b)"), "{text}");
    let around = |middle: &str| {
        format!(
            "for y in 0..3usize {{ for x in 0..3usize {{
                if y != {middle} || x != {middle} {{ *r += w[(a + y) * 64 + x]; }}
            }} }}"
        )
    };
    let test_of = |body: &str| {
        let (text, _) = numbers(body);
        let test = text.lines().find(|line| line.contains("covers")).map(str::trim).map(String::from);
        test.unwrap_or_else(|| panic!("{text}"))
    };
    assert_eq!(test_of(&around("1")), test_of(&around("WIDE / 2")));
}

/// The loop inside decides how large a recurrence is. That of a warp is unrolled only where the text shows that it is small.
#[test]
fn recurrences_and_warps() {
    let recurrence = |inner: &str| {
        numbers(&format!(
            "let mut s = 0; for i in 0..a {{ for c in {inner} {{ s = s / 2 + w[i * b + c]; }} m[i * b] = s; }}"
        ))
    };
    let unrolled = |inner: &str| {
        let (text, asked) = recurrence(inner);
        (text.matches("#pragma unroll 8\n").count(), asked.len())
    };
    assert_eq!(
        (unrolled("0..4"), unrolled("0..N"), unrolled("0..b")),
        ((1, 0), (1, 2), (0, 0)),
        "the elements next to each other ask, too"
    );
    let of_warp = |inner: &str| {
        let source = format!(
            "#[cluster_kernel(block = 64)] fn subject(k: &[f32], out: &mut [f32], a: u32, b: u32) {{
                let warp = tiled_partition::<32>(&this_thread_block());
                let (i, mut s) = (this_grid().thread_rank(), 0.0);
                for j in 0..a {{
                    let mut part = 0.0;
                    for c in {inner} {{ let v = k.load_vec::<4>(j * b + c); part += v[0] * v[1]; }}
                    s += warp.reduce(part, op::Plus);
                }}
                out[i] = s;
            }}"
        );
        text(&source, |_| None).matches("#pragma unroll 4\n").count()
    };
    assert_eq!((of_warp("0..4"), of_warp("0..CHUNKS"), of_warp("0..64")), (1, 0, 0));
}

/// A table that is a constant says how long a loop over it is.
#[test]
fn loops_over_tables() {
    let source = "#[device] fn subject(words: [u32; 16]) -> u32 {
        let mut x = words;
        for (t, &constant) in TABLE.iter().enumerate() {
            x[t % 16] = x[(t + 1) % 16].rotate_left(7) ^ x[(t + 9) % 16].wrapping_add(constant);
        }
        x[0]
    }";
    let expansion = expand(source).to_string();
    assert!(expansion.contains("(TABLE) . len ()"), "{expansion}");
    assert!(text(source, |_| None).contains("#pragma unroll\n"));
}

/// Loops of few iterations in which a variable is scaled, or threads meet and a constant is shifted, are unrolled, so that it is a constant.
#[test]
fn scaled_variables() {
    let unrolled = |body: &str| {
        let (text, asked) = numbers(body);
        (text.matches("#pragma unroll\n").count(), asked.len())
    };
    let halved = |range: &str, last: &str| {
        format!(
            "let block = this_thread_block(); let mut half = 512; for _ in {range} {{
                for k in (a..half).step_by(256) {{ m[k] = m[2 * k]; }} block.sync(); {last}
            }}"
        )
    };
    assert_eq!(unrolled(&halved("0..3", "half /= 2;")), (1, 0));
    assert_eq!(unrolled(&halved("0..N", "half /= 2;")), (1, 1), "the runtime knows how many");
    assert_eq!(unrolled(&halved("0..b", "half /= 2;")), (0, 0), "only the launch knows");
    assert_eq!(unrolled(&halved("0..3", "half -= b;")), (0, 0), "the variable is no constant");
    assert_eq!(unrolled(&halved("0..40", "half /= 2;")), (0, 0), "there are too many");
    let shifted = |shift: &str, last: &str| {
        format!(
            "let block = this_thread_block(); for step in 0..10 {{
                let distance = {shift}; m[a + distance] = m[a] + w[distance]; {last}
            }}"
        )
    };
    assert_eq!(unrolled(&shifted("1 << step", "block.sync();")), (1, 0));
    assert_eq!(unrolled(&shifted("256 >> step", "block.sync();")), (1, 0));
    assert_eq!(unrolled(&shifted("b << step", "block.sync();")), (0, 0), "it is no constant");
}

/// A loop of a few rounds that loads and stores is unrolled, so that no load waits for a store of the round before: also one over
/// `start..start + length`.
#[test]
fn few_rounds_of_a_thread() {
    let unrolled = |range: &str, body: &str| {
        let (text, asked) = numbers(&format!("for k in {range} {{ {body} }}"));
        (text.matches("#pragma unroll\n").count(), asked.len())
    };
    let moved = "m[k] = m[k + a] + 1;";
    assert_eq!(unrolled("0..8", moved), (1, 0));
    assert_eq!(unrolled("a..a + WIDE", moved), (1, 1), "the runtime knows how many");
    assert_eq!(unrolled("b..a + 8", moved), (0, 0), "only the launch knows");
    assert_eq!(unrolled("0..9", moved), (0, 0), "there are too many");
    assert_eq!(unrolled("0..8", "m[k] = 1;"), (0, 0), "it loads nothing");
    assert_eq!(unrolled("0..8", "*r += m[k + a];"), (0, 0), "it stores nothing");
}

/// rustc refuses a division by a constant that is 0, unless it is generic: such a one may stand where it is never reached.
#[test]
fn closures_that_divide() {
    let tested = |divisor: &str| {
        let body = format!("let at = |x: usize| x / {divisor}; for k in 0..a {{ m[k] = w[at(k)]; }}");
        numbers(&body).0.contains("w.get_unchecked(at(k))")
    };
    assert!(tested("3") && tested("WIDE"));
    assert!(!tested("N") && !tested("b"));
}
