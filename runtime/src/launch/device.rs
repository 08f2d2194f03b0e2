//! The device that kernels run on: a GPU, or the simulator on this machine. One type stands for both, so that a program
//! chooses at run time. `gpu` and `sim` run the kernels.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::host::Host;
use crate::gpu::Gpu;
use crate::gpu::caps::Caps;
use crate::report::error::{Error, Result};
use crate::report::warning::Warning;
use crate::sim::Simulator;

/// A GPU that supports clusters, or the simulator. Clones are handles of the same device.
///
/// ```
/// use phalanx::Device;
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let buffer = device.upload(&[1, 2, 3])?;
/// assert_eq!(buffer.read()?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Device {
    pub(crate) target: Target,
}

#[derive(Clone)]
pub(crate) enum Target {
    Gpu(Arc<Gpu>),
    Simulator(Arc<Host>),
}

impl Device {
    /// Opens the GPU with this ordinal, counted from 0 as the driver does (`CUDA_VISIBLE_DEVICES` applies). From compute capability 8.0 on, it runs
    /// the kernels that do without what it lacks: the launch of another one is an error that names the line.
    pub fn gpu(ordinal: usize) -> Result<Device> {
        Gpu::open(ordinal).map(|gpu| Device { target: Target::Gpu(gpu) })
    }

    /// Opens all GPUs that support clusters, in the driver's order (`CUDA_VISIBLE_DEVICES` applies).
    pub fn gpus() -> Result<Vec<Device>> {
        (0..Gpu::count()?).map(Device::gpu).filter(Device::may_have_clusters).collect()
    }

    /// Returns whether a GPU has clusters, or could not be opened for another reason.
    fn may_have_clusters(opened: &Result<Device>) -> bool {
        match opened {
            Ok(device) => device.caps().has_clusters(),
            Err(error) => !matches!(error, Error::CapabilityTooLow { .. }),
        }
    }

    /// Returns whether kernels on this device can access the memory of another one, once [`Device::enable_access`] allows it: GPUs that NVLink or
    /// PCIe connect, most often.
    pub fn can_access(&self, peer: &Device) -> Result<bool> {
        match (&self.target, &peer.target) {
            (Target::Gpu(gpu), Target::Gpu(peer)) if gpu.ordinal() != peer.ordinal() => gpu.can_access(peer),
            _ => Ok(self.shares_memory(peer)),
        }
    }

