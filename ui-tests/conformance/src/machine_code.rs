//! Extracts the machine code of a kernel from its CUBIN. The caller interprets the instructions.

/// Returns the instructions of a kernel, by its entry's name: the section `.text.name` of an ELF file of 64 bits, the low and the
/// high half of each. The functions behind the kernel that write the record of a failure, which begin by claiming it, are left out.
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
    code.take_while(|[low, high]| low & 0xfff != ATOMIC_GLOBAL || high >> 23 & 15 != EXCHANGE).collect()
}

/// The operation `ATOMG`, by the lowest 12 bits; the four bits from bit 87 say which atomic.
pub const ATOMIC_GLOBAL: u64 = 0x9a8;
const EXCHANGE: u64 = 8;
