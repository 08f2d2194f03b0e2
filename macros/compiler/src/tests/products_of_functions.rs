//! Tests of products of warpgroups that device functions begin, are given, return and wait for.

use super::session;

const NONE: [&str; 0] = [];

/// The device functions of the tests, each of which may call earlier ones.
const FUNCTIONS: [&str; 23] = [
    "fn begin(wg: &Tile<128>, sum: Sums, tile: &SharedArray<Row, 64>) -> Busy { wg.mma_async(sum, tile, tile) }",
    "fn begin_removed(wg: &Tile<128>, sum: Sums, tile: &SharedArray<Row, 64>) -> Busy { begin(wg, sum, tile) }",
    "fn add(wg: &Tile<128>, busy: Busy, tile: &SharedArray<Row, 64>) -> InFlight<Accumulator<f32, 64, 64>, bf16, bf16> { wg.mma_async(busy, tile, tile) }",
    "fn finish(wg: &Tile<128>, busy: Busy) -> Sums { wg.wait_mma(busy) }",
    "fn finish_removed(wg: &Tile<128>, busy: Busy) -> Sums { finish(wg, busy) }",
    "fn finish_if(wg: &Tile<128>, busy: Busy, go: bool, sum: &mut Sums) { if go { *sum = wg.wait_mma(busy); } else { let _ = busy; } }",
    "fn keep(wg: &Tile<128>, busy: Busy) -> Busy { busy }",
    "fn settle(wg: &Tile<128>) { wg.wait_mma_prior::<0>(); }",
    "fn settle_but_one(wg: &Tile<128>) { wg.wait_mma_prior::<1>(); }",
    "fn settle_but_one_removed(wg: &Tile<128>) { settle_but_one(wg); }",
    "fn add_and_settle(wg: &Tile<128>, busy: Busy, tile: &SharedArray<Row, 64>) -> Busy { let next = wg.mma_async(busy, tile, tile); settle_but_one(wg); next }",
    "fn settle_and_add(wg: &Tile<128>, busy: Busy, tile: &SharedArray<Row, 64>) -> Busy { settle_but_one(wg); wg.mma_async(busy, tile, tile) }",
    "fn step(wg: &Tile<128>, sum: &mut Sums, tile: &SharedArray<Row, 64>) { let busy = wg.mma_async(*sum, tile, tile); *sum = wg.wait_mma(busy); }",
    "fn add_registers(wg: &Tile<128>, busy: Busy, left: Left, tile: &SharedArray<Row, 64>) -> Busy { wg.mma_async(busy, left, tile) }",
    "fn add_registers_removed(wg: &Tile<128>, busy: Busy, left: Left, tile: &SharedArray<Row, 64>) -> Busy { add_registers(wg, busy, left, tile) }",
    "fn clear(tile: &SharedArray<Row, 64>, i: u32) { tile[0][i % 64] = bf16::ZERO; }",
    "fn square(x: f32) -> f32 { x * x }",
    "fn both(wg: &Tile<128>, sum: Sums, tile: &SharedArray<Row, 64>) -> (Busy, Busy) { (wg.mma_async(sum, tile, tile), wg.mma_async(sum, tile, tile)) }",
    "fn of_before(wg: &Tile<128>, busy: Busy, sum: Sums, tile: &SharedArray<Row, 64>) -> (Sums, Busy) { let next = wg.mma_async(sum, tile, tile); (wg.wait_mma_except_last(busy), next) }",
    "fn add_if(wg: &Tile<128>, busy: Busy, tile: &SharedArray<Row, 64>, go: bool) -> Busy { if go { wg.mma_async(busy, tile, tile) } else { busy } }",
    "fn begin_of_part(wg: &Tile<128>, sum: Sums, tiles: &SharedArray<[Row; 64], 2>, i: u32) -> Busy { wg.mma_async(sum, &tiles[i], &tiles[i]) }",
    "fn wait_and_add(wg: &Tile<128>, busy: Busy, full: &Barrier, tile: &SharedArray<Row, 64>) -> Busy { let _ = full.arrive(); full.wait_parity(false); wg.mma_async(busy, tile, tile) }",
    "fn settle_own(bar: &Barrier) { tiled_partition::<128>(&this_thread_block()).wait_mma_prior::<0>(); let _ = bar.arrive(); bar.wait_parity(false); }",
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
            let other = shared_array::<Swizzled<bf16, 64>, 64>();
            let bar = shared_barrier();
            bar.init_collective(&block, 128);
            tile[t / 2][t % 64] = bf16::ZERO;
            other[t / 2][t % 64] = bf16::ZERO;
            block.sync();
            let zeros = Sums::splat(0.0);
            let mut sum = zeros;
            {body}
            out[t] = sum[0];
        }}"
    );
    let functions = FUNCTIONS.iter().map(|text| parse(text)).collect();
    let faults = session().check_program(functions, (parse("block = 128"), parse(&kernel)));
    faults.iter().map(|fault| fault.rule().to_string()).collect()
}

