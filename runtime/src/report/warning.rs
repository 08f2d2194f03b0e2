//! The warnings of a launch that succeeded, as data and as text, and where they go: standard error, or a function of the
//! user's.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::race::Race;
use super::render::{self, Level};
use crate::location::Location;

/// The simulator's warning of two plain writes that race by the memory model, although they store equal bytes.
/// [`Device::on_warning`](crate::Device::on_warning) receives it. Its `Display` is the report, like that of a
/// [`Failure`](crate::Failure).
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Warning {
    /// The kernel's name.
    pub kernel: String,
    /// The two writes.
    pub race: Race,
}

/// The help that says how a program accepts such writes.
const ACCEPT: &str = "both store the same value, so the launch goes on: use an atomic store, or let one thread write; \
                      `Simulator::equal_writes_race(false)` or PHALANX_EQUAL_WRITES=allow in the environment accepts it";

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning { kernel, race } = self;
        let at = format!("kernel `{kernel}` at {}: ", race.second.location);
        let help = [race.helps(), vec![ACCEPT.to_owned()]].concat();
        match render::rendered(Level::WARNING, &(at.clone() + &race.title()), &race.notes(), &[], &help) {
            Some(rendered) => f.write_str(&rendered),
            None => write!(f, "warning: {at}{race}; {ACCEPT}"),
        }
    }
}

/// A user's function that receives warnings.
type Function = Arc<dyn Fn(&Warning) + Send + Sync>;

/// The pairs of places whose warnings have been written to standard error, so that a program that launches a kernel
/// many times gets each once.
static WRITTEN: Mutex<BTreeSet<(Location, Location)>> = Mutex::new(BTreeSet::new());

/// The destination of a device's warnings.
#[derive(Default)]
pub(crate) struct Warnings {
    function: Mutex<Option<Function>>,
}

impl Warnings {
    /// Sends all further warnings to `function`.
    pub(crate) fn set(&self, function: Function) {
        *self.function.lock().unwrap_or_else(PoisonError::into_inner) = Some(function);
    }

    /// Writes a warning. The caller holds no lock, because the function is the user's.
    pub(crate) fn write(&self, warning: &Warning) {
        let function = self.function.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match function {
            Some(function) => function(warning),
            None => {
                let Race { first, second, .. } = &warning.race;
                let (a, b) = (first.location.clone(), second.location.clone());
                let pair = (a.clone().min(b.clone()), a.max(b));
                if WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).insert(pair) {
                    eprintln!("{warning}");
                }
            }
        }
    }
}
