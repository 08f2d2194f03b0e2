//! Extracts the machine code of a kernel from its CUBIN. The caller interprets the instructions. What a failing thread writes is left
//! out of the texts before: its stores would be counted.

use std::sync::Once;

use phalanx::__private::{Header, Replacement, replace};

/// Returns the instructions of a kernel, by its entry's name: the section `.text.name` of an ELF file of 64 bits, the low and the
/// high half of each.
pub fn of(cubin: &[u8], entry: &str) -> Vec<[u64; 2]> {
    let number = |at: usize, bytes: usize| -> usize {
        cubin[at..at + bytes].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
    };
    let (sections, size, count, names) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2), number(0x3e, 2));
    let section = |index: usize| {
        let at = sections + index * size;
        (number(at, 4), number(at + 0x18, 8), number(at + 0x20, 8))
    };
    let (_, names, _) = section(names);
    let wanted = format!(".text.{entry}\0");
    let found = (0..count).map(section).find(|(name, ..)| cubin[names + name..].starts_with(wanted.as_bytes()));
    let (_, start, length) = found.expect("a section for the kernel");
    let code = (start..start + length).step_by(16).map(|at| [number(at, 8) as u64, number(at + 8, 8) as u64]);
    code.collect()
}

/// Makes failing threads exit without a record from now on, in everything that is compiled.
pub fn without_records() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let text = include_str!("../../../runtime/src/program/cuda/phalanx/failure.cuh");
        let text = without(
            text,
            "    asm volatile(\"{\\n\"\n                 \".reg .b32 claimed",
            "    end_thread(launch);\n",
        );
        let text = without(
            &text,
            "    failure_record* record = begin_failure(launch, cause",
            "    end_failure(launch, record);\n",
        );
        let text = text.replace(
            "    end_failure(launch, record);\n}\n\n// Overloads",
            "    end_thread(launch);\n}\n\n// Overloads",
        );
        let headers = vec![Header { path: "phalanx/failure.cuh", text: text.leak() }];
        // SAFETY: nothing of what is compiled runs.
        unsafe { replace(Replacement { headers, ..Replacement::default() }) };
    });
}

/// Returns the text without what is from the first words to just before the next ones.
fn without(text: &str, first: &str, next: &str) -> String {
    let (before, rest) = text.split_once(first).expect("the prelude writes a record there");
    let (_, after) = rest.split_once(next).expect("and ends the thread");
    format!("{before}{next}{after}")
}

/// The operation `ATOMG`, by the lowest 12 bits; the four bits from bit 87 say which atomic.
pub const ATOMIC_GLOBAL: u64 = 0x9a8;
