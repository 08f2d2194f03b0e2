//! For tests: every device that this machine has, which are the simulator, and a GPU with clusters where there is one.

use std::sync::{Mutex, PoisonError};

use super::Device;

/// Runs a test on each device. It is alone on the GPU, where a failure of what it enqueues would be reported to another.
pub(super) fn on_each_device(test: impl Fn(&Device)) {
    static GPU: Mutex<()> = Mutex::new(());
    test(&Device::simulator());
    let auto = Device::auto();
    if auto.is_simulator() {
        eprintln!("not run on a GPU: {auto}");
    } else {
        let _alone = GPU.lock().unwrap_or_else(PoisonError::into_inner);
        test(&auto);
    }
}
