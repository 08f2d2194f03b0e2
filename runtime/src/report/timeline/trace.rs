//! Converts a timeline to Chrome's trace event format, which Perfetto and `chrome://tracing` read as JSON. Waits and
//! the work between them are complete events, and arrivals are instants. The format's times are microseconds; a step
//! counts as one.

use std::collections::BTreeSet;

use super::{Event, EventKind, TimeUnit, Timeline};

/// A timeline in Chrome's trace event format; [`Timeline::to_trace`] returns it. Serialized by `serde_json`, it is the
/// content of a file for Perfetto.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct Trace {
    trace_events: Vec<TraceEvent>,
    display_time_unit: &'static str,
}

/// The fields of an event that are used here ("Trace Event Format", Event Descriptions).
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct TraceEvent {
    ph: &'static str,
    name: String,
    pid: u64,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    tid: Option<u32>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    cat: Option<&'static str>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    s: Option<&'static str>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    ts: Option<f64>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dur: Option<f64>,
    args: Arguments,
}

#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct Arguments {
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    name: Option<String>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    at: Option<String>,
}

impl Timeline {
    /// Returns the timeline in Chrome's trace event format, which <https://ui.perfetto.dev> shows once it is JSON:
    /// blocks are processes, warps are threads. `serde_json::to_writer(file, &timeline.to_trace())` writes such a file.
    pub fn to_trace(&self) -> Trace {
        trace(self)
    }
}

fn trace(timeline: &Timeline) -> Trace {
    let scale = match timeline.unit {
        TimeUnit::Steps => 1.0,
        TimeUnit::Nanoseconds => 1e-3,
    };
    let time = |time: u64| time as f64 * scale;
    let at = |event: &Event| Arguments { name: None, at: event.location.as_ref().map(ToString::to_string) };
    let place = |event: &Event, ph: &'static str, name: String, start: u64| TraceEvent {
        ph,
        name,
        pid: event.block,
        tid: Some(event.warp),
        ts: Some(time(start)),
        args: at(event),
        ..TraceEvent::default()
    };
    let slice = |event: &Event, name: String, category: &'static str, start: u64, end: u64| TraceEvent {
        cat: Some(category),
        dur: Some(time(end - start)),
        ..place(event, "X", name, start)
    };
    let named = |name: &str, pid: u64, tid: Option<u32>, is: String| TraceEvent {
        ph: "M",
        name: name.into(),
        pid,
        tid,
        args: Arguments { name: Some(is), at: None },
        ..TraceEvent::default()
    };
    let blocks: BTreeSet<u64> = timeline.events.iter().map(|event| event.block).collect();
    let block = |block| named("process_name", block, None, format!("block {block}"));
    let mut events: Vec<TraceEvent> = blocks.into_iter().map(block).collect();
    for row in timeline.events.chunk_by(|a, b| a.row() == b.row()) {
        let Event { block, warp, .. } = row[0];
        events.push(named("thread_name", block, Some(warp), format!("warp {warp}")));
        events.extend(row.iter().filter(|event| event.kind == EventKind::Arrive).map(|event| TraceEvent {
            s: Some("t"),
            cat: Some("arrive"),
            ..place(event, "i", event.name(), event.start)
        }));
        let waits = row.iter().filter(|event| event.is_wait());
        events.extend(waits.map(|event| slice(event, event.name(), "wait", event.start, event.end)));
        events.extend(work(row).into_iter().map(|(start, end)| slice(&row[0], "work".into(), "work", start, end)));
    }
    Trace { trace_events: events, display_time_unit: "ns" }
}

/// Returns the parts of a row's runs in which its warp does not wait.
fn work(row: &[Event]) -> Vec<(u64, u64)> {
    let mut work = Vec::new();
    let (Some(start), Some(end)) = (row.iter().map(|event| event.start).min(), row.iter().map(|event| event.end).max())
    else {
        return work;
    };
    let mut at = start;
    for wait in row.iter().filter(|event| event.is_wait()) {
        if at < wait.start {
            work.push((at, wait.start));
        }
        at = at.max(wait.end);
    }
    if at < end {
        work.push((at, end));
    }
    work
}
