//! Tests of products of warpgroups whose sums are lost with their values, though the warpgroup waits.

use super::session;

/// What `M` stands for in the bodies.
const PRODUCT: &str = "wg.mma_async(zeros, &tile, &tile)";

const FUNCTIONS: [&str; 4] = [
    "fn begin(wg: &Tile<128>, tile: &SharedArray<Row, 64>) -> Busy { wg.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), tile, tile) }",
    "fn keep(wg: &Tile<128>, busy: Busy) -> Busy { busy }",
    "fn both(wg: &Tile<128>, tile: &SharedArray<Row, 64>) -> (Busy, Busy) { let p = begin(wg, tile); (p, wg.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), tile, tile)) }",
    "fn sum_and_product(wg: &Tile<128>, tile: &SharedArray<Row, 64>) -> (Sums, Busy) { let p = begin(wg, tile); (wg.wait_mma(p), begin(wg, tile)) }",
];

const RIGHT: [&str; 27] = [
    "let mut p = M; let mut q = M; for i in 0..n { std::mem::swap(&mut p, &mut q); let s = wg.wait_mma(p); p = wg.mma_async(s, &tile, &tile); } sum = wg.wait_mma(p); let r = wg.wait_mma(q);",
    "let mut busy = None; for i in 0..n { if let Some(p) = busy.replace(M) { sum = wg.wait_mma_except_last(p); } } if let Some(p) = busy { sum = wg.wait_mma(p); }",
    "let mut busy = Some(M); let mut k = 0; while let Some(p) = busy.take() { let s = wg.wait_mma(p); k += 1; if k < n { busy = Some(wg.mma_async(s, &tile, &tile)); } else { sum = s; } }",
    "let busy = if c { Some(M) } else { None }; let Some(p) = busy else { return; }; sum = wg.wait_mma(p);",
    "let mut busy: Option<Busy> = None; for i in 0..n { if busy.is_none() { busy = Some(M); } else { let p = busy.take().unwrap(); sum = wg.wait_mma(p); } } if busy.is_some() { sum = wg.wait_mma(busy.unwrap()); }",
    "let mut busy = Some(M); let p = std::mem::take(&mut busy); if let Some(p) = p { sum = wg.wait_mma(p); }",
    "let p = loop { let q = M; if n > 1 { break q; } sum = wg.wait_mma(q); }; sum = wg.wait_mma(p);",
    "let pair = (M, M); let (p, q) = pair; sum = wg.wait_mma(p); let r = wg.wait_mma(q);",
    "let pair = (M, 3); if c { sum = wg.wait_mma(pair.0); } else { wg.wait_mma_prior::<0>(); let _ = pair; }",
    "let all: [Busy; 2] = std::array::from_fn(|_| M); let [p, q] = all; sum = wg.wait_mma(p); let r = wg.wait_mma(q);",
    "let all: [Busy; 2] = std::array::from_fn(|k| { let s = zeros; wg.mma_async(s, &tile, &tile) }); let [p, q] = all; sum = wg.wait_mma(p); let r = wg.wait_mma(q);",
    "let mut held: Option<(Busy, u32)> = None; for i in 0..n { if let Some((p, k)) = held.take() { sum = wg.wait_mma(p); } held = Some((wg.mma_async(sum, &tile, &tile), i)); } if let Some((p, _)) = held { sum = wg.wait_mma(p); }",
    "let mut s: (Option<Busy>, Option<Busy>) = (None, None); for i in 0..n { if let Some(p) = s.0.take() { sum = wg.wait_mma(p); } if let Some(q) = s.1.take() { s.0 = Some(q); } s.1 = Some(M); } if let Some(p) = s.0.take() { sum = wg.wait_mma(p); } if let Some(p) = s.1.take() { sum = wg.wait_mma(p); }",
    "let mut s: (Option<Busy>, bool) = (None, false); for i in 0..n { s.1 = i % 2 == 1; if s.1 { if let Some(p) = s.0.take() { sum = wg.wait_mma(p); } } else { if let Some(p) = s.0 { sum = wg.wait_mma(p); } s.0 = Some(M); } } if s.0.is_some() { sum = wg.wait_mma(s.0.unwrap()); }",
    "let (p, q) = both(&wg, &tile); sum = wg.wait_mma(p); let r = wg.wait_mma(q);",
    "let (s, p) = sum_and_product(&wg, &tile); sum = wg.wait_mma(p);",
    "let p = keep(&wg, M); sum = wg.wait_mma(p);",
    "let _ = M; wg.wait_mma_prior::<0>();",
    "let mut busy = M; let r = &mut busy; let old = std::mem::replace(r, M); sum = wg.wait_mma_except_last(old); let last = wg.wait_mma(busy);",
    "let mut sums = zeros; let r = &mut sums; *r = wg.wait_mma(M); sum = sums;",
    "let mut p = Some(M); let _ = p.take(); wg.wait_mma_prior::<0>();",
    "let mut p = Some(M); let Some(q) = p.take() else { return; }; sum = wg.wait_mma(q);",
    "let mut p = Some(M); while let Some(q) = p.take() { sum = wg.wait_mma(q); if c { p = Some(M); } }",
    "let mut p = Some(M); sum = wg.wait_mma(p.take().unwrap());",
    "let mut p = Some(M); match p.take() { Some(q) => { sum = wg.wait_mma(q); } None => {} }",
    "let p: Option<Busy> = None; let r = M; sum = wg.wait_mma(p.unwrap_or(r));",
    "let mut p: Option<Busy> = None; for i in 0..n { let old = p.take(); p = Some(M); if let Some(q) = old { sum = wg.wait_mma_except_last(q); } } if let Some(q) = p { sum = wg.wait_mma(q); }",
];

