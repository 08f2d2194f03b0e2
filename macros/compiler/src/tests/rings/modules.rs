//! Rings whose stages, parities and sizes other modules of the file define, and rows of a type with another name: right ones are proved, and
//! each mistake is found under the condition that the names mean what the file shows.

use super::verdict;
use crate::tests::session;

const RING: &str = "mod ring {
        use phalanx::prelude::*;
        pub const STAGES: u32 = 4;
        pub const AHEAD: u32 = STAGES - 1;
        pub const ROWS: usize = 2;
        pub const COLUMNS: usize = 32;
        pub const BYTES: u32 = (ROWS * COLUMNS * size_of::<f32>()) as u32;
        #[device] pub fn stage(round: u32) -> u32 { round % STAGES }
        #[device] pub fn parity(round: u32) -> bool { turn::of(round) % 2 != 0 }
        pub mod turn {
            use super::*;
            #[device] pub fn of(round: u32) -> u32 { round / STAGES }
        }
    }
    type Rows = [[f32; ring::COLUMNS]; ring::ROWS];";

const KERNEL: &str = "#[cluster_kernel(block = 64)] fn prefetched(input: &[[f32; 32]], out: &mut [f32], rounds: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let tiles = shared_array::<Rows, { ring::STAGES as usize }>();
        let full = shared_barriers::<{ ring::STAGES as usize }>();
        full.init_collective(&block, 1);
        for round in 0..rounds + ring::AHEAD {
            if round < rounds && i == 0 {
                let s = ring::stage(round);
                full[s].expect_tx(ring::BYTES);
                bulk_copy_async(&tiles[s], &input[round * 2..round * 2 + 2], &full[s]);
                let _ = full[s].arrive();
            }
            if round >= ring::AHEAD {
                let done = round - ring::AHEAD;
                let s = ring::stage(done);
                full[s].wait_parity(ring::parity(done));
                out[done * 64 + i] = tiles[s][1 - i / 32][i % 32];
                block.sync();
            }
        }
    }";

/// Checks the ring in its file, and four mistakes in it.
#[track_caller]
fn check(ring: &str, kernel: &str) {
    assert_eq!(verdict(ring, kernel), "proved", "{ring}\n{kernel}");
    for (from, to, rule) in [
        ("(ROWS * COLUMNS", "((ROWS - 1) * COLUMNS", "ring_deadlock"),
        ("STAGES - 1", "STAGES", "ring_overwrite"),
        ("(done);", "(round);", "ring_deadlock"),
        ("block.sync();", "", "ring_read"),
    ] {
        let (ring, kernel) = (ring.replace(from, to), kernel.replace(from, to));
        assert_eq!(verdict(&ring, &kernel), rule, "{from} -> {to}\n{ring}\n{kernel}");
    }
}

#[test]
fn a_module_of_helpers() {
    check(RING, KERNEL);
}

/// Imports by name, all at once and under another name, and paths from the root and from the module itself.
#[test]
fn names_of_other_modules() {
    let bare = KERNEL.replace("ring::", "");
    let ring = RING.replace("ring::", "");
    check(&format!("use ring::*; {ring}"), &bare);
    check(&format!("use ring::{{stage, parity, STAGES, AHEAD, BYTES, ROWS, COLUMNS}}; {ring}"), &bare);
    check(&format!("use ring::stage as place; {RING}"), &KERNEL.replace("ring::stage", "place"));
    check(RING, &KERNEL.replace("ring::", "self::ring::"));
    check(RING, &KERNEL.replace("ring::", "crate::ring::"));
}

