//! The table: a row for each case, as Markdown and as JSON.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::library::{Answer, Baseline};
use crate::run::Measured;
use crate::timing::Times;

/// The largest ratio to the twin that is not listed as open.
const TARGET: f64 = 1.02;

/// The measurements of one case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The showcase's name.
    pub showcase: String,
    /// The version of the kernel.
    pub version: String,
    /// The size of the problem.
    pub size: u64,
    /// The name of the things that `size` counts, such as columns.
    pub unit: String,
    /// The bytes that any implementation must move.
    pub bytes: u64,
    /// The times of the Phalanx kernel.
    pub ours: Times,
    /// The times of the kernel written by hand.
    pub twin: Times,
    /// The problem, as the script of the libraries takes it.
    pub problem: Option<Value>,
    /// The libraries' times.
    pub libraries: Vec<Baseline>,
}

impl Row {
    /// Returns our time relative to the twin's.
    pub fn to_twin(&self) -> f64 {
        self.ours.median / self.twin.median
    }

    /// Returns the fastest library.
    pub fn library(&self) -> Option<&Baseline> {
        self.libraries.iter().min_by(|a, b| a.times.median.total_cmp(&b.times.median))
    }

    /// Returns the bandwidth of our kernel, in GB/s.
    pub fn bandwidth(&self) -> f64 {
        self.bytes as f64 / self.ours.median / 1e3
    }
}

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct Table {
    /// The GPU.
    pub device: String,
    /// The bandwidth of a copy in GB/s, reads and writes together.
    pub copy_bandwidth: f64,
    /// A row for each case.
    pub rows: Vec<Row>,
    /// A sentence for each case without a row.
    pub failures: Vec<String>,
    /// Why a library has no times.
    pub missing: Vec<String>,
}

impl Table {
    /// Returns the table of what was measured, without libraries.
    pub fn new(device: String, measured: Measured) -> Table {
        let Measured { copy_bandwidth, rows, failures } = measured;
        Table { device, copy_bandwidth: copy_bandwidth / 1e3, rows, failures, missing: Vec::new() }
    }

    /// Returns the problems of the libraries, each once.
    pub fn problems(&self) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        for problem in self.rows.iter().filter_map(|row| row.problem.as_ref()) {
            if !all.contains(problem) {
                all.push(problem.clone());
            }
        }
        all
    }

    /// Adds a library's answer to the rows with this problem.
    pub fn answer(&mut self, problem: &Value, answer: Answer) {
        let rows = self.rows.iter_mut().filter(|row| row.problem.as_ref() == Some(problem));
        rows.for_each(|row| row.libraries.clone_from(&answer.measured));
        self.failures.extend(answer.failed.into_iter().map(|why| format!("library, {problem}: {why}")));
        for why in answer.missing {
            if !self.missing.contains(&why) {
                self.missing.push(why);
            }
        }
    }

    /// Returns the shortest time in which the bytes of a row can be copied, in microseconds.
    pub fn floor(&self, row: &Row) -> f64 {
        row.bytes as f64 / self.copy_bandwidth / 1e3
    }

    /// Returns the table as Markdown.
    pub fn markdown(&self) -> String {
        let mut page = format!(
            "{}; a copy moves {:.0} GB/s. Times are medians in µs, with their quartiles; ratios below 1 are in our favour.\n\n",
            self.device, self.copy_bandwidth
        );
        page += "| kernel | size | ours | GB/s | by hand | ours / by hand | library | ours / library | floor | floor / ours |\n";
        page += "|---|---|---|---|---|---|---|---|---|---|\n";
        for row in &self.rows {
            let floor = self.floor(row);
            let (name, ratio) = match row.library() {
                Some(fastest) => {
                    let all = row.libraries.iter().map(|one| format!("{} {:.1}", one.name, one.times.median));
                    (all.collect::<Vec<_>>().join(", "), format!("{:.2}", row.ours.median / fastest.times.median))
                }
                None => ("–".into(), "–".into()),
            };
            let _ = writeln!(
                page,
                "| {}, {} | {} {} | {} | {:.0} | {} | {:.3} | {name} | {ratio} | {floor:.1} | {:.0} % |",
                row.showcase,
                row.version,
                thousands(row.size),
                row.unit,
                shown(row.ours),
                row.bandwidth(),
                shown(row.twin),
                row.to_twin(),
                100.0 * floor / row.ours.median,
            );
        }
        self.list(&mut page, &format!("Open: more than {TARGET} of the kernel written by hand"), |table| {
            let open = table.rows.iter().filter(|row| row.to_twin() > TARGET);
            let line = |row: &Row| {
                format!("{}, {}, {} {}: {:.3}", row.showcase, row.version, row.size, row.unit, row.to_twin())
            };
            open.map(line).collect()
        });
        self.list(&mut page, "Failed", |table| table.failures.clone());
        self.list(&mut page, "Libraries that were not measured", |table| table.missing.clone());
        page
    }

    fn list(&self, page: &mut String, title: &str, lines: impl Fn(&Table) -> Vec<String>) {
        let lines = lines(self);
        if !lines.is_empty() {
            let _ = write!(page, "\n{title}:\n\n");
            lines.iter().for_each(|line| {
                let _ = writeln!(page, "- {line}");
            });
        }
    }
}

fn shown(times: Times) -> String {
    format!("{:.1} ({:.1} to {:.1})", times.median, times.low, times.high)
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table() -> Table {
        let times = |median| Times { median, low: median - 1.0, high: median + 1.0 };
        let row = Row {
            showcase: "softmax".into(),
            version: "plain".into(),
            size: 131_072,
            unit: "columns".into(),
            bytes: 3_000_000,
            ours: times(110.0),
            twin: times(100.0),
            problem: Some(json!({ "operation": "softmax" })),
            libraries: Vec::new(),
        };
        let measured = Measured { copy_bandwidth: 3e6, rows: vec![row.clone(), row], failures: vec!["wrong".into()] };
        Table::new("GPU 0".into(), measured)
    }

    #[test]
    fn a_slow_kernel_is_open() {
        let page = table().markdown();
        assert!(page.contains("| softmax, plain | 131,072 columns | 110.0 (109.0 to 111.0) | 27 |"), "{page}");
        assert!(page.contains("- softmax, plain, 131072 columns: 1.100\n"), "{page}");
        assert!(page.contains("Failed:\n\n- wrong\n"), "{page}");
    }

    #[test]
    fn rows_of_one_problem_share_its_baselines() {
        let mut table = table();
        let problems = table.problems();
        assert_eq!(problems.len(), 1);
        let times = Times { median: 220.0, low: 220.0, high: 220.0 };
        table.answer(
            &problems[0],
            Answer { measured: vec![Baseline { name: "torch".into(), times }], ..Answer::default() },
        );
        assert_eq!(table.markdown().matches("torch 220.0 | 0.50 |").count(), 2);
    }
}
