//! What others can watch: the spans of `tracing`.

use std::sync::{Arc, Mutex};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::launch::on_each_device::on_each_device;

mod kernels {
    use crate::prelude::*;

    #[cluster_kernel(block = 32)]
    pub(super) fn watched(out: &mut [u32]) {
        out[this_grid().thread_rank()] = 1;
    }
}
use kernels::*;

/// Writes down the names of spans, with their fields.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<Vec<String>>>);

impl Subscriber for Names {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "phalanx"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut names = self.0.lock().unwrap();
        names.push(format!("{} {}", span.metadata().name(), span.values()));
        Id::from_u64(names.len() as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Returns the spans of a launch and of a copy.
fn spans(device: &crate::Device) -> String {
    let names = Names::default();
    tracing::subscriber::with_default(names.clone(), || {
        let mut out = device.zeros(64).unwrap();
        watched(&mut out).grid(2).launch(device).unwrap();
        assert_eq!(out.read().unwrap(), [1; 64]);
    });
    names.0.lock().unwrap().join("\n")
}

#[test]
fn launches_and_copies_have_spans() {
    on_each_device(|device| {
        // Another test may reach a span for the first time just now, without a subscriber; a later subscriber is asked again.
        let all = (0..20).map(|_| spans(device)).collect::<Vec<_>>().join("\n");
        assert!(all.contains("launch {kernel: \"watched\"}"), "{all}");
        // The simulator's memory is the host's.
        assert!(device.is_simulator() || all.contains("load") && all.contains("device to host"), "{all}");
    });
}
