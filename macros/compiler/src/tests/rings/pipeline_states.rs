//! The stage and the phase of a ring, kept in every form that a program may keep them in: a proof does not depend on the form, nor does
//! a fault's message.

/// Where the rounds' state lives: the types and functions, how it begins for the loads (their first phase is `FIRST`) and for the
/// threads that read, the loop, the stage, the parity, and how it goes on.
struct Form {
    items: &'static str,
    loads: &'static str,
    reads: &'static str,
    rounds: &'static str,
    stage: &'static str,
    parity: &'static str,
    next: &'static str,
}

const STRUCT: &str = "#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct State { stage: u32, phase: u32 }";
const GENERIC: &str =
    "#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct State<const N: u32> { stage: u32, phase: u32 }";
const ADVANCE: &str =
    "fn advance(&mut self) { self.stage += 1; if self.stage == 3 { self.stage = 0; self.phase ^= 1; } }";
const ADVANCE_N: &str =
    "fn advance(&mut self) { self.stage += 1; if self.stage == N { self.stage = 0; self.phase ^= 1; } }";

/// A struct with a method that changes it, whose items and beginnings the forms replace.
const METHOD: Form = Form {
    items: "STRUCT #[device] impl State { ADVANCE }",
    loads: "let mut state = State { stage: 0, phase: FIRST };",
    reads: "let mut state = State { stage: 0, phase: 0 };",
    rounds: "for k in 0..n",
    stage: "state.stage",
    parity: "state.phase == 1",
    next: "state.advance();",
};

/// Two locals.
const LOCALS: Form = Form {
    items: "",
    loads: "let (mut stage, mut phase) = (0, FIRSTu32);",
    reads: "let (mut stage, mut phase) = (0, 0u32);",
    stage: "stage",
    parity: "phase == 1",
    next: "",
    ..METHOD
};

/// A struct that one of its functions makes.
const MADE: Form =
    Form { loads: "let mut state = State::new(FIRST);", reads: "let mut state = State::new(0);", ..METHOD };

const FORMS: &[(&str, Form)] = &[
    ("a method", METHOD),
    (
        "in place",
        Form { next: "state.stage += 1; if state.stage == 3 { state.stage = 0; state.phase ^= 1; }", ..METHOD },
    ),
    (
        "made by a function",
        Form {
            items: "STRUCT #[device] impl State { fn new(phase: u32) -> Self { Self { stage: 0, phase } } ADVANCE }",
            ..MADE
        },
    ),
    (
        "made by two functions",
        Form {
            items: "STRUCT #[device] impl State { fn loads() -> State { State { stage: 0, phase: FIRST } } fn reads() -> State { State { stage: 0, phase: 0 } } ADVANCE }",
            loads: "let mut state = State::loads();",
            reads: "let mut state = State::reads();",
            ..METHOD
        },
    ),
    (
        "made from another",
        Form {
            items: "STRUCT #[device] impl State { fn zero() -> State { State { stage: 0, phase: 0 } } ADVANCE }",
            loads: "let mut state = State { phase: FIRST, ..State::zero() };",
            reads: "let mut state = State::zero();",
            ..METHOD
        },
    ),
    (
        "getters",
        Form {
            items: "STRUCT #[device] impl State { fn parity(&self) -> bool { self.phase == 1 } fn stage(self) -> u32 { self.stage } ADVANCE }",
            stage: "state.stage()",
            parity: "state.parity()",
            ..METHOD
        },
    ),
    (
        "by value",
        Form {
            items: "STRUCT #[device] impl State { fn next(mut self) -> Self { self.stage += 1; if self.stage == 3 { self.stage = 0; self.phase ^= 1; } self } }",
            next: "state = state.next();",
            ..METHOD
        },
    ),
    (
        "another of the kind",
        Form {
            items: "STRUCT #[device] impl State { fn next(self) -> State { if self.stage == 2 { State { stage: 0, phase: self.phase ^ 1 } } else { State { stage: self.stage + 1, ..self } } } }",
            next: "state = state.next();",
            ..METHOD
        },
    ),
    (
        "a function of the struct",
        Form {
            items: "STRUCT #[device] fn advance(state: &mut State) { state.stage += 1; if state.stage == 3 { state.stage = 0; state.phase ^= 1; } }",
            next: "advance(&mut state);",
            ..METHOD
        },
    ),
    (
        "a trait",
        Form {
            items: "STRUCT #[device] trait Advance { fn advance(&mut self); } #[device] impl Advance for State { ADVANCE }",
            ..METHOD
        },
    ),
    (
        "a generic struct",
        Form {
            items: "GENERIC #[device] impl<const N: u32> State<N> { ADVANCE_N }",
            loads: "let mut state = State::<3> { stage: 0, phase: FIRST };",
            reads: "let mut state = State::<3> { stage: 0, phase: 0 };",
            ..METHOD
        },
    ),
    (
        "a generic struct by its function",
        Form {
            items: "GENERIC #[device] impl<const N: u32> State<N> { fn new(phase: u32) -> Self { Self { stage: 0, phase } } ADVANCE_N }",
            loads: "let mut state = State::<3>::new(FIRST);",
            reads: "let mut state = State::<3>::new(0);",
            ..METHOD
        },
    ),
    (
        "a generic struct by its type",
        Form {
            items: "GENERIC #[device] impl<const N: u32> State<N> { fn new(phase: u32) -> Self { Self { stage: 0, phase } } ADVANCE_N }",
            loads: "let mut state: State<3> = State::new(FIRST);",
            reads: "let mut state: State<3> = State::new(0);",
            ..METHOD
        },
    ),
    (
        "another name for a type",
        Form {
            items: "GENERIC type Of3 = State<3>; #[device] impl<const N: u32> State<N> { fn new(phase: u32) -> Self { Self { stage: 0, phase } } ADVANCE_N }",
            loads: "let mut state = Of3::new(FIRST);",
            reads: "let mut state = Of3::new(0);",
            ..METHOD
        },
    ),
    (
        "counts the rounds itself",
        Form {
            items: "#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct State { stage: u32, phase: u32, count: u32 } #[device] impl State { fn advance(&mut self) { self.stage += 1; self.count += 1; if self.stage == 3 { self.stage = 0; self.phase ^= 1; } } }",
            loads: "let mut state = State { stage: 0, phase: FIRST, count: 0 };",
            reads: "let mut state = State { stage: 0, phase: 0, count: 0 };",
            rounds: "while state.count < n",
            ..METHOD
        },
    ),
    (
        "a function that returns both",
        Form {
            items: "#[device] fn next(stage: u32, phase: u32) -> (u32, u32) { if stage == 2 { (0, phase ^ 1) } else { (stage + 1, phase) } }",
            next: "(stage, phase) = next(stage, phase);",
            ..LOCALS
        },
    ),
    (
        "a function that changes both",
        Form {
            items: "#[device] fn next(stage: &mut u32, phase: &mut u32) { *stage += 1; if *stage == 3 { *stage = 0; *phase ^= 1; } }",
            next: "next(&mut stage, &mut phase);",
            ..LOCALS
        },
    ),
    (
        "a tuple",
        Form {
            items: "#[device] fn next(state: (u32, u32)) -> (u32, u32) { let (stage, phase) = state; if stage == 2 { (0, phase ^ 1) } else { (stage + 1, phase) } }",
            loads: "let mut state = (0, FIRSTu32);",
            reads: "let mut state = (0, 0u32);",
            stage: "state.0",
            parity: "state.1 == 1",
            next: "state = next(state);",
            ..METHOD
        },
    ),
    ("phases of stages", PHASES),
    (
        "phases that are listed",
        Form { loads: "let mut phases = [FIRST, FIRST, FIRST];", reads: "let mut phases = [0, 0, 0u32];", ..PHASES },
    ),
    (
        "as many phases as a constant says",
        Form {
            items: "const DEPTH: usize = 3;",
            loads: "let mut phases = [FIRST; DEPTH];",
            reads: "let mut phases = [0; DEPTH];",
            ..PHASES
        },
    ),
    (
        "truth values of stages",
        Form {
            loads: "let mut phases = [HOLDS; 3];",
            reads: "let mut phases = [false; 3];",
            parity: "phases[k % 3]",
            next: "phases[k % 3] = !phases[k % 3];",
            ..PHASES
        },
    ),
    (
        "a constant",
        Form {
            items: "const DEPTH: u32 = 3;",
            next: "stage = (stage + 1) % DEPTH; if stage == 0 { phase ^= 1; }",
            ..LOCALS
        },
    ),
];

