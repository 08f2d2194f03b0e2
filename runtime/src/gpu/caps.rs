//! The capabilities of a device. The limits that all Hopper devices share are with the checks of a launch.

use phalanx_contract::capability::{self, Capability};

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
        architecture_of(self.capability)
    }

    /// Returns whether this is what [`Caps::architecture`] returns for some GPU: a later one of the same generation runs no code
    /// for an earlier one.
    pub(crate) fn is_asked_for(architecture: &str) -> bool {
        capability::of_architecture(architecture).is_some_and(|of| architecture_of(of) == architecture)
    }
}

fn architecture_of(capability: (i32, i32)) -> String {
    let (major, minor) = capability;
    format!("sm_{major}{minor}{}", if Capability::Clusters.is_met_by(capability) { "a" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_those_of_gpus() {
        assert!(Caps::is_asked_for(&Caps::h100().architecture()));
        assert!(["sm_80", "sm_89", "sm_100a", "sm_103a", "sm_120a"].map(Caps::is_asked_for).iter().all(|is| *is));
        for wrong in ["sm_90", "sm_89a", "sm_75", "90a", "sm_a", "sm_+90a", "sm_9000a", "compute_90a", ""] {
            assert!(!Caps::is_asked_for(wrong), "{wrong}");
        }
    }
}
