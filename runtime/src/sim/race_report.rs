//! Builds the report of a data race from the two accesses: their memory, their threads, their values, and what would
//! have ordered them.

use std::ops::Range;

use super::context::Context;
use super::memory::{Access, MemoryOp};
use super::race::{Actor, ActorId, ConflictKind, EarlierAccess};
use super::site::{Site, location};
use crate::report::failure::Cause;
use crate::report::race::{AccessKind, Race, RaceAccess};
use crate::scope::Scope;

/// An access that races with an earlier one.
pub(super) struct RacingAccess<'a> {
    pub(super) actor: &'a Actor,
    pub(super) access: Access<'a>,
    pub(super) kind: ConflictKind,
    pub(super) earlier: EarlierAccess,
    /// Reads this many bytes of the memory, at this distance from the access's first byte.
    pub(super) read: &'a dyn Fn(isize, usize) -> Vec<u8>,
    /// The bytes before the access, if it has been executed.
    pub(super) before: Option<&'a [u8]>,
}

impl RacingAccess<'_> {
    /// Returns the bytes that both accesses cover.
    fn overlap(&self) -> Range<usize> {
        let (access, earlier) =
            (range(self.access.start, self.access.len), range(self.earlier.start, self.earlier.len));
        access.start.max(earlier.start)..access.end.min(earlier.end)
    }

    /// Returns the bytes of the earlier access, as they were before this one.
    fn earlier_value(&self) -> Vec<u8> {
        let distance = self.earlier.start.wrapping_sub(self.access.start).cast_signed();
        let mut value = (self.read)(distance, self.earlier.len);
        let both = self.overlap();
        if let Some(before) = self.before {
            let (to, from) = (both.start - self.earlier.start, both.start - self.access.start);
            value[to..to + both.len()].copy_from_slice(&before[from..from + both.len()]);
        }
        value
    }

    /// Returns the bytes that this access wrote or read.
    fn value(&self) -> Vec<u8> {
        match self.access.op {
            MemoryOp::Write(new) => new.to_vec(),
            MemoryOp::Read
            | MemoryOp::AtomicLoad
            | MemoryOp::StaleLoad
            | MemoryOp::Atomic
            | MemoryOp::AtomicStore
            | MemoryOp::Arrival => (self.read)(0, self.access.len),
        }
    }
}

fn range(start: usize, len: usize) -> Range<usize> {
    start..start + len
}

impl Context<'_> {
    /// Ends the launch with this race.
    #[cold]
    pub(super) fn fail_race(&self, racing: RacingAccess<'_>) -> ! {
        if racing.earlier.id.cluster() != self.cluster.rank {
            self.cluster.launch.note_communication();
        }
        self.fail(Cause::Race(Box::new(self.race(&racing))), racing.access.site)
    }

    /// Records a warning of this race.
    #[cold]
    pub(super) fn warn_of_race(&self, racing: RacingAccess<'_>) {
        let (warnings, cluster) = (&self.cluster.launch.simulator.warnings, self.cluster.rank);
        warnings.add(racing.earlier.site, racing.access.site, cluster, || self.race(&racing));
    }

    fn race(&self, racing: &RacingAccess<'_>) -> Race {
        let RacingAccess { actor, access, kind, earlier, .. } = *racing;
        let side = |id: ActorId, kind: ConflictKind, site: Site, bytes: Range<usize>, value: Vec<u8>| RaceAccess {
            kind: match kind {
                ConflictKind::Read => AccessKind::Read,
                ConflictKind::Write => AccessKind::Write,
                ConflictKind::AtomicRead(_) => AccessKind::AtomicRead,
                ConflictKind::AtomicWrite(_) => AccessKind::AtomicWrite,
            },
            location: location(site),
            block: self.cluster.launch.block_index(id.cluster(), id.issuer().block()),
            thread: self.cluster.launch.shape.block.index(id.issuer().thread().into()),
            by_copy: id.is_copy(),
            bytes,
            value,
            type_name: access.type_name.to_owned(),
        };
        let bytes = racing.overlap();
        Race {
            memory: self.cluster.name(access.memory),
            elements: self.cluster.elements(access.memory, &bytes),
            bytes,
            first: side(
                earlier.id,
                earlier.kind,
                earlier.site,
                range(earlier.start, earlier.len),
                racing.earlier_value(),
            ),
            second: side(actor.id, kind, access.site, range(access.start, access.len), racing.value()),
            weak: self.weak_synchronization(earlier, actor),
            help: help(earlier, kind, actor.id),
        }
    }
}

/// Suggests what would have ordered the two accesses.
fn help(earlier: EarlierAccess, kind: ConflictKind, actor: ActorId) -> String {
    let is_atomic = |kind| matches!(kind, ConflictKind::AtomicRead(_) | ConflictKind::AtomicWrite(_));
    if is_atomic(earlier.kind) && is_atomic(kind) {
        return "widen the scope of the atomics: one of them does not include the other's thread".to_owned();
    }
    if earlier.id.is_copy() {
        return "the copy is in flight until a wait observes its completion: at its barrier, with `wait_async`, or with \
                `bulk_wait_group`"
            .to_owned();
    }
    let (first, second) = (earlier.id, actor.issuer());
    let (barrier, scope) = if first.cluster() != second.cluster() {
        ("`grid.sync()`", Scope::Device)
    } else if first.block() != second.block() {
        ("`cluster.sync()`", Scope::Cluster)
    } else if first.with_lane(0) != second.with_lane(0) {
        ("`block.sync()`", Scope::Block)
    } else {
        ("`sync()` of their tile or block", Scope::Block)
    };
    let between = format!("a {barrier} between them would order them");
    if is_atomic(earlier.kind) || is_atomic(kind) {
        return format!("{between}, and so would a second atomic instead of the plain access");
    }
    format!(
        "{between}, and so would a `Release` of one thread that an `Acquire` of the other reads from, at `Scope::{scope:?}` or wider"
    )
}
