//! Tests of functions whose bodies stand in the same file: what they compute is followed, and what they do to memory. Each text has a
//! twin that differs in a number or an operator, and is wrong.

use super::session;

/// Returns the rules that a file breaks.
fn broken(file: &str) -> Vec<String> {
    session().check_file(file).iter().map(|fault| fault.rule().to_string()).collect()
}

fn kernel(before: &str, each: &str) -> String {
    format!(
        "#[cluster_kernel(cluster = 2, block = 32)]
        fn kernel(x: &mut [u32], n: u32) {{
            let cluster = this_cluster();
            let s = shared_array::<[u32; 32], 3>();
            let t = this_thread_block().thread_rank();
            let mut cur = 0u32;
            {before}
            s[0][t] = x[t];
            cluster.sync();
            let far = cluster.map_shared_rank(&s, 1 - cluster.block_rank());
            let mut v = 0;
            for r in 0..n {{ {each} }}
            cluster.sync();
            x[t] = v;
        }}"
    )
}

/// Checks that a text is right, and wrong with another word in the place of one.
#[track_caller]
fn right_but_not_with(text: &str, (word, other): (&str, &str)) {
    assert!(text.contains(word), "{word} in {text}");
    assert_eq!(broken(text), Vec::<String>::new(), "{text}");
    let wrong = text.replace(word, other);
    assert!(!broken(&wrong).is_empty(), "{wrong}");
}

#[test]
fn the_other_buffer() {
    let each = "s[other(cur)][t] = far[cur][t] + 1; cluster.sync(); cur = other(cur);";
    for (function, change) in [
        ("#[device] fn other(b: u32) -> u32 { b ^ 1 }", ("b ^ 1", "b ^ 0")),
        ("#[device] fn other(b: u32) -> u32 { 1 - b }", ("1 - b", "1 * b")),
        ("#[device] fn other(b: u32) -> u32 { if b == 0 { 1 } else { 0 } }", ("{ 1 }", "{ 0 }")),
        ("#[device] fn other(b: u32) -> u32 { let next = b + 1; next % 2 }", ("% 2", "% 1")),
        (
            "#[device] fn other(b: u32) -> u32 { next(b) } #[device] fn next(b: u32) -> u32 { (b + 1) % 3 }",
            ("(b + 1)", "(b + 3)"),
        ),
        ("#[device] fn other(b: u32) -> u32 { if b == 1 { return 0; } 1 }", ("return 0", "return 1")),
        ("#[device] fn other<T: Number>(b: T) -> T { 1 - b }", ("1 - b", "1 * b")),
        ("const TWO: u32 = 2; #[device] fn other(b: u32) -> u32 { (b + 1) % TWO }", ("TWO: u32 = 2", "TWO: u32 = 1")),
    ] {
        right_but_not_with(&format!("{function} {}", kernel("", each)), change);
    }
}

#[test]
fn methods_of_a_struct() {
    let methods = "#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct Double { cur: u32 }
        #[device] impl Double {
            fn new() -> Self { Self { cur: 0 } }
            fn front(self) -> u32 { self.cur }
            fn back(&self) -> u32 { 1 - self.cur }
            fn flip(&mut self) { self.cur = self.back(); }
        }";
    for made in ["Double { cur: 0 }", "Double::new()"] {
        let each =
            "let (from, to) = (bufs.front(), bufs.back()); s[to][t] = far[from][t] + 1; cluster.sync(); bufs.flip();";
        let text = format!("{methods} {}", kernel(&format!("let mut bufs = {made};"), each));
        right_but_not_with(&text, ("1 - self.cur", "self.cur"));
        right_but_not_with(&text, ("{ self.cur }", "{ 1 - self.cur }"));
    }
}

#[test]
fn a_reference_to_a_variable() {
    let each = "s[1 - cur][t] = far[cur][t] + 1; cluster.sync(); flip(&mut cur);";
    let text = format!("#[device] fn flip(b: &mut u32) {{ *b = 1 - *b; }} {}", kernel("", each));
    assert_eq!(broken(&text), [""; 0]);
    let each = "s[to][t] = far[cur][t] + 1; cluster.sync(); flip(&mut cur); flip(&mut to);";
    let function = "#[device] fn flip(b: &mut u32) { *b = 1 - *b; }";
    right_but_not_with(&format!("{function} {}", kernel("let mut to = 1;", each)), ("*b = 1 - *b", "*b = 1"));
}

