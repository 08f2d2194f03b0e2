//! Writes a timeline as one HTML file: its picture, the source of the waits with their cost, and a table of them.

use std::fmt::Write;

use super::{Stall, Timeline};
use crate::report::html;
use crate::report::render::Note;

impl Timeline {
    /// Returns the timeline as one HTML file that needs no other: the picture of [`to_svg`](Timeline::to_svg), the lines of the source at
    /// which warps waited, and a table of what each wait cost. Tooltips have the times of each event, and what happened at a line is
    /// marked in the picture under the mouse.
    pub fn to_html(&self) -> String {
        let Timeline { kernel, unit, .. } = self;
        let stalls = self.stalls();
        let (mean, share) = (Stall::mean, Stall::hidden_share);
        let text = |stall: &Stall| {
            format!(
                "{} waits, {:.1} {unit} each; {:.0} % hidden by work",
                stall.times,
                mean(stall, stall.stalled),
                share(stall)
            )
        };
        let notes: Vec<Note<'_>> = stalls
            .iter()
            .enumerate()
            .filter_map(|(row, stall)| {
                Some(Note { location: stall.location.as_ref()?, text: text(stall), is_primary: row == 0 })
            })
            .collect();
        let mut rows = String::new();
        for stall in &stalls {
            let at = stall.location.as_ref().map_or_else(String::new, |location| html::escaped(&location.to_string()));
            let _ = writeln!(
                rows,
                "<tr data-at=\"{at}\"><td>{at}</td><td>{}</td><td>{}</td><td>{:.1}</td><td>{:.1}</td><td>{:.0} %</td></tr>",
                stall.barrier,
                stall.times,
                mean(stall, stall.stalled),
                mean(stall, stall.hidden),
                share(stall)
            );
        }
        let body = format!(
            "<div class=\"scrolls\">{}</div>\n{}<h2>Waits</h2>\n<div class=\"scrolls\"><table>\n<tr><th>place</th><th>barrier</th><th>waits</th>\
             <th>{unit} each</th><th>{unit} of work since the arrival</th><th>hidden</th></tr>\n{rows}</table></div>\n",
            self.to_svg(),
            html::listing(&notes)
        );
        html::page(&format!("kernel `{kernel}` took {} {unit}", self.end()), &body)
    }
}