    /// Lets kernels on this device access the memory of another one: buffers of that device are arguments of launches on this one from then on.
    /// Copies between devices, [`Stream::copy`](crate::Stream::copy), need no such access, and are faster with it.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 32)]
    /// fn add(other: &[u32], own: &mut [u32]) {
    ///     let i = this_grid().thread_rank();
    ///     own[i] += other[i];
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let (first, second) = (Device::simulator(), Device::simulator()); // or two of `Device::gpus()?`
    /// let (theirs, mut own) = (second.upload(&[2; 64])?, first.upload(&[3; 64])?);
    /// if first.can_access(&second)? {
    ///     first.enable_access(&second)?;
    ///     add(&theirs, &mut own).grid(2).launch(&first)?;
    ///     assert_eq!(own.read()?, [5; 64]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn enable_access(&self, peer: &Device) -> Result<()> {
        match (&self.target, &peer.target) {
            (Target::Gpu(gpu), Target::Gpu(peer)) if gpu.ordinal() != peer.ordinal() => gpu.enable_access(peer),
            _ if self.shares_memory(peer) => Ok(()),
            _ => Err(Error::NoPeerAccess { device: self.to_string(), peer: peer.to_string() }),
        }
    }

    /// Returns whether kernels on this device may access the memory of another one.
    pub(crate) fn accesses(&self, other: &Device) -> bool {
        match (&self.target, &other.target) {
            (Target::Gpu(gpu), Target::Gpu(peer)) => gpu.ordinal() == peer.ordinal() || gpu.accesses(peer),
            (Target::Simulator(_), _) | (_, Target::Simulator(_)) => self.shares_memory(other),
        }
    }

    /// Returns the simulator, which needs no GPU and no CUDA. The environment variable `PHALANX_SCHEDULE` may name the
    /// [`Schedule`](crate::Schedule), as a report does; the default is round robin.
    pub fn simulator() -> Device {
        Device::simulator_with(default_simulator())
    }

    /// Returns a simulator with this configuration.
    pub fn simulator_with(simulator: Simulator) -> Device {
        Device::host(simulator, None)
    }

    /// Opens the first GPU that supports clusters, or returns the simulator if there is none. [`Device::description`]
    /// says which, and why.
    pub fn auto() -> Device {
        let first = |count| (0..count).map(Device::gpu).find(Device::may_have_clusters);
        match Gpu::count().map(first) {
            Ok(Some(Ok(device))) => device,
            Ok(Some(Err(error))) | Err(error) => Device::host(default_simulator(), Some(cause(&error))),
            Ok(None) => Device::host(default_simulator(), Some("no GPU of compute capability 9.0 or later".into())),
        }
    }

    fn host(simulator: Simulator, reason: Option<String>) -> Device {
        Device { target: Target::Simulator(Arc::new(Host::new(simulator, reason))) }
    }

    /// Describes the device: `GPU 0 (NVIDIA H100 80GB HBM3)`, `simulator`, or `simulator (..)` with the reason why
    /// [`Device::auto`] selected no GPU.
    pub fn description(&self) -> String {
        match &self.target {
            Target::Gpu(gpu) => gpu.to_string(),
            Target::Simulator(host) => match &host.reason {
                Some(reason) => format!("simulator ({reason})"),
                None => "simulator".into(),
            },
        }
    }

    /// Returns whether kernels run in the simulator.
    pub fn is_simulator(&self) -> bool {
        matches!(self.target, Target::Simulator(_))
    }

    /// Waits until all launches on all streams have ended, and returns the failure of the first kernel that failed: of the default stream, and
    /// then of the others in the order of their creation.
    pub fn synchronize(&self) -> Result<()> {
        match &self.target {
            Target::Gpu(gpu) => gpu.synchronize(),
            Target::Simulator(host) => host.synchronize(),
        }
    }

    /// Waits for all work on the device, also that of other libraries, and leaves failures to those who wait for them. Returns whether all has ended.
    #[cfg(feature = "gpu")]
    pub(super) fn has_been_left(&self) -> bool {
        match &self.target {
            Target::Gpu(gpu) => gpu.has_been_left(),
            Target::Simulator(_) => true,
        }
    }

    /// Sets the [deadline](crate::Launch::deadline) of launches that wait for their end, by `launch`, and name none. The default is `None`, so that
    /// a kernel may take any time. `enqueue` has no deadline but that of its launch, because nobody may be there to end it. All handles of a GPU share it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use phalanx::prelude::*;
    ///
    /// /// Waits for a flag that nobody sets.
    /// #[cluster_kernel(block = 32)]
    /// fn forever(flag: &mut [u32]) {
    ///     while flag.atomic(0).load(Acquire) == 0 {}
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// device.set_deadline(Some(Duration::from_secs(10)));
    /// let error = forever(&mut device.zeros(1)?).grid(1).launch(&device).unwrap_err();
    /// assert!(error.to_string().contains("at its deadline of 10s"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_deadline(&self, after: Option<Duration>) {
        *self.deadline_cell().lock().unwrap_or_else(PoisonError::into_inner) = after;
    }

    /// Returns the deadline of launches that wait and name none.
    pub(super) fn deadline(&self) -> Option<Duration> {
        *self.deadline_cell().lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deadline_cell(&self) -> &Mutex<Option<Duration>> {
        match &self.target {
            Target::Gpu(gpu) => gpu.deadline(),
            Target::Simulator(host) => &host.deadline,
        }
    }

    /// Passes the output of kernels on this device to `function`, instead of writing it to standard output. Each call
    /// has the text of one `print!`, or of one `println!` with its line feed.
    ///
    /// The calls come from [`Launch::launch`](crate::Launch::launch), [`Device::synchronize`] or
    /// [`Buffer::read`](crate::Buffer::read) when the launch has ended, even if it has failed. They are ordered by
    /// block, by thread in the block, and by statement. All handles of a GPU share the function.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 2)]
    /// fn hello(x: f32) {
    ///     println!("thread {}: {x:.2}", this_grid().thread_rank());
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let printed = Arc::new(Mutex::new(String::new()));
    /// let page = printed.clone();
    /// device.on_print(move |text| page.lock().unwrap().push_str(text));
    /// hello(0.125).grid(1).launch(&device)?;
    /// assert_eq!(*printed.lock().unwrap(), "thread 0: 0.12\nthread 1: 0.12\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_print(&self, function: impl Fn(&str) + Send + Sync + 'static) {
        match &self.target {
            Target::Gpu(gpu) => gpu.output().set(Arc::new(function)),
            Target::Simulator(host) => host.output.set(Arc::new(function)),
        }
    }

    /// Passes the warnings of launches on this device to `function`, instead of writing each to standard error once. The
    /// simulator warns of two plain writes that race although they store equal bytes
    /// ([`Simulator::equal_writes_race`](crate::Simulator::equal_writes_race)). A GPU gives no warnings.
    ///
    /// The calls come from the launch, after its output.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 32)]
    /// fn raise(flag: &mut [u32]) {
    ///     flag[0] = 1;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let races = Arc::new(Mutex::new(Vec::new()));
    /// let seen = races.clone();
    /// device.on_warning(move |warning| seen.lock().unwrap().push(warning.race.clone()));
    /// raise(&mut device.zeros(1)?).grid(1).launch(&device)?;
    /// assert_eq!(races.lock().unwrap()[0].bytes, 0..4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_warning(&self, function: impl Fn(&Warning) + Send + Sync + 'static) {
        match &self.target {
            Target::Gpu(_) => {}
            Target::Simulator(host) => host.warnings.set(Arc::new(function)),
        }
    }

    /// Returns whether both devices have the same memory. All simulators share the host's.
    pub(crate) fn shares_memory(&self, other: &Device) -> bool {
        match (&self.target, &other.target) {
            (Target::Gpu(a), Target::Gpu(b)) => a.ordinal() == b.ordinal(),
            (Target::Simulator(_), Target::Simulator(_)) => true,
            (Target::Gpu(_), Target::Simulator(_)) | (Target::Simulator(_), Target::Gpu(_)) => false,
        }
    }

    pub(crate) fn caps(&self) -> &Caps {
        match &self.target {
            Target::Gpu(gpu) => gpu.caps(),
            Target::Simulator(host) => &host.caps,
        }
    }
}