const WRONG: [&str; 38] = [
    "let mut p = M; let mut q = M; for i in 0..n { std::mem::swap(&mut p, &mut q); p = M; } sum = wg.wait_mma(p); let r = wg.wait_mma(q);",
    "let mut busy = None; for i in 0..n { busy = Some(M); } if let Some(p) = busy { sum = wg.wait_mma(p); }",
    "let mut busy = None; for i in 0..n { if let Some(p) = busy.replace(M) { sum = wg.wait_mma_except_last(p); } } wg.wait_mma_prior::<0>();",
    "let first = M; let second = M; sum = wg.wait_mma(second);",
    "let p = M; let p = M; sum = wg.wait_mma(p);",
    "let p = M; if c { wg.wait_mma_prior::<0>(); return; } sum = wg.wait_mma(p);",
    "for i in 0..n { let p = M; if i == 3 { wg.wait_mma_prior::<0>(); continue; } sum = wg.wait_mma(p); }",
    "for i in 0..n { let p = M; wg.wait_mma_prior::<0>(); }",
    "let p = M; let q; if c { q = wg.mma_async(p, &tile, &tile); } else { q = M; } sum = wg.wait_mma(q);",
    "let busy = if c { Some(M) } else { None }; if let Some(p) = busy && n > 0 { sum = wg.wait_mma(p); } else { wg.wait_mma_prior::<0>(); }",
    "let pair = (M, M); sum = wg.wait_mma(pair.0);",
    "let [p, q] = [M, M]; sum = wg.wait_mma(p);",
    "let all: [Busy; 2] = std::array::from_fn(|_| M); wg.wait_mma_prior::<0>();",
    "let mut held: Option<(Busy, u32)> = None; for i in 0..n { held = Some((M, i)); } if let Some((p, _)) = held { sum = wg.wait_mma(p); }",
    "let mut s: (Option<Busy>, Option<Busy>) = (None, None); for i in 0..n { if let Some(q) = s.1.take() { s.0 = Some(q); } s.1 = Some(M); } if let Some(p) = s.0.take() { sum = wg.wait_mma(p); } if let Some(p) = s.1.take() { sum = wg.wait_mma(p); }",
    "let mut s: (Option<Busy>, bool) = (None, false); for i in 0..n { s.0 = Some(M); s.1 = true; wg.wait_mma_prior::<0>(); } if s.1 { if let Some(p) = s.0 { sum = wg.wait_mma(p); } }",
    "let mut all: [Option<Busy>; 2] = [None, None]; for i in 0..n { all[i % 2] = Some(M); } wg.wait_mma_prior::<0>();",
    "let mut busy = begin(&wg, &tile); for i in 0..n { busy = begin(&wg, &tile); } sum = wg.wait_mma(busy);",
    "let p = begin(&wg, &tile); wg.wait_mma_prior::<0>();",
    "let p = M; M; sum = wg.wait_mma(p);",
    "let mut busy = M; let r = &mut busy; *r = M; sum = wg.wait_mma(busy);",
    "let mut busy = M; for i in 0..n { let r = &mut busy; let s = &mut *r; *s = M; } sum = wg.wait_mma(busy);",
    "let mut busy = Some(M); let r = &mut busy; *r = None; wg.wait_mma_prior::<0>();",
    "let mut pair = (M, 1u32); let r = &mut pair.0; *r = M; sum = wg.wait_mma(pair.0);",
    "let mut all = [M, M]; let r = &mut all; *r = [M, M]; let [p, q] = all; sum = wg.wait_mma(p); let r = wg.wait_mma(q);",
    "let mut busy = M; let r = &mut busy; let old = std::mem::replace(r, M); sum = wg.wait_mma(busy);",
    // What is taken out of an `Option`, and then of no use.
    "let mut p = Some(M); p.take(); wg.wait_mma_prior::<0>();",
    "let mut p: Option<Busy> = None; for i in 0..n { p.take(); p = Some(M); } if let Some(q) = p { sum = wg.wait_mma(q); }",
    "let mut p: (Option<Busy>, u32) = (None, 0); for i in 0..n { p.0.take(); p.0 = Some(M); } if let Some(q) = p.0 { sum = wg.wait_mma(q); }",
    "let mut p = Some(M); p.take().unwrap(); wg.wait_mma_prior::<0>();",
    "let p = Some(M); p.unwrap(); wg.wait_mma_prior::<0>();",
    "let mut p = Some(M); if p.take().is_some() { wg.wait_mma_prior::<0>(); }",
    "let mut p = Some(M); if let Some(_) = p.take() { wg.wait_mma_prior::<0>(); }",
    "let mut p = Some(M); match p.take() { Some(_) => { wg.wait_mma_prior::<0>(); } None => {} }",
    "let mut p = Some(M); while let Some(_) = p.take() { p = if c { Some(M) } else { None }; } wg.wait_mma_prior::<0>();",
    "let mut p = Some(M); let f = || { p.take(); }; f(); wg.wait_mma_prior::<0>();",
    "let p = M; (p, 1u32); wg.wait_mma_prior::<0>();",
    "let p = Some(M); let q = p.unwrap_or(M); sum = wg.wait_mma(q);",
];

