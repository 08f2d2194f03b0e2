//! The capabilities of a device. The limits that all Hopper devices share are with the checks of a launch.

use std::ops::Range;

use phalanx_contract::capability::Capability;

/// The facts of a device that a launch depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caps {
    /// The device's name, as the driver reports it.
    pub(crate) name: String,
    /// The compute capability.
    pub(crate) capability: (i32, i32),
    /// The shared memory, static and dynamic, that a block may opt in to, in bytes.
    pub(crate) shared_bytes: usize,
    /// The device's memory, in bytes.
    pub(crate) memory_bytes: usize,
}

impl Caps {
    /// Returns the capabilities of an H100. The simulator enforces them, so that what runs there fits a real device.
    pub(crate) fn h100() -> Caps {
        Caps { name: "simulator".into(), capability: (9, 0), shared_bytes: 227 * 1024, memory_bytes: 80 << 30 }
    }

    /// Whether blocks form clusters.
    pub(crate) fn has_clusters(&self) -> bool {
        Capability::Clusters.is_met_by(self.capability)
    }

    /// Returns what NVRTC compiles for: the device itself. From Hopper on, the `a` unlocks features of that generation
    /// only.
    pub(crate) fn architecture(&self) -> String {
        let (major, minor) = self.capability;
        format!("sm_{major}{minor}{}", if self.has_clusters() { "a" } else { "" })
    }

    /// Returns the compute capability that a name of an architecture has: `sm_89`, `sm_90a`, `sm_100f`.
    pub(crate) fn capability_of(architecture: &str) -> Option<(i32, i32)> {
        let digits = architecture.strip_prefix("sm_")?;
        let number: u16 = digits.strip_suffix(['a', 'f']).unwrap_or(digits).parse().ok()?;
        (80..1000).contains(&number).then_some((i32::from(number / 10), i32::from(number % 10)))
    }

    /// Returns whether this is what [`Caps::architecture`] returns for some GPU: a later one of the same generation runs no code
    /// for an earlier one.
    pub(crate) fn is_asked_for(architecture: &str) -> bool {
        let is_number = |digits: &str, of: Range<u32>| {
            digits.bytes().all(|digit| digit.is_ascii_digit())
                && digits.parse().is_ok_and(|number| of.contains(&number))
        };
        architecture.strip_prefix("sm_").is_some_and(|rest| match rest.strip_suffix('a') {
            Some(digits) => is_number(digits, 90..1000),
            None => is_number(rest, 80..90),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_those_of_gpus() {
        assert!(Caps::is_asked_for(&Caps::h100().architecture()));
        assert!(["sm_80", "sm_89", "sm_100a", "sm_103a", "sm_120a"].map(Caps::is_asked_for).iter().all(|is| *is));
        let capabilities = ["sm_80", "sm_90a", "sm_100f", "sm_121a", "sm_75", "90a"].map(Caps::capability_of);
        assert_eq!(capabilities, [Some((8, 0)), Some((9, 0)), Some((10, 0)), Some((12, 1)), None, None]);
        for wrong in ["sm_90", "sm_89a", "sm_75", "90a", "sm_a", "sm_+90a", "sm_9000a", "compute_90a", ""] {
            assert!(!Caps::is_asked_for(wrong), "{wrong}");
        }
    }
}
