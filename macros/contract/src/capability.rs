//! What operations need of a GPU, where that is more than compute capability 8.0 (PTX ISA, target ISA notes of each instruction). The compiler
//! knows which, and at which line; the runtime knows the GPU.

/// The GPUs that have an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Those of compute capability 9.0 and later: clusters, asynchronous copies in bulk and what came with them.
    Clusters,
    /// Those of compute capability 9.0 alone, for which the text is compiled for `sm_90a`: products of warpgroups.
    Warpgroups,
}

impl Capability {
    /// Whether a GPU of this compute capability has it.
    pub const fn is_met_by(self, (major, _): (i32, i32)) -> bool {
        match self {
            Capability::Clusters => major >= 9,
            Capability::Warpgroups => major == 9,
        }
    }

    /// Returns what is needed, for a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Capability::Clusters => "compute capability 9.0 or later",
            Capability::Warpgroups => "compute capability 9.0 alone",
        }
    }
}

/// Returns the compute capability that the name of an architecture has, of 8.0 or later: `sm_89`, `sm_90a`, `sm_100f`.
pub fn of_architecture(name: &str) -> Option<(i32, i32)> {
    let digits = name.strip_prefix("sm_")?;
    let number: u16 = digits.strip_suffix(['a', 'f']).unwrap_or(digits).parse().ok()?;
    (80..1000).contains(&number).then_some((i32::from(number / 10), i32::from(number % 10)))
}

/// An operation of a function that not every GPU has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// What it needs.
    pub capability: Capability,
    /// What it is, for a sentence.
    pub what: &'static str,
    /// The line of the operation, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_capabilities() {
        let found = ["sm_80", "sm_90a", "sm_100f", "sm_121a", "sm_75", "90a", "sm_90aa", ""].map(of_architecture);
        assert_eq!(found, [Some((8, 0)), Some((9, 0)), Some((10, 0)), Some((12, 1)), None, None, None, None]);
    }

    #[test]
    fn hopper_alone_has_products_of_warpgroups() {
        let met =
            |capability: Capability| [(8, 0), (8, 9), (9, 0), (10, 0), (12, 1)].map(|of| capability.is_met_by(of));
        assert_eq!(met(Capability::Clusters), [false, false, true, true, true]);
        assert_eq!(met(Capability::Warpgroups), [false, false, true, false, false]);
    }
}