/// Returns the rules that a kernel of a warpgroup with this body breaks.
fn broken(body: &str) -> Vec<String> {
    let parse = |text: &str| text.parse().expect("the test's source is made of tokens");
    let kernel = format!(
        "fn kernel(out: &mut [f32], n: u32, c: bool) {{
            let block = this_thread_block();
            let wg = tiled_partition::<128>(&block);
            let t = block.thread_rank();
            let tile = shared_array::<Swizzled<bf16, 64>, 64>();
            tile[t / 2][t % 64] = bf16::ZERO;
            block.sync();
            let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
            let mut sum = zeros;
            {}
            out[t] = sum[0];
        }}",
        body.replace('M', PRODUCT)
    );
    let functions = FUNCTIONS.iter().map(|text| parse(text)).collect();
    let faults = session().check_program(functions, (parse("block = 128"), parse(&kernel)));
    faults.iter().map(|fault| fault.rule().to_string()).collect()
}

#[test]
fn sums_that_are_asked_for() {
    for body in RIGHT {
        assert_eq!(broken(body), [""; 0], "{body}");
    }
}

#[test]
fn sums_that_are_lost() {
    for body in WRONG {
        assert_eq!(broken(body), ["mma_in_flight"], "{body}");
    }
}

#[test]
fn functions_and_their_products() {
    let check = |text: &str| session().check_device("".parse().unwrap(), text.parse().unwrap()).len();
    for (text, faults) in [
        ("fn f(wg: &Tile<128>, p: Busy, c: bool, sum: &mut Sums) { if c { *sum = wg.wait_mma(p); } }", 1),
        (
            "fn f(wg: &Tile<128>, p: Busy, c: bool, sum: &mut Sums) { if c { *sum = wg.wait_mma(p); } else { let _ = p; } }",
            0,
        ),
        ("fn f(wg: &Tile<128>, p: InFlight<Accumulator<f32, 64, 64>, bf16, bf16>) { wg.wait_mma_prior::<0>(); }", 1),
        ("fn f(wg: &Tile<128>, p: Option<Busy>, sum: &mut Sums) { if let Some(p) = p { *sum = wg.wait_mma(p); } }", 1),
        (
            "fn f(wg: &Tile<128>, p: InFlight<Accumulator<f32, 64, 64>, bf16, bf16>, c: bool) -> Option<Busy> { if c { Some(p) } else { let _ = p; None } }",
            1,
        ),
        ("fn f(wg: &Tile<128>, p: Busy, q: Busy) -> (Busy, Busy) { (q, p) }", 0),
    ] {
        assert_eq!(check(text), faults, "{text}");
    }
}