#[track_caller]
fn right(body: &str) {
    assert_eq!(broken(body), NONE, "{body}");
}

#[track_caller]
fn wrong(body: &str) {
    let rules = broken(body);
    assert!(!rules.is_empty() && rules.iter().all(|rule| rule == "mma_in_flight"), "{body}: {rules:?}");
}

const BEGINS: [&str; 4] = [
    "let p = begin(&wg, zeros, &tile);",
    "let p = begin_removed(&wg, zeros, &tile);",
    "let p = wg.mma_async(zeros, &tile, &tile);",
    "let p = wg.mma_async(zeros, &tile, &tile); let p = keep(&wg, p);",
];
const WAITS: [&str; 4] =
    ["sum = wg.wait_mma(p);", "sum = finish(&wg, p);", "sum = finish_removed(&wg, p);", "settle(&wg); let _ = p;"];

#[test]
fn products_that_are_given_and_returned() {
    for begin in BEGINS {
        for wait in WAITS {
            right(&format!("{begin} {wait}"));
            right(&format!("{begin} let y = square(2.0); {wait}"));
            right(&format!("{begin} let p = add(&wg, p, &other); {wait}"));
            right(&format!("{begin} if c {{ {wait} }} else {{ settle(&wg); let _ = p; }}"));
            wrong(&format!("{begin} if c {{ {wait} }} else {{ settle(&wg); }}"));
            right(&format!("{begin} if c {{ sum = finish(&wg, p); }} else {{ {wait} }}"));
            right(&format!("{begin} let p = add_if(&wg, p, &other, c); {wait}"));
            right(&format!("{begin} let p = wait_and_add(&wg, p, &bar, &other); {wait}"));
            wrong(&format!("{begin} if c {{ {wait} }}"));
            wrong(&format!("{begin} {wait} let p = begin(&wg, sum, &other);"));
            wrong(&format!("if c {{ {begin} {wait} }} else {{ {begin} }}"));
        }
        wrong(begin);
        wrong(&format!("{begin} let p = keep(&wg, p);"));
        wrong(&format!("{begin} finish_if(&wg, p, c, &mut sum);"));
        wrong(&format!("{begin} settle_but_one(&wg);"));
        wrong(&format!("{begin} let p = add(&wg, p, &other); wg.wait_mma_prior::<1>();"));
        right(&format!("{begin} settle_own(&bar); let _ = p;"));
        wrong(&format!("{begin} settle_own(&bar);"));
    }
    right("for i in 0..n { step(&wg, &mut sum, &tile); }");
    right("let (p, q) = both(&wg, zeros, &tile); sum = wg.wait_mma(p); sum = wg.wait_mma(q);");
    wrong("let (p, q) = both(&wg, zeros, &tile);");
    right(
        "let mut p = begin(&wg, zeros, &tile); for i in 0..n { p = add(&wg, p, &other); wg.wait_mma_prior::<1>(); } sum = finish(&wg, p);",
    );
    wrong("let mut p = begin(&wg, zeros, &tile); for i in 0..n { p = add(&wg, p, &other); wg.wait_mma_prior::<1>(); }");
}

#[test]
fn tiles_of_products_of_functions() {
    for begin in BEGINS {
        for write in ["tile[0][t % 64] = bf16::ZERO;", "clear(&tile, t);"] {
            for wait in WAITS {
                wrong(&format!("{begin} {write} {wait}"));
                wrong(&format!("{begin} block.sync(); {write} {wait}"));
                right(&format!("{begin} {wait} block.sync(); {write}"));
                right(&format!("{begin} {} {wait}", write.replace("tile", "other")));
            }
        }
    }
    // What a function leaves in flight is the last product, of which nothing may be written.
    for (settle, begin, write) in [
        ("settle_but_one(&wg);", BEGINS[2], "tile[0][t % 64] = bf16::ZERO;"),
        ("settle_but_one(&wg);", BEGINS[0], "clear(&tile, t);"),
        ("settle_but_one_removed(&wg);", BEGINS[1], "clear(&tile, t);"),
    ] {
        wrong(&format!("{begin} {settle} {write} sum = finish(&wg, p);"));
        wrong(&format!("{begin} {settle} block.sync(); {write} sum = finish(&wg, p);"));
        right(&format!(
            "{begin} let p = wg.mma_async(p, &other, &other); {settle} block.sync(); {write} sum = finish(&wg, p);"
        ));
        right(&format!("{begin} let p = add(&wg, p, &other); {settle} block.sync(); {write} sum = finish(&wg, p);"));
        wrong(&format!(
            "let p = wg.mma_async(zeros, &other, &other); let p = wg.mma_async(p, &tile, &tile); {settle} {write} sum = finish(&wg, p);"
        ));
        right(&format!("{begin} {settle} wg.wait_mma_prior::<0>(); block.sync(); {write} let _ = p;"));
    }
    // One that begins a product itself leaves that.
    right(
        "let p = wg.mma_async(zeros, &tile, &tile); let p = add_and_settle(&wg, p, &other); block.sync(); clear(&tile, t); sum = finish(&wg, p);",
    );
    wrong(
        "let p = wg.mma_async(zeros, &tile, &tile); let p = settle_and_add(&wg, p, &other); clear(&tile, t); sum = finish(&wg, p);",
    );
}

