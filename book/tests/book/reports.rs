//! Tests that the HTML reports of failures and timelines open in a browser without an error, fit a phone, and show what they are about.

use std::fs;

use phalanx::prelude::*;
use phalanx::{Error, Failure};

use crate::browser::{Browser, WIDTHS};
use crate::shown::{phases, race};

/// Half of the block waits for a barrier that the other half never reaches.
#[cluster_kernel(block = 64, unchecked(barrier_count))]
fn stuck(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() < 24 {
        bar.arrive_and_wait();
    }
    out[block.thread_rank()] = 1;
}

#[track_caller]
fn failure(result: phalanx::Result<()>) -> Box<Failure> {
    match result {
        Err(Error::Kernel(failure)) => failure,
        other => panic!("the kernel fails: {other:?}"),
    }
}

/// The page's text, its tooltips, and how many lines of the source are marked.
const CONTENT: &str = "[document.body.innerText, [...document.querySelectorAll('[title], title')].map(part => part.title || part.textContent).join('\\n'), \
                       String(document.querySelectorAll('.line.at').length), String(document.querySelectorAll('svg rect').length)]";

#[test]
fn reports_are_pages_of_their_own() -> phalanx::Result<()> {
    let device = Device::simulator();
    let mut out = device.zeros(128)?;
    let timeline = phases::split(&mut out).grid(4).timeline(&device)?;
    // SAFETY: the simulator refuses what the rules would.
    let deadlock = failure(unsafe { stuck(&mut out) }.grid(1).launch(&device));
    let race = failure(race::run(&device));
    let Some(mut browser) = Browser::start() else { return Ok(()) };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("report.html");
    let mut content = |html: String| -> [String; 4] {
        fs::write(&path, html).expect("a temporary file");
        for width in WIDTHS {
            assert_eq!(browser.look(&path, width), [""; 0], "at {width}");
        }
        serde_json::from_value(browser.evaluate(CONTENT)).expect("four texts")
    };

    let [text, tips, lines, bars] = content(race.to_html());
    assert!(text.contains("data race: bytes 4..8 (element 1) of `values`") && text.contains("values[i] = "), "{text}");
    assert!(text.contains("set PHALANX_SCHEDULE=round-robin"), "{text}");
    assert!(
        tips.contains("write of 2.0 by block (0,0,0) thread (1,0,0), at book/tests/book/shown/race.rs:9:"),
        "{tips}"
    );
    assert_eq!((&*lines, &*bars), ("1", "3"), "{text}");

    let [text, tips, lines, bars] = content(deadlock.to_html());
    assert!(
        text.contains("deadlock: no thread can make progress") && text.contains("bar.arrive_and_wait();"),
        "{text}"
    );
    assert!(
        tips.contains("24 thread(s), first block (0,0,0) thread (0,0,0)") && tips.contains("40 thread(s)"),
        "{tips}"
    );
    assert_eq!((&*lines, &*bars), ("1", "2"), "{text}");

    let [text, tips, lines, _] = content(timeline.to_html());
    assert!(text.contains("cluster.barrier_wait(token);") && text.contains("hidden by work"), "{text}");
    assert!(tips.contains("steps of work between cluster.barrier_arrive() and cluster.barrier_wait()"), "{tips}");
    assert_eq!(&*lines, "1");
    Ok(())
}