/// A round's work, with its barrier, in a function that is given the round.
#[test]
fn a_parity_that_a_function_is_given() {
    let exchange = "#[device]
        fn exchange(cluster: &Cluster, s: &SharedArray<[u32; 32], 3>, round: u32, t: u32, v: u32) -> u32 {
            s[round % 2][t] = v;
            cluster.sync();
            cluster.map_shared_rank(s, 1 - cluster.block_rank())[round % 2][31 - t]
        }";
    for each in ["v = exchange(&cluster, &s, r, t, v) + 1;", "let here = &cluster; v += exchange(here, &s, r, t, v);"] {
        let text = format!("{exchange} {}", kernel("", &format!("{each} if r == n {{ v += 1; }}")));
        let text = text.replace("s[0][t] = x[t];", "");
        right_but_not_with(&text, ("round % 2", "round % 1"));
    }
}

/// Arrays of a function belong to all of its calls, and are not its caller's.
#[test]
fn an_array_of_a_function() {
    let shift = "#[device]
        fn shift(cluster: &Cluster, v: u32) -> u32 {
            let cells = shared_array::<u32, 32>();
            let t = this_thread_block().thread_rank();
            cells[t] = v;
            cluster.sync();
            cluster.map_shared_rank(&cells, 1 - cluster.block_rank())[t]
        }";
    let text = format!("{shift} {}", kernel("", "v = shift(&cluster, v); cluster.sync();"));
    assert_eq!(broken(&text), [""; 0]);
    assert_eq!(
        broken(&text.replace("v); cluster.sync();", "v); v = shift(&cluster, v); cluster.sync();")),
        ["overwrite_while_read"]
    );
}

/// What is not read in place of a call: another function may be meant, or the names in the body mean something else.
#[test]
fn what_is_not_followed() {
    let each = "s[other(cur)][t] = far[cur][t] + 1; cluster.sync(); cur = other(cur);";
    for file in [
        // In another module.
        format!("mod a {{ #[device] fn other(b: u32) -> u32 {{ b ^ 1 }} }} {}", kernel("", each)),
        // Under conditions.
        format!("#[cfg(unix)] #[device] fn other(b: u32) -> u32 {{ b ^ 1 }} {}", kernel("", each)),
        format!("#[device] #[cfg(unix)] fn other(b: u32) -> u32 {{ b ^ 1 }} {}", kernel("", each)),
        // Its constant is another one in the kernel.
        format!(
            "const ONE: u32 = 1; #[device] fn other(b: u32) -> u32 {{ b ^ ONE }} {}",
            kernel("const ONE: u32 = 0;", each)
        ),
        // A constant that is not one literal or name.
        format!(
            "#[device] fn other<const N: u32>(b: u32) -> u32 {{ b ^ N }} {}",
            kernel("", &each.replace("other", "other::<{ 2 - 1 }>"))
        ),
    ] {
        assert!(!broken(&file).is_empty(), "{file}");
    }
}

/// A call that names the constants of a function; those of signatures alone need no names.
#[test]
fn constants_of_functions() {
    let each = "s[other::<1>(cur)][t] = far[cur][t] + 1; cluster.sync(); cur = other::<1>(cur);";
    let function = "#[device] fn other<const N: u32>(b: u32) -> u32 { b ^ N }";
    right_but_not_with(&format!("{function} {}", kernel("", each)), ("b ^ N", "b ^ (N - 1)"));
    right_but_not_with(
        &format!("const ONE: u32 = 1; {function} {}", kernel("", &each.replace("<1>", "<ONE>"))),
        ("= 1", "= 0"),
    );
    let exchange = "#[device]
        fn exchange<const W: usize>(cluster: &Cluster, s: &SharedArray<[u32; W], 3>, round: u32, t: u32, v: u32) -> u32 {
            s[round % 2][t] = v;
            cluster.sync();
            cluster.map_shared_rank(s, 1 - cluster.block_rank())[round % 2][31 - t]
        }";
    let text =
        format!("{exchange} {}", kernel("", "v = exchange(&cluster, &s, r, t, v);")).replace("s[0][t] = x[t];", "");
    right_but_not_with(&text, ("round % 2", "round % 1"));
}