/// A local array with the phase of each stage.
const PHASES: Form = Form {
    items: "",
    loads: "let mut phases = [FIRST; 3];",
    reads: "let mut phases = [0; 3];",
    stage: "(k % 3)",
    parity: "phases[k % 3] == 1",
    next: "phases[k % 3] ^= 1;",
    ..METHOD
};

/// The items and the kernel of a ring that keeps its state in a form.
fn ring(form: &Form, first: &str) -> (String, String) {
    let kernel = "
        #[cluster_kernel(block = 64)]
        fn ring(x: &[f32], y: &mut [f32], n: u32) {
            let block = this_thread_block();
            let i = block.thread_rank();
            let tiles = shared_array::<[f32; 32], 3>();
            let (full, empty) = (shared_barriers::<3>(), shared_barriers::<3>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            if i == 32 {
                LOADS
                ROUNDS {
                    empty[STAGE].wait_parity(PARITY);
                    full[STAGE].expect_tx(128);
                    bulk_copy_async(&tiles[STAGE], &x[..32], &full[STAGE]);
                    let _ = full[STAGE].arrive();
                    NEXT
                }
            } else if i < 32 {
                READS
                ROUNDS {
                    full[STAGE].wait_parity(PARITY);
                    y[i] = tiles[STAGE][i];
                    let _ = empty[STAGE].arrive();
                    NEXT
                }
            }
        }";
    let words = [
        ("LOADS", form.loads),
        ("READS", form.reads),
        ("ROUNDS", form.rounds),
        ("STAGE", form.stage),
        ("PARITY", form.parity),
        ("NEXT", form.next),
        ("STRUCT", STRUCT),
        ("GENERIC", GENERIC),
        ("ADVANCE_N", ADVANCE_N),
        ("ADVANCE", ADVANCE),
        ("HOLDS", if first == "1" { "true" } else { "false" }),
        ("FIRST", first),
    ];
    let with_words = |text: &str| words.iter().fold(text.to_string(), |text, (word, is)| text.replace(word, is));
    (with_words(form.items), with_words(kernel))
}

fn verdict(form: &Form, first: &str) -> String {
    let (items, kernel) = ring(form, first);
    super::verdict(&items, &kernel)
}

#[test]
fn every_form_is_followed() {
    for (name, form) in FORMS {
        assert_eq!([verdict(form, "1"), verdict(form, "0")], ["proved", "ring_deadlock"], "{name}");
    }
}
