//! Draws a timeline as an SVG with one row per warp, grouped by block, which shows its work, the bands between arrivals
//! and their waits, and its stalls. Tooltips describe the parts.

use std::fmt::Write;

use super::{Event, EventKind, Timeline};
use crate::report::html::escaped;

/// The largest number of rows that are drawn, because more are not readable.
const MOST_ROWS: usize = 128;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 110.0;
const TOP: f64 = 64.0;
const ROW: f64 = 14.0;
/// The vertical gap between blocks.
const GAP: f64 = 6.0;

const STYLE: &str = "text{font:11px sans-serif;fill:#222}.title{font-size:14px;font-weight:bold}.work{fill:#c6d4e8}\
                     .hides{fill:#8ec48e}.stall{fill:#d9534f}.arrive{stroke:#1d6b1d;stroke-width:1.5}\
                     .axis{stroke:#bbb;stroke-width:.5}";

impl Timeline {
    /// Returns the timeline as an SVG with one row per warp, which shows its work, the work between an arrival and its
    /// wait, and its stalls.
    pub fn to_svg(&self) -> String {
        picture(self)
    }
}

fn picture(timeline: &Timeline) -> String {
    let end = timeline.end().max(1);
    let x = |time: u64| LEFT + WIDTH * time as f64 / end as f64;
    let rows: Vec<&[Event]> = timeline.events.chunk_by(|a, b| a.row() == b.row()).collect();
    let mut drawn = String::new();
    let (mut y, mut first) = (TOP, 0);
    for row in rows.iter().take(MOST_ROWS) {
        let (block, warp) = row[0].row();
        if row[0].warp == rows[0][0].warp && y > TOP {
            y += GAP;
        }
        let label = format!("block {block} warp {warp}");
        let _ = writeln!(drawn, "<text x=\"4\" y=\"{:.1}\">{label}</text>", y + ROW - 4.0);
        let position = |event: &Event| first + row.iter().position(|other| std::ptr::eq(other, event)).unwrap_or(0);
        for event in row.iter().filter(|event| event.kind == EventKind::Run) {
            rect(&mut drawn, "work", event, (x(event.start), x(event.end)), y, &says(timeline, event));
        }
        for event in row.iter().filter(|event| event.is_wait()) {
            if let Some(arrive) = timeline.arrival(position(event)).filter(|arrive| arrive.end < event.start) {
                let work = event.start - arrive.end;
                let text = format!("{work} {} of work between {} and {}", timeline.unit, arrive.name(), event.name());
                rect(&mut drawn, "hides", event, (x(arrive.end), x(event.start)), y, &text);
            }
            if event.start < event.end {
                rect(&mut drawn, "stall", event, (x(event.start), x(event.end)), y, &says(timeline, event));
            }
        }
        for event in row.iter().filter(|event| event.kind == EventKind::Arrive) {
            let (at, title) = (x(event.start), escaped(&says(timeline, event)));
            let _ = writeln!(
                drawn,
                "<line class=\"arrive\"{} x1=\"{at:.1}\" y1=\"{y:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\"><title>{title}</title></line>",
                place(event),
                y + ROW - 2.0
            );
        }
        y += ROW;
        first += row.len();
    }
    if rows.len() > MOST_ROWS {
        y += ROW;
        let _ = writeln!(drawn, "<text x=\"4\" y=\"{y:.1}\">and {} warps more</text>", rows.len() - MOST_ROWS);
    }
    let (width, height) = (LEFT + WIDTH + 20.0, y + 12.0);
    let mut head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text class=\"title\" x=\"4\" y=\"18\">{}: {end} {}</text>\n",
        escaped(&timeline.kernel),
        timeline.unit
    );
    let mut at = LEFT;
    for (class, what) in [("work", "work"), ("hides", "work between an arrival and its wait"), ("stall", "stall")] {
        let _ = writeln!(
            head,
            "<rect class=\"{class}-key\" x=\"{at}\" y=\"26\" width=\"10\" height=\"10\" style=\"fill:{}\"/>",
            fill(class)
        );
        let _ = writeln!(head, "<text x=\"{}\" y=\"35\">{what}</text>", at + 14.0);
        at += 40.0 + 6.0 * what.len() as f64;
    }
    for tick in 0..=10 {
        let (time, bottom) = (end * tick / 10, y + 2.0);
        let at = x(time);
        let _ = writeln!(
            head,
            "<line class=\"axis\" x1=\"{at:.1}\" y1=\"{}\" x2=\"{at:.1}\" y2=\"{bottom:.1}\"/>",
            TOP - 6.0
        );
        let _ = writeln!(head, "<text x=\"{at:.1}\" y=\"{}\">{time}</text>", TOP - 10.0);
    }
    head + &drawn + "</svg>\n"
}

fn fill(class: &str) -> &'static str {
    match class {
        "work" => "#c6d4e8",
        "hides" => "#8ec48e",
        _ => "#d9534f",
    }
}

fn rect(drawn: &mut String, class: &str, event: &Event, (from, to): (f64, f64), y: f64, title: &str) {
    // A short event is still visible.
    let width = (to - from).max(0.5);
    let _ = writeln!(
        drawn,
        "<rect class=\"{class}\"{} x=\"{from:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{}\"><title>{}</title></rect>",
        place(event),
        ROW - 2.0,
        escaped(title)
    );
}

/// Returns an attribute with the event's position in the source, by which a page marks what belongs together.
fn place(event: &Event) -> String {
    event
        .location
        .as_ref()
        .map_or_else(String::new, |location| format!(" data-at=\"{}\"", escaped(&location.to_string())))
}

fn says(timeline: &Timeline, event: &Event) -> String {
    let at = event.location.as_ref().map_or_else(String::new, |location| format!(" at {location}"));
    let (name, time, unit) = (event.name(), event.end - event.start, timeline.unit);
    format!("{name}{at}: {time} {unit}, from {} to {}", event.start, event.end)
}
