//! Times of launches on a GPU, by CUDA events. Launches of several kernels alternate, so that what changes over time,
//! such as the clock, changes for all of them alike.

use std::sync::Arc;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DevicePtr};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::twin::{Argument, Call, Twin, Twins};

/// The launches of each kernel that are timed.
const ROUNDS: usize = 31;
/// The launches of each kernel before those.
const WARM: usize = 5;
/// The bytes of the copy that keeps the GPU busy while the host enqueues the first launches.
const LEAD: usize = 1 << 30;

/// The times of a kernel's launches, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The median.
    pub median: f64,
    /// The first quartile.
    pub low: f64,
    /// The third quartile.
    pub high: f64,
}

impl Times {
    /// Returns the quartiles of times in microseconds.
    pub fn of(mut times: Vec<f64>) -> Times {
        times.sort_by(f64::total_cmp);
        let at = |part: usize| times[(times.len() - 1) * part / 4];
        Times { median: at(2), low: at(1), high: at(3) }
    }
}

/// Returns the kernel whose bandwidth is the floor.
pub fn copy() -> Twin {
    Twin::new("copy", include_str!("../twins/copy.cu"))
}

/// A clock for launches on one stream.
pub struct Clock {
    stream: Arc<CudaStream>,
    lead: CudaSlice<u8>,
    copy: CudaSlice<u8>,
}

impl Clock {
    /// Allocates what the clock copies.
    pub fn new(stream: Arc<CudaStream>) -> Result<Clock> {
        let (lead, copy) = (stream.alloc_zeros(LEAD)?, stream.alloc_zeros(LEAD)?);
        Ok(Clock { stream, lead, copy })
    }

    /// Returns the times of `kernels`, each of which enqueues the launch of a round.
    pub fn time(&mut self, kernels: &mut [&mut dyn FnMut(usize) -> Result<()>]) -> Result<Vec<Times>> {
        for round in 0..WARM {
            for kernel in &mut *kernels {
                kernel(round)?;
            }
        }
        self.stream.synchronize()?;
        // The host must be ahead of the GPU, or the time between two events includes the host's.
        for _ in 0..2 {
            self.stream.memcpy_dtod(&self.lead, &mut self.copy)?;
        }
        let mut events: Vec<Vec<(CudaEvent, CudaEvent)>> = kernels.iter().map(|_| Vec::new()).collect();
        let count = kernels.len();
        for round in 0..ROUNDS {
            for turn in 0..count {
                // No kernel always follows the same one.
                let at = (turn + round) % count;
                let event = || self.stream.context().new_event(Some(CU_EVENT_DEFAULT));
                let (start, end) = (event()?, event()?);
                start.record(&self.stream)?;
                kernels[at](round)?;
                end.record(&self.stream)?;
                events[at].push((start, end));
            }
        }
        self.stream.synchronize()?;
        let micros = |(start, end): &(CudaEvent, CudaEvent)| Ok(f64::from(start.elapsed_ms(end)?) * 1e3);
        events.iter().map(|pairs| Ok(Times::of(pairs.iter().map(micros).collect::<Result<_>>()?))).collect()
    }

    /// Returns the bandwidth of a copy within the GPU, in bytes per microsecond with both directions counted: the better
    /// of the driver's copy and a kernel's that copies 16 bytes a thread.
    pub fn copy_bandwidth(&mut self, twins: &Twins) -> Result<f64> {
        let stream = self.stream.clone();
        let (from, mut to) = (stream.alloc_zeros::<u8>(LEAD)?, stream.alloc_zeros::<u8>(LEAD)?);
        let addresses = [from.device_ptr(&stream).0, to.device_ptr(&stream).0];
        let kernel = twins.load(&copy())?;
        let grid = (LEAD / 16 / 256) as u32;
        let mut call = twins.prepare(&kernel, &Call::new(grid, 256, addresses.map(Argument::Word)))?;
        let times = self.time(&mut [&mut |_| Ok(stream.memcpy_dtod(&from, &mut to)?), &mut |_| call.launch()])?;
        Ok(2.0 * LEAD as f64 / times[0].median.min(times[1].median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_quartiles() {
        let times = Times::of((0..31).rev().map(f64::from).collect());
        assert_eq!(times, Times { median: 15.0, low: 7.0, high: 22.0 });
    }
}
