//! Extracts the machine code of a kernel from its CUBIN. The caller interprets the instructions.

/// Returns the instructions of a kernel, by its entry's name: the section `.text.name` of an ELF file of 64 bits, the low and the
/// high half of each. The blocks that write the record of a failure, which begin by claiming it and end the thread, are left out.
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
    without_failures(code.collect())
}

fn without_failures(mut code: Vec<[u64; 2]>) -> Vec<[u64; 2]> {
    let claims = |[low, high]: &[u64; 2]| low & 0xfff == ATOMIC_GLOBAL && high >> 23 & 15 == EXCHANGE;
    let ends_block = |[low, _]: &[u64; 2]| ENDS_OF_BLOCKS.contains(&(low & 0xfff));
    let exits = |[low, _]: &[u64; 2]| low & 0xffff == EXIT | ALWAYS;
    while let Some(claim) = code.iter().position(claims) {
        let start = code[..claim].iter().rposition(ends_block).map_or(0, |before| before + 1);
        let end = code[claim..].iter().position(exits).map_or(code.len(), |exit| claim + exit + 1);
        code.drain(start..end);
    }
    code
}

/// The operation `EXIT`, by the lowest 12 bits, and the four bits above them without a predicate.
const EXIT: u64 = 0x94d;
const ALWAYS: u64 = 7 << 12;
/// The operations that end a block: `BRA`, `BSYNC`, `EXIT`.
const ENDS_OF_BLOCKS: [u64; 3] = [0x947, 0x941, EXIT];

/// The operation `ATOMG`, by the lowest 12 bits; the four bits from bit 87 say which atomic.
pub const ATOMIC_GLOBAL: u64 = 0x9a8;
const EXCHANGE: u64 = 8;