/// An argument may have the name of its parameter, and be a peer's memory or a token.
#[test]
fn names_of_parameters() {
    let step = "#[device]
        fn step(cluster: &Cluster, s: &SharedArray<[u32; 32], 3>, far: RemoteArray<[u32; 32], 3>, cur: u32, t: u32) {
            s[1 - cur][t] = far[cur][t] + 1;
            cluster.sync();
        }";
    let each = "step(&cluster, &s, far, cur, t); cur = 1 - cur;";
    right_but_not_with(&format!("{step} {}", kernel("", each)), ("s[1 - cur]", "s[cur]"));
    let arrive = "#[device]
        fn meet(cluster: &Cluster, token: ArrivalToken<Cluster>) { cluster.barrier_wait(token); }
        #[device] fn other(cur: u32) -> u32 { 1 - cur }";
    let each = "s[other(cur)][t] = far[cur][t] + 1; let token = cluster.barrier_arrive(); meet(&cluster, token); cur = other(cur);";
    right_but_not_with(&format!("{arrive} {}", kernel("", each)), ("1 - cur }", "cur }"));
}

/// A struct that is copied as a whole keeps what is known of its fields.
#[test]
fn copies_of_structs() {
    let state = "#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct State { from: u32, to: u32 }
        #[device] fn turned(state: State) -> State { State { from: state.to, to: state.from } }";
    let each = "s[state.to][t] = far[state.from][t] + 1; cluster.sync(); state = turned(state);";
    let text = format!("{state} {}", kernel("let mut state = State { from: 0, to: 1 };", each));
    right_but_not_with(&text, ("to: state.from }", "to: state.to }"));
    let each = "let old = state; s[old.to][t] = far[old.from][t] + 1; cluster.sync(); state = State { from: old.to, to: old.from };";
    let text = format!("{state} {}", kernel("let mut state = State { from: 0, to: 1 };", each));
    right_but_not_with(&text, ("to: old.from }", "to: old.to }"));
}

/// Arguments are computed once, in their order, before the body.
#[test]
fn names_of_arguments_and_bodies() {
    let function = "#[device] fn pick(a: u32, b: u32) -> u32 { let t = a; let c = t; c }";
    let each = "let (b, a) = (r % 2, (r + 1) % 2); s[pick(a, b)][t] = far[pick(b, a)][t] + 1; cluster.sync();";
    right_but_not_with(&format!("{function} {}", kernel("", each)), ("pick(b, a)", "pick(a, b)"));
}

/// Rules about the call itself hold whatever the body is.
#[test]
fn what_is_about_the_call() {
    let file = "#[device] fn arrive(cluster: &Cluster) -> ArrivalToken<Cluster> { cluster.barrier_arrive() }
        #[cluster_kernel(cluster = 2)]
        fn kernel() { let cluster = this_cluster(); let token: ArrivalToken<Cluster> = arrive(&cluster); token.forget(); }";
    assert_eq!(broken(file), ["forget_across_calls"]);
}

/// What a function is given to choose a buffer by must be the same in all blocks; a thread's own index need not.
#[test]
fn a_buffer_that_a_function_chooses() {
    let function = "#[device]
        fn step(cluster: &Cluster, s: &SharedArray<[u32; 32], 3>, cur: u32, t: u32) -> u32 {
            let next = cur ^ 1;
            s[next][t] = cluster.map_shared_rank(s, 1 - cluster.block_rank())[cur][31 - t];
            cluster.sync();
            next
        }";
    let text = format!("{function} {}", kernel("", "cur = step(&cluster, &s, cur, t); v += s[cur][t];"));
    right_but_not_with(&text, ("cur ^ 1", "cur"));
    // Blocks that do not agree on the buffer.
    for argument in ["cur ^ (cluster.block_rank() & 1)", "x[t] % 2", "t % 2"] {
        let each = format!("cur = step(&cluster, &s, {argument}, t);");
        assert!(
            broken(&format!("{function} {}", kernel("", &each))).contains(&"divergent_collective".to_string()),
            "{argument}"
        );
    }
    // One that passes its argument on.
    let through = "#[device] fn twice(cluster: &Cluster, s: &SharedArray<[u32; 32], 3>, cur: u32, t: u32) -> u32 {
        let next = step(cluster, s, cur, t);
        step(cluster, s, next, t)
    }";
    let text = |argument: &str| {
        format!("{function} {through} {}", kernel("", &format!("cur = twice(&cluster, &s, {argument}, t);")))
    };
    assert_eq!(broken(&text("cur")), [""; 0]);
    assert!(!broken(&text("cluster.block_rank()")).is_empty());
}

