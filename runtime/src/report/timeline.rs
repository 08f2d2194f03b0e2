//! A launch as it went: when each warp came to a barrier, when it went on, and what it did in between, as data, as a trace
//! for Perfetto (`trace`) and as a picture (`picture`). Who records it is `sim`'s and `gpu`'s.

mod picture;
mod trace;

pub use trace::Trace;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::location::Location;

/// What the warps of a launch did at barriers, and when. From [`Launch::timeline`](crate::Launch::timeline).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The kernel's name.
    pub kernel: String,
    /// What times are counted in.
    pub unit: TimeUnit,
    /// In the order of blocks, warps and time.
    pub events: Vec<Event>,
    /// How many events found no room, on a GPU: the last ones of their warps.
    pub lost: u64,
}

/// What the times of a timeline are counted in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum TimeUnit {
    /// Of the simulator: accesses to memory, arrivals and turns of loops of a thread. Who waits goes on at the step of the last
    /// who came.
    #[default]
    Steps,
    /// Of a GPU's global timer.
    Nanoseconds,
}

/// Something that a warp did: from when the first of its threads began to when the last was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The block's rank in the grid.
    pub block: u64,
    /// The warp's rank in the block.
    pub warp: u32,
    /// What it did.
    pub doing: Doing,
    /// At which barrier: `block`, `cluster`, `grid`, or `bar` of a phase barrier. Nothing of a run.
    pub barrier: &'static str,
    /// Where in the Rust source.
    pub location: Option<Location>,
    /// When it began, since the launch's first event.
    pub start: u64,
    /// When it was done.
    pub end: u64,
}

/// What a warp did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub enum Doing {
    /// The whole kernel.
    Run,
    /// It arrived, and did not wait.
    Arrive,
    /// It waited for an arrival before.
    Wait,
    /// It arrived and waited.
    Sync,
}

/// What the waits of one place in the source cost, all warps together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stall {
    /// At which barrier.
    pub barrier: &'static str,
    /// Where in the Rust source.
    pub location: Option<Location>,
    /// How often a warp waited here.
    pub times: u64,
    /// How long, all together.
    pub stalled: u64,
    /// The work between the arrivals and the waits, which hid so much of what would have been a stall.
    pub hidden: u64,
}

impl Event {
    fn name(&self) -> String {
        let method = match self.doing {
            Doing::Run => return "run".into(),
            Doing::Arrive if self.barrier == "bar" => "arrive",
            Doing::Wait if self.barrier == "bar" => "wait",
            Doing::Arrive => "barrier_arrive",
            Doing::Wait => "barrier_wait",
            Doing::Sync => "sync",
        };
        format!("{}.{method}()", self.barrier)
    }

    fn row(&self) -> (u64, u32) {
        (self.block, self.warp)
    }

    fn is_wait(&self) -> bool {
        matches!(self.doing, Doing::Wait | Doing::Sync)
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
    /// Of events in any order.
    pub(crate) fn new(kernel: &str, unit: TimeUnit, mut events: Vec<Event>, lost: u64) -> Timeline {
        let first = events.iter().map(|event| event.start).min().unwrap_or(0);
        for event in &mut events {
            event.start -= first;
            event.end -= first;
        }
        events.sort_by_key(|event| (event.row(), event.start, event.doing, event.end));
        Timeline { kernel: kernel.to_owned(), unit, events, lost }
    }

    /// What waiting cost, by place: the longest first.
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

    /// The warp's last arrival at the same kind of barrier before a wait.
    fn arrival(&self, wait: usize) -> Option<&Event> {
        let event = &self.events[wait];
        let mut before = self.events[..wait].iter().rev().take_while(|before| before.row() == event.row());
        let of_it = |before: &&Event| before.doing == Doing::Arrive && before.barrier == event.barrier;
        if event.doing == Doing::Wait { before.find(of_it) } else { None }
    }

    /// When the last event ends.
    fn end(&self) -> u64 {
        self.events.iter().map(|event| event.end).max().unwrap_or(0)
    }
}

/// A table of the waits.
impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Timeline { kernel, unit, lost, .. } = self;
        writeln!(f, "`{kernel}` took {} {unit}", self.end())?;
        for Stall { barrier, location, times, stalled, hidden } in self.stalls() {
            let barrier = if barrier == "bar" { "phase barrier".into() } else { format!("{barrier}'s barrier") };
            let at = location.map_or_else(String::new, |location| format!(" at {location}"));
            let mean = |sum: u64| sum as f64 / times as f64;
            let share = 100.0 * hidden as f64 / (hidden + stalled).max(1) as f64;
            writeln!(
                f,
                "    {times} waits for the {barrier}{at}: {:.1} {unit} each, and {:.1} of work since the arrival hid {share:.0} %",
                mean(stalled),
                mean(hidden),
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

    fn event(block: u64, doing: Doing, start: u64, end: u64) -> Event {
        let barrier = if doing == Doing::Run { "" } else { "cluster" };
        Event { block, warp: 0, doing, barrier, location: None, start, end }
    }

    fn timeline() -> Timeline {
        let of_block = |block: u64, late: u64| {
            [
                event(block, Doing::Run, 10, 50),
                event(block, Doing::Wait, 30 + late, 40),
                event(block, Doing::Arrive, 20, 20),
            ]
        };
        Timeline::new("<k>", TimeUnit::Steps, [of_block(1, 8), of_block(0, 0)].concat(), 0)
    }

    #[test]
    fn what_is_hidden_is_the_work_since_the_arrival() {
        let timeline = timeline();
        assert_eq!(timeline.events[0], event(0, Doing::Run, 0, 40));
        let stall = &timeline.stalls()[0];
        assert_eq!((stall.times, stall.stalled, stall.hidden), (2, 10 + 2, 10 + 18));
        assert!(timeline.to_string().contains("6.0 steps each, and 14.0 of work"), "{timeline}");
    }

    #[test]
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
}