/// An `Option` or a flag tells whether a product is in flight, and a variable whether it is the last one.
#[test]
fn products_that_are_carried_on() {
    let drain = "if let Some(last) = busy { sum = wg.wait_mma(last); }";
    let none = "let mut busy: Option<Busy> = None;";
    let in_loop = |body: &str| format!("{none} for i in 0..n {{ {body} }}");
    for wait in [
        "if let Some(p) = busy.take() { sum = wg.wait_mma(p); }",
        "if let Some(p) = busy { sum = finish(&wg, p); }",
        "if busy.is_some() { wg.wait_mma_prior::<0>(); let _ = busy.take(); }",
        "match busy.take() { Some(p) => sum = wg.wait_mma(p), None => {} }",
    ] {
        let rounds = in_loop(&format!("{wait} busy = Some(wg.mma_async(sum, &tile, &tile));"));
        right(&format!("{rounds} {drain}"));
        wrong(&rounds);
        wrong(&format!("{rounds} busy = None; {drain}"));
        right(&format!("{rounds} if let Some(last) = busy.take() {{ sum = finish(&wg, last); }}"));
        right(&format!("{none} if c {{ busy = Some(wg.mma_async(sum, &tile, &tile)); }} {wait}"));
        wrong(&format!(
            "{none} if c {{ busy = Some(wg.mma_async(sum, &tile, &tile)); }} if n > 3 {{ busy = None; }} {wait}"
        ));
    }
    right(
        "let mut some = false; for i in 0..n { if i % 2 == 0 { let _ = wg.mma_async(zeros, &tile, &tile); some = true; } } if some { wg.wait_mma_prior::<0>(); }",
    );
    wrong(
        "let mut some = false; for i in 0..n { let _ = wg.mma_async(zeros, &tile, &tile); some = i > 3; } if some { wg.wait_mma_prior::<0>(); }",
    );
    wrong(
        "let mut some = c; let _ = wg.mma_async(zeros, &tile, &tile); let before = std::mem::replace(&mut some, true); if before { wg.wait_mma_prior::<0>(); }",
    );
    wrong(
        "let mut some = c; let _ = wg.mma_async(zeros, &tile, &tile); let pair = (some, { some = true; 1 }); if pair.0 { wg.wait_mma_prior::<0>(); }",
    );
    wrong(
        "let mut some = true; let _ = wg.mma_async(zeros, &tile, &tile); some = !some; if some { wg.wait_mma_prior::<0>(); }",
    );

    let begin = "let mut busy = wg.mma_async(zeros, &tile, &tile);";
    for next in ["let next = wg.mma_async(zeros, &other, &other);", "let next = begin(&wg, zeros, &other);"] {
        for turn in [
            "let of_before = wg.wait_mma_except_last(busy); busy = next;",
            "let before = std::mem::replace(&mut busy, next); let of_before = wg.wait_mma_except_last(before);",
            "let before = busy; busy = next; let of_before = wg.wait_mma_except_last(before);",
        ] {
            let rounds = format!("{begin} for i in 0..n {{ {next} {turn} }}");
            right(&format!("{rounds} sum = wg.wait_mma(busy);"));
            wrong(&rounds);
        }
        for turn in [
            "let of_last = wg.wait_mma_except_last(next);",
            "let before = busy; busy = next; let of_last = wg.wait_mma_except_last(busy); busy = before;",
            "let pair = (busy, next); let of_last = wg.wait_mma_except_last(pair.1); busy = pair.0;",
        ] {
            wrong(&format!("{begin} for i in 0..n {{ {next} {turn} }} wg.wait_mma_prior::<0>();"));
        }
        let rounds = format!(
            "{none} for i in 0..n {{ {next} if let Some(before) = std::mem::replace(&mut busy, Some(next)) {{ let of_before = wg.wait_mma_except_last(before); }} }}"
        );
        right(&format!("{rounds} {drain}"));
        wrong(&rounds);
    }
}

