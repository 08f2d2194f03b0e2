//! What one device can do. The limits that all Hopper devices share are written where a launch checks them.

/// The facts of a device that a launch depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caps {
    /// As the driver calls it.
    pub(crate) name: String,
    /// Compute capability.
    pub(crate) capability: (i32, i32),
    /// Bytes of shared memory, static and dynamic, that a block may have when it opts in.
    pub(crate) shared_bytes: usize,
}

impl Caps {
    /// An H100's, which the simulator keeps to, so that what runs there fits a real device.
    pub(crate) fn h100() -> Caps {
        Caps { name: "simulator".into(), capability: (9, 0), shared_bytes: 227 * 1024 }
    }

    /// What NVRTC compiles for: the device itself. From Hopper on, the `a` unlocks what only that generation has.
    pub(crate) fn architecture(&self) -> String {
        let (major, minor) = self.capability;
        format!("sm_{major}{minor}a")
    }
}
