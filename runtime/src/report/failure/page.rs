//! Writes a failure as one HTML file: the source with both accesses of a race or the places where threads wait, and a picture of the bytes
//! that two accesses share or of how many threads wait for how many. What the parts say is in `failure` and `race`.

use std::fmt::Write;

use super::{Cause, Failure, WaitingThreads};
use crate::location::Location;
use crate::report::html;
use crate::report::race::Race;
use crate::report::waiting::threads;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 20.0;
const ROW: f64 = 40.0;

impl Failure {
    /// Returns the report as one HTML file that needs no other: the lines of the source with what happened there, and a picture of the
    /// bytes that two racing accesses cover, or of the threads that wait and those that they wait for. Tooltips have the values.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 32)]
    /// fn follow(next: &[u32], values: &mut [u32]) {
    ///     let i = this_grid().thread_rank();
    ///     values[i] = values[next[i]];
    /// }
    ///
    /// let device = Device::simulator();
    /// let next = device.upload(&Vec::from_iter((0..32).map(|i| (i + 1) % 32)))?;
    /// let mut values = device.upload(&[1; 32])?;
    /// let Err(phalanx::Error::Kernel(failure)) = follow(&next, &mut values).grid(1).launch(&device) else {
    ///     panic!("the kernel races");
    /// };
    /// # let file = std::env::temp_dir().join("race.html");
    /// std::fs::write(&file, failure.to_html()).expect("a folder to write to");
    /// # Ok::<(), phalanx::Error>(())
    /// ```
    pub fn to_html(&self) -> String {
        let parts = self.parts();
        let title = format!("{}: {}", self.place(), parts.title);
        let drawn = match &self.cause {
            Cause::Race(race) => bytes(race),
            Cause::Deadlock(waiting) | Cause::SpinLimit { waiting, .. } | Cause::Deadline { waiting, .. } => {
                groups(waiting)
            }
            _ => String::new(),
        };
        let help = [parts.help, Vec::from_iter(self.replay())].concat();
        let body =
            [html::listing(&parts.notes), drawn, html::list("Calls", &self.call_chain()), html::list("Help", &help)];
        html::page(&title, &body.concat())
    }
}

/// Draws the bytes of both accesses of a race above each other, and those that both cover.
fn bytes(race: &Race) -> String {
    let accesses = [("first", &race.first), ("second", &race.second)];
    let start = race.first.bytes.start.min(race.second.bytes.start);
    let end = race.first.bytes.end.max(race.second.bytes.end);
    let x = |byte: usize| LEFT + (WIDTH - 2.0 * LEFT) * (byte - start) as f64 / (end - start).max(1) as f64;
    let (from, to) = (x(race.bytes.start), x(race.bytes.end));
    let mut drawn = format!(
        "<rect class=\"both\" x=\"{from:.1}\" y=\"24\" width=\"{:.1}\" height=\"{:.1}\"><title>bytes {}..{} are in both</title></rect>\n",
        to - from,
        2.0 * ROW,
        race.bytes.start,
        race.bytes.end
    );
    for (row, (class, access)) in accesses.into_iter().enumerate() {
        let (from, to, y) = (x(access.bytes.start), x(access.bytes.end), 30.0 + row as f64 * ROW);
        let text = html::escaped(&access.sentence(&race.bytes));
        let at = html::escaped(&access.location.to_string());
        let _ = writeln!(
            drawn,
            "<rect class=\"{class}\" data-at=\"{at}\" x=\"{from:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"12\"><title>{text}, at {at}</title></rect>\n\
             <text x=\"{LEFT}\" y=\"{}\">{text}</text>",
            to - from,
            y + 25.0
        );
    }
    let labels = format!(
        "<text x=\"{LEFT}\" y=\"16\">byte {start}</text><text x=\"{}\" y=\"16\" text-anchor=\"end\">byte {end}</text>\n",
        WIDTH - LEFT
    );
    picture("The bytes of both accesses", 30.0 + 2.0 * ROW, &(labels + &drawn))
}

/// Draws a bar for each group of threads that wait, and one for each group that they wait for, as long as it has threads.
fn groups(waiting: &[WaitingThreads]) -> String {
    let missing = |group: &WaitingThreads| group.missing.iter().map(|missing| missing.threads).collect::<Vec<_>>();
    let most =
        waiting.iter().flat_map(|group| [vec![group.threads], missing(group)].concat()).max().unwrap_or(1).max(1);
    let mut drawn = String::new();
    let mut y = 6.0;
    let mut bar = |class: &str, indent: f64, count: usize, text: &str, at: Option<&Location>| {
        let (left, width) = (LEFT + indent, (WIDTH - 2.0 * LEFT - indent) * count as f64 / most as f64);
        let text = html::escaped(text);
        let at = at.map(|at| html::escaped(&at.to_string()));
        let place = at.as_ref().map_or(String::new(), |at| format!(" data-at=\"{at}\""));
        let tip = at.map_or(text.clone(), |at| format!("{text}, at {at}"));
        let _ = writeln!(
            drawn,
            "<rect class=\"{class}\"{place} x=\"{left}\" y=\"{y}\" width=\"{:.1}\" height=\"12\"><title>{tip}</title></rect>\n\
             <text x=\"{left}\" y=\"{}\">{text}</text>",
            width.max(1.0),
            y + 25.0
        );
        y += ROW;
    };
    for group in waiting {
        let text = threads(group.threads, group.first, &group.what, None);
        bar("waits", 0.0, group.threads, &text, group.location.as_ref());
        for missing in &group.missing {
            let there = threads(missing.threads, missing.first, &missing.what, None);
            bar("lacks", 40.0, missing.threads, &format!("{}: {there}", group.lacks()), missing.location.as_ref());
        }
    }
    picture("The threads that wait, and those that they wait for", y, &drawn)
}

fn picture(title: &str, height: f64, drawn: &str) -> String {
    format!(
        "<h2>{title}</h2>\n<div class=\"scrolls\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n\
         <style>text{{font:12px system-ui,sans-serif;fill:CanvasText}}.first,.waits{{fill:#d9a03f}}.second,.lacks{{fill:#d9534f}}\
         .both{{fill:#8884}}</style>\n{drawn}</svg></div>\n"
    )
}
