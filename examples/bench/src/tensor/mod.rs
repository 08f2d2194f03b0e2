//! Kernels of the tensor cores beside the libraries that a user would call. They are no rows of the table: arithmetic bounds them, and not
//! the bandwidth of memory, and nobody would write a library's kernel once more by hand.

use phalanx::Device;
use phalanx::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::Scale;
use crate::library::Answer;
use crate::timing::{Clock, Times};
use crate::{Result, data, memory};

mod attention;
mod product;

/// The operations of a multiprocessor's tensor cores in a cycle, on elements of 16 bits; on elements of 8 bits there are twice as many
/// (NVIDIA H100 Tensor Core GPU Architecture).
const OPERATIONS_PER_CYCLE: u64 = 4_096;

/// One kernel at one size, before its data are on a device.
struct Case {
    kernel: &'static str,
    size: String,
    /// The multiplications and additions of the algorithm.
    operations: u64,
    /// The bytes of an element of the operands.
    element: usize,
    /// The problem as the script of the libraries takes it.
    problem: Value,
    #[expect(clippy::type_complexity, reason = "an alias would say no more")]
    prepare: Box<dyn Fn(&Device) -> Result<Box<dyn Prepared>>>,
}

/// A case with its data on a device, in as many sets as it takes to exceed the second-level cache.
trait Prepared {
    fn sets(&self) -> usize;
    fn enqueue(&mut self, device: &Device, set: usize) -> phalanx::Result<()>;
    /// Compares the output of set 0 with a computation in `f64` on the host.
    fn check(&self) -> Result<()>;
}

/// The measurement of one kernel at one size.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    kernel: String,
    size: String,
    operations: u64,
    element: usize,
    ours: Times,
    /// The problem, as the script of the libraries takes it.
    pub problem: Value,
}

/// The measurements of all kernels on a GPU.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    /// The operations of all tensor cores in a microsecond on elements of 16 bits, at the highest clock.
    peak: f64,
    /// A row for each case.
    pub rows: Vec<Row>,
    /// A sentence for each case that has no row because its result was wrong or a launch failed.
    pub failures: Vec<String>,
}

fn cases(scale: Scale) -> Vec<Case> {
    product::cases(scale).into_iter().chain(attention::cases(scale)).collect()
}

/// Checks and times the kernels on a GPU.
pub fn measure(device: &Device) -> Result<Measured> {
    let stream = memory::stream(device)?.ok_or("times are measured on a GPU")?;
    let peak = memory::cycles_per_microsecond(&stream)? * f64::from(multiprocessors(device)?);
    let mut clock = Clock::new(stream)?;
    let mut measured = Measured { peak: peak * OPERATIONS_PER_CYCLE as f64, rows: Vec::new(), failures: Vec::new() };
    for case in cases(Scale::Full) {
        eprintln!("{}, {}", case.kernel, case.size);
        match row(&case, device, &mut clock) {
            Ok(row) => measured.rows.push(row),
            Err(error) => measured.failures.push(format!("{}, {}: {error}", case.kernel, case.size)),
        }
    }
    Ok(measured)
}

fn row(case: &Case, device: &Device, clock: &mut Clock) -> Result<Row> {
    let mut prepared = checked(case, device)?;
    let sets = prepared.sets();
    let times = clock.time(&mut [&mut |round| Ok(prepared.enqueue(device, round % sets)?)])?;
    device.synchronize()?;
    let Case { kernel, size, operations, element, problem, .. } = case;
    Ok(Row {
        kernel: (*kernel).to_owned(),
        size: size.clone(),
        operations: *operations,
        element: *element,
        ours: times[0],
        problem: problem.clone(),
    })
}

/// Launches a kernel once and checks its result.
fn checked(case: &Case, device: &Device) -> Result<Box<dyn Prepared>> {
    let mut prepared = (case.prepare)(device)?;
    prepared.enqueue(device, 0)?;
    device.synchronize()?;
    prepared.check()?;
    Ok(prepared)
}

/// Runs the kernels in the simulator at small sizes. With PHALANX_CUBINS set, this stores them for a measurement.
pub fn simulate(device: &Device) -> Result<()> {
    simulate_those_named(device, "").map(drop)
}

/// Runs the kernels in whose names a text occurs in the simulator at small sizes. Returns the number of their cases.
pub fn simulate_those_named(device: &Device, text: &str) -> Result<usize> {
    let mut cases = cases(Scale::Small);
    cases.retain(|case| case.kernel.contains(text));
    for case in &cases {
        checked(case, device).map_err(|error| format!("{}, {}: {error}", case.kernel, case.size))?;
    }
    Ok(cases.len())
}

/// Returns a page of what was measured, with the libraries' answers to the rows' problems, as far as there are any.
pub fn markdown(measured: &Measured, answers: &[Answer]) -> String {
    let rate = |operations: u64, time: f64| operations as f64 / time / 1e6;
    let mut page = String::from(
        "| kernel | size | ours, µs | TFLOP/s | of the peak | libraries, µs | ours / the fastest |\n|---|---|---|---|---|---|---|\n",
    );
    for (at, row) in measured.rows.iter().enumerate() {
        let Row { kernel, size, operations, element, ours, .. } = row;
        let peak = measured.peak * 2.0 / *element as f64;
        let libraries = answers.get(at).map(|answer| &answer.measured[..]).unwrap_or_default();
        let all: Vec<String> = libraries.iter().map(|one| format!("{} {:.1}", one.name, one.times.median)).collect();
        let fastest = libraries.iter().map(|one| one.times.median).min_by(f64::total_cmp);
        page += &format!(
            "| {kernel} | {size} | {:.1} ({:.1} to {:.1}) | {:.0} | {:.0} % | {} | {} |\n",
            ours.median,
            ours.low,
            ours.high,
            rate(*operations, ours.median),
            100.0 * *operations as f64 / ours.median / peak,
            if all.is_empty() { "–".to_owned() } else { all.join(", ") },
            fastest.map_or("–".to_owned(), |fastest| format!("{:.2}", ours.median / fastest)),
        );
    }
    let failed = answers.iter().flat_map(|answer| answer.failed.iter().chain(&answer.missing));
    for why in measured.failures.iter().chain(failed) {
        page += &format!("\n- {why}");
    }
    page
}

/// The number of blocks that fill a GPU, one each multiprocessor.
fn multiprocessors(device: &Device) -> Result<u32> {
    memory::stream(device)?.map_or(Ok(1), |stream| memory::multiprocessors(&stream))
}

fn bf16s(seed: u64, len: usize) -> Vec<bf16> {
    data::random(seed, len, |bits| bf16::from_f32(data::real(bits)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::library::Baseline;

    #[test]
    fn the_page_compares_with_the_fastest_library() {
        let times = |median| Times { median, low: median, high: median };
        let row = Row {
            kernel: "product".into(),
            size: "large".into(),
            operations: 800_000_000,
            element: 2,
            ours: times(2.0),
            problem: json!({}),
        };
        let measured = Measured { peak: 1e9, rows: vec![row], failures: vec!["one failed".into()] };
        let baseline = |name: &str, median| Baseline { name: name.into(), times: times(median) };
        let answer = Answer { measured: vec![baseline("a", 8.0), baseline("b", 4.0)], ..Answer::default() };
        let page = markdown(&measured, &[answer]);
        assert!(page.contains("| 2.0 (2.0 to 2.0) | 400 | 40 % | a 8.0, b 4.0 | 0.50 |\n"), "{page}");
        assert!(page.ends_with("\n- one failed"), "{page}");
        assert!(markdown(&measured, &[]).contains("| – | – |"));
    }
}
