//! The bar itself.

use std::io::IsTerminal;
use std::sync::Once;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time after which progress is shown.
const PATIENCE: Duration = Duration::from_secs(3);

/// The number of steps that have been made, of a number that is known. The bar goes when this is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    /// Shows the bar once. There is none if nothing is to be shown.
    shown: Option<Once>,
    what: String,
    steps: u64,
    unit: &'static str,
}

impl Progress {
    /// Returns the progress of `what`, which takes this many steps.
    pub(crate) fn new(what: &str, steps: u64, unit: &'static str) -> Self {
        let shown = std::io::stderr().is_terminal().then(Once::new);
        Progress { bar: ProgressBar::hidden(), start: Instant::now(), shown, what: what.to_owned(), steps, unit }
    }

    /// Returns progress that is never shown.
    pub(crate) fn hidden() -> Self {
        let mut progress = Progress::new("", 0, "");
        progress.shown = None;
        progress
    }

    /// Notes a step.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
        self.show();
    }

    /// Shows the bar if it is time to.
    pub(crate) fn show(&self) {
        let Some(shown) = self.shown.as_ref().filter(|_| self.start.elapsed() > PATIENCE) else { return };
        shown.call_once(|| {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.set_length(self.steps);
            self.bar.set_message(self.what.clone());
            let style = format!("{{msg}} {{wide_bar}} {{pos}} of {{len}} {}, {{elapsed}}", self.unit);
            self.bar.set_style(ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        });
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_on_a_terminal(start: Instant) -> Progress {
        let mut progress = Progress::new("kernel `k`", 7, "clusters");
        (progress.shown, progress.start) = (Some(Once::new()), start);
        progress.step();
        progress.step();
        progress
    }

    #[test]
    fn what_takes_long_is_shown() {
        let start = Instant::now().checked_sub(PATIENCE * 2).expect("the clock began before");
        let long = steps_on_a_terminal(start);
        assert_eq!((long.bar.position(), long.bar.length(), &*long.bar.message()), (2, Some(7), "kernel `k`"));
        let short = steps_on_a_terminal(Instant::now());
        assert_eq!((short.bar.position(), &*short.bar.message()), (2, ""));
        let mut hidden = Progress::hidden();
        hidden.start = start;
        hidden.step();
        assert_eq!(&*hidden.bar.message(), "");
    }
}
