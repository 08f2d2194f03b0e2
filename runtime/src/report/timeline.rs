//! The timeline of a launch, which holds when each warp reached and left a barrier. It can be shown as a table, as a
//! trace for Perfetto (`trace`), as a picture (`picture`) and as a page (`page`). `sim` and `gpu` record it.

mod page;
mod picture;
#[cfg(feature = "serde")]
mod trace;

#[cfg(feature = "serde")]
pub use trace::Trace;

use std::collections::BTreeMap;
use std::fmt;

use crate::location::Location;

/// The times at which the warps of a launch reached and left barriers; [`Launch::timeline`](crate::Launch::timeline)
/// returns it. Its `Display` is a table of the stalls.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Timeline {
    /// The kernel's name.
    pub kernel: String,
    /// The unit of all times.
    pub unit: TimeUnit,
    /// The events, ordered by block, warp and time.
    pub events: Vec<Event>,
    /// The number of events that the GPU could not store, which are the last of their warps.
    pub lost: u64,
}

/// The unit of the times of a timeline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum TimeUnit {
    /// Steps of a simulated thread, which are its accesses to memory, its arrivals and its loop iterations. A thread
    /// that waits continues at the time of the last arrival.
    #[default]
    Steps,
    /// Nanoseconds of a GPU's global timer.
    Nanoseconds,
}

/// An event of a warp, which lasts from its beginning in the first thread to its end in the last.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Event {
    /// The rank of the block in the grid.
    pub block: u64,
    /// The rank of the warp in the block.
    pub warp: u32,
    /// The kind of the event.
    pub kind: EventKind,
    /// The barrier: `block`, `cluster`, `grid`, or `bar` for a phase barrier; empty for a run.
    pub barrier: &'static str,
    /// The position in the Rust source.
    pub location: Option<Location>,
    /// The time at which it began, counted from the first event of the launch.
    pub start: u64,
    /// The time at which it ended.
    pub end: u64,
}

/// The kinds of [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum EventKind {
    /// The warp ran the kernel, from its first event to its last.
    Run,
    /// The warp arrived at a barrier and did not wait.
    Arrive,
    /// The warp waited for the phase of an earlier arrival.
    Wait,
    /// The warp arrived and waited.
    Sync,
}

/// The cost of the waits at one position in the source, summed over all warps.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Stall {
    /// The barrier, as in [`Event::barrier`].
    pub barrier: &'static str,
    /// The position in the Rust source.
    pub location: Option<Location>,
    /// The number of waits.
    pub times: u64,
    /// The time that warps waited.
    pub stalled: u64,
    /// The time between the arrivals and their waits, which is the time that work hid.
    pub hidden: u64,
}

impl Event {
    fn name(&self) -> String {
        let method = match self.kind {
            EventKind::Run => return "run".into(),
            EventKind::Arrive if self.barrier == "bar" => "arrive",
            EventKind::Wait if self.barrier == "bar" => "wait",
            EventKind::Arrive => "barrier_arrive",
            EventKind::Wait => "barrier_wait",
            EventKind::Sync => "sync",
        };
        format!("{}.{method}()", self.barrier)
    }

    fn row(&self) -> (u64, u32) {
        (self.block, self.warp)
    }

    fn is_wait(&self) -> bool {
        matches!(self.kind, EventKind::Wait | EventKind::Sync)
    }
}

impl Stall {
    /// Returns the part of a sum that each wait has.
    fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.times as f64
    }

    /// Returns how much of the time since the arrivals work hid, in percent.
    fn hidden_share(&self) -> f64 {
        100.0 * self.hidden as f64 / (self.hidden + self.stalled).max(1) as f64
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeUnit::Steps => "steps",
            TimeUnit::Nanoseconds => "ns",
        })
    }
}

impl Timeline {
    /// Creates a timeline from events in any order.
    pub(crate) fn new(kernel: &str, unit: TimeUnit, mut events: Vec<Event>, lost: u64) -> Timeline {
        let first = events.iter().map(|event| event.start).min().unwrap_or(0);
        for event in &mut events {
            event.start -= first;
            event.end -= first;
        }
        events.sort_by_key(|event| (event.row(), event.start, event.kind, event.end));
        Timeline { kernel: kernel.to_owned(), unit, events, lost }
    }

