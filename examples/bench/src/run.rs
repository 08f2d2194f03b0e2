//! Runs the cases of a showcase: on a GPU it checks and times both kernels of each, in the simulator it checks ours and
//! compiles the twin.

use phalanx::Device;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::case::{Case, Scale, Showcase};
use crate::memory;
use crate::table::Row;
use crate::timing::Clock;
use crate::twin::Twins;

/// The measurements of one showcase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// The bandwidth of a copy, in bytes per microsecond.
    pub copy_bandwidth: f64,
    /// The rows of the table.
    pub rows: Vec<Row>,
    /// A sentence for each case that has no row because its result was wrong or a launch failed.
    pub failures: Vec<String>,
}

impl Measured {
    /// Joins what was measured of another showcase.
    pub fn join(&mut self, other: Measured) {
        self.copy_bandwidth = self.copy_bandwidth.max(other.copy_bandwidth);
        self.rows.extend(other.rows);
        self.failures.extend(other.failures);
    }
}

/// Measures a showcase on a GPU.
pub fn measure(showcase: &Showcase, device: &Device) -> Result<Measured> {
    let stream = memory::stream(device)?.ok_or("times are measured on a GPU")?;
    let (twins, mut clock) = (Twins::new(stream.clone()), Clock::new(stream)?);
    let mut measured = Measured { copy_bandwidth: clock.copy_bandwidth(&twins)?, ..Measured::default() };
    for case in (showcase.cases)(Scale::Full) {
        eprintln!("{}, {} {}, {}", showcase.name, case.size, case.unit, case.version);
        match row(showcase, &case, device, &twins, &mut clock) {
            Ok(row) => measured.rows.push(row),
            Err(error) => measured.failures.push(failure(showcase, &case, &*error)),
        }
    }
    Ok(measured)
}

fn row(showcase: &Showcase, case: &Case, device: &Device, twins: &Twins, clock: &mut Clock) -> Result<Row> {
    let mut prepared = (case.prepare)(device)?;
    let twin = twins.load(&case.twin)?;

    prepared.clear()?;
    prepared.ours(device, 0)?;
    device.synchronize()?;
    prepared.check().map_err(|error| format!("ours: {error}"))?;
    prepared.clear()?;
    twins.prepare(&twin, &prepared.twin(0))?.launch()?;
    device.synchronize()?;
    prepared.check().map_err(|error| format!("the twin: {error}"))?;

    let sets = prepared.sets();
    let mut calls = (0..sets).map(|set| twins.prepare(&twin, &prepared.twin(set))).collect::<Result<Vec<_>>>()?;
    let times = clock.time(&mut [&mut |round| Ok(prepared.ours(device, round % sets)?), &mut |round| {
        calls[round % sets].launch()
    }])?;
    device.synchronize()?;
    Ok(Row {
        showcase: showcase.name.into(),
        version: case.version.clone(),
        size: case.size,
        unit: case.unit.into(),
        bytes: case.bytes,
        ours: times[0],
        twin: times[1],
        problem: case.library.clone(),
        libraries: Vec::new(),
    })
}

/// Runs each case of a showcase in the simulator at a small size. With PHALANX_CUBINS set, this stores our kernels for a
/// measurement.
pub fn simulate(showcase: &Showcase, device: &Device) -> Result<()> {
    for case in (showcase.cases)(Scale::Small) {
        let run = || {
            let mut prepared = (case.prepare)(device)?;
            prepared.clear()?;
            prepared.ours(device, 0)?;
            device.synchronize()?;
            prepared.check()
        };
        run().map_err(|error: Box<dyn std::error::Error>| failure(showcase, &case, &*error))?;
    }
    Ok(())
}

/// Compiles all twins of a showcase. With PHALANX_CUBINS set, this stores them.
pub fn compile_twins(showcase: &Showcase) -> Result<()> {
    (showcase.cases)(Scale::Full).iter().try_for_each(|case| case.twin.cubin().map(drop))
}

fn failure(showcase: &Showcase, case: &Case, error: &dyn std::error::Error) -> String {
    format!("{}, {} {}, {}: {error}", showcase.name, case.size, case.unit, case.version)
}