/// A wait that leaves the last product needs one that has certainly begun later.
#[test]
fn the_last_product() {
    for begin in BEGINS {
        let sums = "sum = wg.wait_mma_except_last(p);";
        for next in [
            "let q = begin(&wg, zeros, &other);",
            "let q = wg.mma_async(zeros, &other, &other);",
            "let q = begin_removed(&wg, zeros, &other);",
        ] {
            right(&format!("{begin} {next} {sums} let last = wg.wait_mma(q);"));
            wrong(&format!("{begin} {next} {sums}"));
            wrong(&format!("{begin} {next} sum = wg.wait_mma_except_last(q); settle(&wg);"));
            wrong(&format!("{begin} if c {{ {next} let last = finish(&wg, q); }} {sums} settle(&wg);"));
        }
        wrong(&format!("{begin} {sums} settle(&wg);"));
        wrong(&format!("{begin} let p = keep(&wg, p); {sums} settle(&wg);"));
        wrong(&format!("{begin} let p = add_if(&wg, p, &other, c); {sums} settle(&wg);"));
        right(&format!("{begin} let (s, q) = of_before(&wg, p, zeros, &other); sum = s; let last = finish(&wg, q);"));
        wrong(&format!("{begin} let (s, q) = of_before(&wg, p, zeros, &other); sum = s;"));
    }
    // Another warp's branch begins nothing here.
    wrong(
        "let p = begin(&wg, zeros, &tile); if wg.meta_group_rank() == 0 { let q = wg.mma_async(zeros, &other, &other); let last = wg.wait_mma(q); } else { sum = wg.wait_mma_except_last(p); } settle(&wg);",
    );
}

/// Registers of a left operand are those of the call in the next iteration, too.
#[test]
fn registers_of_products_of_functions() {
    for add in ["add_registers", "add_registers_removed"] {
        let in_loop = |wait: &str| {
            format!(
                "let mut p = begin(&wg, zeros, &tile); for i in 0..n {{ p = {add}(&wg, p, Left::splat(bf16::ZERO), &tile); {wait} }} sum = finish(&wg, p);"
            )
        };
        wrong(&in_loop("wg.wait_mma_prior::<1>();"));
        wrong(&in_loop("settle_but_one(&wg);"));
        wrong(&in_loop(""));
        right(&in_loop("settle(&wg);"));
        right(&in_loop("wg.wait_mma_prior::<0>();"));
    }
    right(
        "let p = begin(&wg, zeros, &tile); let p = add_registers(&wg, p, Left::splat(bf16::ZERO), &tile); let p = add_registers(&wg, p, Left::splat(bf16::ZERO), &tile); sum = finish(&wg, p);",
    );
}

/// Functions that cannot leave a product to their callers.
#[test]
fn functions_that_keep_products_to_themselves() {
    let parse = |text: &str| text.parse().expect("the test's source is made of tokens");
    for (text, is_right) in [
        (
            "fn f(wg: &Tile<128>, sum: Sums, tile: &SharedArray<Row, 64>) { let p = wg.mma_async(sum, tile, tile); }",
            false,
        ),
        (
            "fn f(wg: &Tile<128>, sum: Accumulator<f32, 64, 64>, tile: &SharedArray<Row, 64>) -> Accumulator<f32, 64, 64> { let p = wg.mma_async(sum, tile, tile); sum }",
            false,
        ),
        (
            "fn f(wg: &Tile<128>, sum: Sums, tile: &SharedArray<Row, 64>) -> f32 { let p = wg.mma_async(sum, tile, tile); 0.0 }",
            false,
        ),
        (
            "fn f(sum: Sums, tile: &SharedArray<Row, 64>) -> Busy { let wg = tiled_partition::<128>(&this_thread_block()); wg.mma_async(sum, tile, tile) }",
            false,
        ),
        (
            "fn f(warp: &Tile<32>, sum: Sums, tile: &SharedArray<Row, 64>) -> Busy { let wg = tiled_partition::<128>(&this_thread_block()); wg.mma_async(sum, tile, tile) }",
            false,
        ),
        (
            "fn f(wg: &Tile<128>, sum: Sums, tile: &SharedArray<Row, 64>) -> Busy { wg.mma_async(sum, tile, tile) }",
            true,
        ),
        (
            "fn f(wg: &Tile<128>, sum: Sums, tile: &SharedArray<Row, 64>) -> (u32, Busy) { (1, wg.mma_async(sum, tile, tile)) }",
            true,
        ),
    ] {
        let faults = session().check_device(parse(""), parse(text));
        assert_eq!(faults.is_empty(), is_right, "{text}");
    }
}
