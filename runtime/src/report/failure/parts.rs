//! Takes a failure apart into what its reports show: a title, labels for lines of the source, calls and help. The text is put together
//! here where the source can be read; `page` makes HTML of the same parts.

use super::{Cause, Failure};
use crate::report::render::{self, Level, Note};
use crate::report::waiting::{called_from, threads};

impl Failure {
    /// Returns the sentence that says how to replay the failure.
    pub(super) fn replay(&self) -> Option<String> {
        self.schedule
            .as_ref()
            .map(|schedule| format!("set PHALANX_SCHEDULE={schedule} in the environment to replay this"))
    }

    /// Returns a line for each call that led to the failure. The texts about threads that wait have their own.
    pub(super) fn call_chain(&self) -> Vec<String> {
        match self.cause {
            Cause::Deadlock(_) | Cause::SpinLimit { .. } | Cause::Deadline { .. } => Vec::new(),
            _ => self.calls.iter().map(|call| format!("called from {call}")).collect(),
        }
    }

    /// Returns where the kernel stopped: ``kernel `share` at src/main.rs:5:9``.
    pub(super) fn place(&self) -> String {
        let at = self.location.as_ref().map_or_else(String::new, |location| format!(" at {location}"));
        format!("kernel `{}`{at}", self.kernel)
    }

    /// Returns what a report says beside the source.
    pub(super) fn parts(&self) -> Parts<'_> {
        match &self.cause {
            Cause::Race(race) => Parts { title: race.title(), notes: race.notes(), help: race.helps() },
            Cause::Deadlock(waiting) | Cause::SpinLimit { waiting, .. } | Cause::Deadline { waiting, .. } => {
                let notes = waiting.iter().filter_map(|group| {
                    let what = group.what.clone() + &called_from(&group.calls);
                    let text = threads(group.threads, group.first, &what, None);
                    let is_primary = group.location == self.location;
                    Some(Note { location: group.location.as_ref()?, text, is_primary })
                });
                let missing =
                    waiting.iter().flat_map(|group| group.missing.iter().map(|missing| (group.lacks(), missing)));
                let missing = missing.map(|(lacks, missing)| {
                    let there = threads(missing.threads, missing.first, &missing.what, missing.location.as_ref());
                    format!("{lacks}: {there}")
                });
                let mut help: Vec<String> = missing.collect();
                help.dedup();
                Parts { title: self.cause.title(), notes: notes.collect(), help }
            }
            cause => {
                let thread = format!("block {} thread {}", self.block, self.thread);
                let at = self.location.iter();
                let mut notes: Vec<_> =
                    at.map(|location| Note { location, text: thread.clone(), is_primary: true }).collect();
                if let Cause::UninitializedShared { copy: Some(copy), .. } = cause {
                    notes.push(Note {
                        location: copy,
                        text: "the copy that is in flight".to_owned(),
                        is_primary: false,
                    });
                }
                Parts { title: cause.to_string(), notes, help: Vec::new() }
            }
        }
    }

    /// Returns the report with the source of each location, if the files can be read.
    pub(super) fn rendered(&self) -> Option<String> {
        self.location.as_ref()?;
        let Parts { title, notes, help } = self.parts();
        let title = format!("{}: {title}", self.place());
        let help = [help, Vec::from_iter(self.replay())].concat();
        render::rendered(Level::ERROR, &title, &notes, &self.call_chain(), &help)
    }
}

/// A report in parts: its title, the labels of lines, and sentences below them.
pub(super) struct Parts<'a> {
    pub(super) title: String,
    pub(super) notes: Vec<Note<'a>>,
    pub(super) help: Vec<String>,
}