/// Returns the simulator with the schedule and the strictness that the environment names.
fn default_simulator() -> Simulator {
    let simulator = match std::env::var("PHALANX_EQUAL_WRITES").ok().as_deref() {
        Some("race") => Simulator::new().equal_writes_race(true),
        Some("allow") => Simulator::new().equal_writes_race(false),
        _ => Simulator::new(),
    };
    let named = std::env::var("PHALANX_SCHEDULE").ok();
    match named.map(|text| text.parse()) {
        None => simulator,
        Some(Ok(schedule)) => simulator.schedule(schedule),
        Some(Err(unknown)) => {
            eprintln!("PHALANX_SCHEDULE: {unknown}; threads run in turn");
            simulator
        }
    }
}

/// Returns the text of an error without the advice after its semicolon, which does not help a program that accepts any
/// device.
fn cause(error: &Error) -> String {
    error.to_string().split(';').next().unwrap_or_default().into()
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self})")
    }
}

/// Parses `auto`, `gpu`, `gpu:1` or `sim`, for a `--device` option.
///
/// ```
/// # use phalanx::Device;
/// let device: Device = "sim".parse().unwrap();
/// assert!(device.is_simulator());
/// assert!("cpu".parse::<Device>().is_err());
/// ```
impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Device> {
        match text {
            "auto" => Ok(Device::auto()),
            "gpu" => Device::gpu(0),
            "sim" => Ok(Device::simulator()),
            _ => match text.strip_prefix("gpu:").map(str::parse) {
                Some(Ok(ordinal)) => Device::gpu(ordinal),
                Some(Err(_)) | None => Err(Error::UnknownDevice(text.into())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_driver_auto_says_so() {
        if Gpu::count().is_ok() {
            return;
        }
        let device = Device::auto();
        assert!(device.is_simulator());
        assert!(device.to_string().starts_with("simulator (no CUDA driver"), "{device}");
        assert!(matches!(Device::gpu(0), Err(Error::DriverMissing)));
    }

    #[test]
    fn text_names_devices() {
        assert!(matches!("gpu:x".parse::<Device>(), Err(Error::UnknownDevice(_))));
        assert_eq!("sim".parse::<Device>().unwrap().to_string(), "simulator");
    }
}