/// Assertions and panics in the functions keep nothing from being followed.
#[test]
fn functions_with_assertions() {
    let ring =
        RING.replace("{ round % STAGES }", "{ assert!(round < 1000, \"round {round}\"); round % STAGES }").replace(
            "{ turn::of(round) % 2 != 0 }",
            "{
            debug_assert!(round < 1000);
            assert_ne!(STAGES, 0);
            match turn::of(round) % 2 { 0 => false, 1 => true, _ => unreachable!(\"of {}\", round) }
        }",
        );
    assert_ne!(ring, RING);
    check(&ring, KERNEL);
    // What a message reads in memory is no part of the checks' text, so that the call stays.
    let reads = ring.replace("round {round}", "{}\", [round][0], \"");
    assert!(verdict(&reads, KERNEL).starts_with("open"), "{}", verdict(&reads, KERNEL));
}

/// What may mean something else is not followed: items under conditions, or that a macro may define, and what the caller may not name.
#[test]
fn what_is_not_known() {
    let not_followed = |ring: &str, kernel: &str| {
        let found = verdict(ring, kernel);
        assert!(found.starts_with("open"), "{found} of\n{ring}");
    };
    not_followed(&RING.replace("mod ring", "#[cfg(test)] mod ring"), KERNEL);
    not_followed(&RING.replace("#[device] pub fn stage", "#[cfg(test)] #[device] pub fn stage"), KERNEL);
    not_followed(&RING.replace("pub const STAGES", "const STAGES"), KERNEL);
    not_followed(&RING.replace("pub mod turn {", "pub mod turn { constants!();"), KERNEL);
    not_followed(&RING.replace("pub mod turn", "mod turn { pub fn of() {} } pub mod turn"), KERNEL);
    // A local of the body hides the function.
    let hidden = RING.replace("{ round % STAGES }", "{ let parity = round % STAGES; parity }");
    not_followed(&hidden, KERNEL);
}

/// Another name of a type in the size of a constant, of rows, and of a scalar.
#[test]
fn other_names_of_types() {
    let ring = RING.replace("(ROWS * COLUMNS * size_of::<f32>())", "size_of::<Rows>()");
    assert_eq!(verdict(&ring.replace("mod ring {", "mod ring { use super::Rows;"), KERNEL), "proved");
    let (ring, rows) = RING.split_once("type Rows").expect("the type is there");
    for other in [
        "type Word = f32; type Row = [Word; 32]; type Rows = [Row; 2];",
        "type Rows = [[f32; { ring::COLUMNS }]; ring::STAGES as usize / 2];",
    ] {
        check(&format!("{ring} {other}"), KERNEL);
    }
    // Without the definition, or with two.
    assert!(verdict(ring, KERNEL).starts_with("open"));
    assert!(verdict(&format!("{ring} type Rows {rows} mod other {{ type Rows = f32; }}"), KERNEL).starts_with("open"));
}

/// The faults are reported under the condition that rustc confirms: none, if the kernel is parsed without its file.
#[test]
fn without_the_file() {
    let faults = |file: &str| session().check_file(file).len();
    let wrong = KERNEL.replace("block.sync();", "");
    assert_eq!((faults(&format!("{RING} {wrong}")), faults(&format!("{RING} {KERNEL}")), faults(&wrong)), (1, 0, 0));
}

/// A position of another module, whose methods call functions that only that module may name.
const POSITION: &str = "mod ring {
        use phalanx::prelude::*;
        #[derive(Clone, Copy, DeviceCopy)] #[repr(C)] pub struct Position { index: u32, phase: u32 }
        #[device] impl Position {
            pub fn new(phase: u32) -> Self { Position { index: 0, phase } }
            pub fn stage(&self) -> u32 { self.index }
            pub fn parity(&self) -> bool { odd(self.phase) }
            pub fn advance(&mut self) { step(&mut self.index, &mut self.phase); }
        }
        #[device] fn odd(number: u32) -> bool { number % 2 == 1 }
        #[device] fn step(index: &mut u32, phase: &mut u32) {
            *index += 1;
            if *index == 2 { *index = 0; *phase += 1; }
        }
    }";

const POSITIONS: &str = "#[cluster_kernel(block = 64)] fn sums(input: &[u32], out: &mut [u32], rounds: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let stages = shared_array::<[u32; 32], 2>();
        let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
        full.init_collective(&block, 1);
        empty.init_collective(&block, 32);
        if i == 32 {
            let mut next = ring::Position::new(1);
            for k in 0..rounds {
                empty[next.stage()].wait_parity(next.parity());
                full[next.stage()].expect_tx(128);
                bulk_copy_async(&stages[next.stage()], &input[k * 32..k * 32 + 32], &full[next.stage()]);
                let _ = full[next.stage()].arrive();
                next.advance();
            }
        } else if i < 32 {
            let mut next = ring::Position::new(0);
            for k in 0..rounds {
                full[next.stage()].wait_parity(next.parity());
                out[k * 32 + i] = stages[next.stage()][i];
                let _ = empty[next.stage()].arrive();
                next.advance();
            }
        }
    }";

/// A right ring by positions is proved, and three mistakes in it are found.
#[track_caller]
fn check_positions(ring: &str, kernel: &str) {
    assert_eq!(verdict(ring, kernel), "proved", "{ring}\n{kernel}");
    for (from, to, rule) in [
        ("Position::new(1)", "Position::new(0)", "ring_deadlock"),
        ("*index == 2", "*index == 3", "ring_count"),
        ("number % 2 == 1", "number % 2 == 0", "ring_read"),
    ] {
        let (ring, kernel) = (ring.replace(from, to), kernel.replace(from, to));
        assert_eq!(verdict(&ring, &kernel), rule, "{from} -> {to}\n{ring}\n{kernel}");
    }
}

#[test]
fn methods_of_another_module() {
    check_positions(POSITION, POSITIONS);
    let bare = POSITIONS.replace("ring::", "");
    check_positions(&format!("use ring::Position; {POSITION}"), &bare);
    check_positions(&format!("use self::ring::*; {POSITION}"), &bare);
    // The methods stand in another module than the type.
    let (own, rest) = POSITION.split_once("#[device] impl").expect("an impl");
    let apart =
        format!("{own} }} mod ways {{ use phalanx::prelude::*; use super::ring::Position; #[device] impl{rest}");
    check_positions(&apart, POSITIONS);
}

/// What may mean something else is not followed.
#[test]
fn methods_that_are_not_known() {
    let not_followed = |ring: &str, kernel: &str| {
        let found = verdict(ring, kernel);
        assert!(found.starts_with("open"), "{found} of\n{ring}\n{kernel}");
    };
    not_followed(&POSITION.replace("#[device] fn odd", "#[cfg(test)] #[device] fn odd"), POSITIONS);
    not_followed(&POSITION.replace("#[device] fn odd", "items!(); #[device] fn even"), POSITIONS);
    not_followed(&POSITION.replace("pub struct", "#[cfg(test)] pub struct"), POSITIONS);
    not_followed(&POSITION.replace("pub struct", "pub enum Position {} pub struct"), POSITIONS);
    not_followed(&POSITION.replace("pub fn stage", "fn stage"), POSITIONS);
    // A type of the kernel's own module has the same name, and no methods.
    let bare = POSITIONS.replace("ring::", "");
    not_followed(&format!("pub struct Position; {POSITION}"), &bare);
    // A local has the name of the function that a method calls.
    not_followed(&POSITION.replace("{ odd(self.phase) }", "{ let odd = odd(self.phase); odd }"), POSITIONS);
}