    /// Returns the cost of waiting at each position in the source, the largest first.
    pub fn stalls(&self) -> Vec<Stall> {
        let mut stalls: BTreeMap<(&Option<Location>, &str), Stall> = BTreeMap::new();
        for (row, arrival) in self.events.iter().enumerate().filter(|(_, event)| event.is_wait()) {
            let stall = stalls.entry((&arrival.location, arrival.barrier)).or_insert_with(|| Stall {
                barrier: arrival.barrier,
                location: arrival.location.clone(),
                times: 0,
                stalled: 0,
                hidden: 0,
            });
            stall.times += 1;
            stall.stalled += arrival.end - arrival.start;
            stall.hidden += self.arrival(row).map_or(0, |arrive| arrival.start - arrive.end.min(arrival.start));
        }
        let mut stalls: Vec<Stall> = stalls.into_values().collect();
        stalls.sort_by_key(|stall| std::cmp::Reverse(stall.stalled));
        stalls
    }

    /// Returns the warp's last arrival at the same barrier before a wait.
    fn arrival(&self, wait: usize) -> Option<&Event> {
        let event = &self.events[wait];
        let mut before = self.events[..wait].iter().rev().take_while(|before| before.row() == event.row());
        let of_it = |before: &&Event| before.kind == EventKind::Arrive && before.barrier == event.barrier;
        if event.kind == EventKind::Wait { before.find(of_it) } else { None }
    }

    /// Returns the time at which the last event ends.
    fn end(&self) -> u64 {
        self.events.iter().map(|event| event.end).max().unwrap_or(0)
    }
}

/// Formats a table of the waits.
impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Timeline { kernel, unit, lost, .. } = self;
        writeln!(f, "`{kernel}` took {} {unit}", self.end())?;
        for stall in self.stalls() {
            let Stall { barrier, location, times, stalled, hidden } = &stall;
            let barrier = if *barrier == "bar" { "phase barrier".into() } else { format!("{barrier}'s barrier") };
            let at = location.as_ref().map_or_else(String::new, |location| format!(" at {location}"));
            writeln!(
                f,
                "    {times} waits for the {barrier}{at}: {:.1} {unit} each, and {:.1} of work since the arrival hid {:.0} %",
                stall.mean(*stalled),
                stall.mean(*hidden),
                stall.hidden_share()
            )?;
        }
        if *lost > 0 {
            writeln!(f, "    {lost} events found no room")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(block: u64, kind: EventKind, start: u64, end: u64) -> Event {
        let barrier = if kind == EventKind::Run { "" } else { "cluster" };
        Event { block, warp: 0, kind, barrier, location: None, start, end }
    }

    fn timeline() -> Timeline {
        let of_block = |block: u64, late: u64| {
            [
                event(block, EventKind::Run, 10, 50),
                event(block, EventKind::Wait, 30 + late, 40),
                event(block, EventKind::Arrive, 20, 20),
            ]
        };
        Timeline::new("<k>", TimeUnit::Steps, [of_block(1, 8), of_block(0, 0)].concat(), 0)
    }

    #[test]
    fn what_is_hidden_is_the_work_since_the_arrival() {
        let timeline = timeline();
        assert_eq!(timeline.events[0], event(0, EventKind::Run, 0, 40));
        let stall = &timeline.stalls()[0];
        assert_eq!((stall.times, stall.stalled, stall.hidden), (2, 10 + 2, 10 + 18));
        assert!(timeline.to_string().contains("6.0 steps each, and 14.0 of work"), "{timeline}");
    }

    #[test]
    #[cfg(feature = "serde")]
    fn a_trace_is_json() {
        let trace: serde_json::Value = serde_json::to_value(timeline().to_trace()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let waits: Vec<_> = events.iter().filter(|event| event["cat"] == "wait").collect();
        assert_eq!((waits.len(), &waits[0]["ts"], &waits[0]["dur"]), (2, &20.0.into(), &10.0.into()));
        let work: f64 = events.iter().filter(|event| event["cat"] == "work").filter_map(|e| e["dur"].as_f64()).sum();
        assert_eq!(work, (40 - 10 + 40 - 2) as f64);
    }

    #[test]
    fn a_picture_has_a_row_for_each_warp_and_a_mark_for_each_stall() {
        let picture = timeline().to_svg();
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("class=\"stall\"").count(), 2);
        assert_eq!(picture.matches("class=\"hides\"").count(), 2);
        assert!(picture.contains("&lt;k&gt;"));
    }

    #[test]
    fn a_page_has_the_picture_and_a_row_for_each_wait() {
        let page = timeline().to_html();
        assert!(page.contains("<title>kernel `&lt;k&gt;` took 40 steps</title>"), "{page}");
        assert!(page.contains(&timeline().to_svg()));
        let row = "<td>cluster</td><td>2</td><td>6.0</td><td>14.0</td><td>70 %</td>";
        assert_eq!(page.matches(row).count(), 1, "{page}");
    }
}