/// The constant of a function is the length of the array that it is given.
#[test]
fn lengths_of_arrays() {
    let text = |length: &str, barrier: &str| {
        format!(
            "const SIZE: usize = 128;
            #[device]
            fn tree<T: Number, const N: usize>(block: &ThreadBlock, s: &SharedArray<T, N>, add: impl Fn(T, T) -> T) -> T {{
                let i = block.thread_rank() as usize;
                let mut half = N / 2;
                while half > 0 {{
                    if i < half {{ s[i] = add(s[i], s[i + half]); }}
                    {barrier}
                    half /= 2;
                }}
                s[0]
            }}
            #[cluster_kernel(block = 128)]
            fn sums(x: &[f32], out: &mut [f32]) {{
                let block = this_thread_block();
                let values = shared_array::<f32, {length}>();
                let i = block.thread_rank();
                values[i] = x[i];
                block.sync();
                let sum = tree(&block, &values, |a, b| a + b);
                out[i] = sum;
            }}"
        )
    };
    for length in ["128", "SIZE"] {
        assert_eq!(broken(&text(length, "block.sync();")), [""; 0], "{length}");
        for barrier in ["", "tiled_partition::<32>(block).sync();", "if half > 32 { block.sync(); }"] {
            assert_eq!(broken(&text(length, barrier)), ["unsynchronized_access"], "{length} {barrier}");
        }
    }
    // Another variable of the name may be another array.
    let twice = text("128", "")
        .replace("let sum =", "let values = shared_array::<f32, 128>(); values[i] = 0.0; block.sync(); let sum =");
    assert_eq!(broken(&twice), [""; 0]);
}

/// Two functions of one block name the dynamic memory, or a function and its caller: it is one memory, so that they need a barrier.
#[test]
fn dynamic_memory_of_two_functions() {
    let kernel = |fill: &str, take: &str, body: &str| {
        broken(&format!(
            "#[device]
            fn fill(t: u32) {{ {fill} }}
            #[device]
            fn take(t: u32) -> u32 {{ {take} }}
            #[device]
            fn both(t: u32) -> u32 {{ fill(t); this_thread_block().sync(); take(t) }}
            #[cluster_kernel(block = 64)]
            fn threads(out: &mut [u32]) {{
                let t = this_thread_block().thread_rank();
                {body}
            }}"
        ))
    };
    let (all, slice) = ("dynamic_shared::<u32>()", "dynamic_shared_slice::<u32>(0, 64)");
    for memory in [all, slice] {
        let fill = format!("let mem = {memory}; mem[t] = t;");
        let (own, other) = (format!("{memory}[t]"), format!("{memory}[63 - t]"));
        for (take, body, expected) in [
            (&other, "fill(t); out[t] = take(t);", true),
            (&other, "fill(t); this_thread_block().sync(); out[t] = take(t);", false),
            (&own, "fill(t); out[t] = take(t);", false),
            (&other, "out[t] = both(t);", false),
            (&other, "out[t] = both(t); fill(t);", true),
            (&other, &format!("fill(t); let mem = {memory}; out[t] = mem[63 - t];"), true),
            (&other, &format!("fill(t); let mem = {memory}; out[t] = mem[t];"), false),
            (&other, &format!("let mem = {memory}; mem[63 - t] = t; fill(t); out[t] = t;"), true),
        ] {
            let found = kernel(&fill, take, body);
            assert_eq!(found, vec!["unsynchronized_access"; usize::from(expected)], "{fill} {take} {body}");
        }
    }
}

/// The elements of an array that a closure makes are what the closure returns, as uniform as that, and read what it reads.
#[test]
fn arrays_that_closures_make() {
    let each = |value: &str| {
        format!("let a: [u32; 3] = std::array::from_fn(|k| {value}); if a[1] > 4 {{ cluster.sync(); }} v += a[0];")
    };
    right_but_not_with(&kernel("", &each("n + k as u32")), ("n + k", "t + k"));
    // What the peer is about to write is read before it may.
    let each = "let a: [u32; 3] = std::array::from_fn(|k| far[cur][k] + 1); cluster.sync();
        s[cur][t] = a[1] + a[2]; cluster.sync();";
    right_but_not_with(&kernel("", each), ("+ 1); cluster.sync();", "+ 1);"));
    let rows = "let a: [[u32; 2]; 2] = std::array::from_fn(|i| std::array::from_fn(|j| far[cur][2 * i + j]));
        cluster.sync(); s[cur][t] = a[1][0]; cluster.sync();";
    right_but_not_with(&kernel("", rows), ("cluster.sync(); s[cur]", "s[cur]"));
}
