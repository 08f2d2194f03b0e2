//! A timeline in Chrome's trace event format (JSON), which Perfetto and `chrome://tracing` read: complete events for waits and
//! for the work between them, instants for arrivals. Times there are microseconds; a step counts for one.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Doing, Event, TimeUnit, Timeline};

pub(super) fn trace(timeline: &Timeline) -> String {
    let scale = match timeline.unit {
        TimeUnit::Steps => 1.0,
        TimeUnit::Nanoseconds => 1e-3,
    };
    let time = |time: u64| time as f64 * scale;
    let slice = |event: &Event, name: &str, category: &str, start: u64, end: u64| {
        let at = event.location.as_ref().map(ToString::to_string);
        json!({
            "ph": "X", "name": name, "cat": category, "pid": event.block, "tid": event.warp,
            "ts": time(start), "dur": time(end - start), "args": { "at": at },
        })
    };
    let blocks: BTreeSet<u64> = timeline.events.iter().map(|event| event.block).collect();
    let named = |block| json!({ "ph": "M", "name": "process_name", "pid": block, "args": { "name": format!("block {block}") } });
    let mut events: Vec<Value> = blocks.into_iter().map(named).collect();
    for row in timeline.events.chunk_by(|a, b| a.row() == b.row()) {
        let warp = json!({ "name": format!("warp {}", row[0].warp) });
        events.push(json!({ "ph": "M", "name": "thread_name", "pid": row[0].block, "tid": row[0].warp, "args": warp }));
        events.extend(row.iter().filter(|event| event.doing == Doing::Arrive).map(|event| {
            let at = event.location.as_ref().map(ToString::to_string);
            json!({
                "ph": "i", "s": "t", "name": event.name(), "cat": "arrive", "pid": event.block, "tid": event.warp,
                "ts": time(event.start), "args": { "at": at },
            })
        }));
        events.extend(
            row.iter()
                .filter(|event| event.is_wait())
                .map(|event| slice(event, &event.name(), "wait", event.start, event.end)),
        );
        events.extend(work(row).into_iter().map(|(start, end)| slice(&row[0], "work", "work", start, end)));
    }
    json!({ "traceEvents": events, "displayTimeUnit": "ns" }).to_string()
}

/// What is left of the runs of a row without its waits.
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
