//! Builds the report of a data race from the two accesses: their memory, their threads, their values, and what would
//! have ordered them.

use std::panic::Location;

use super::context::Context;
use super::memory::Access;
use super::race::{ActorId, ConflictKind, EarlierAccess};
use super::site::location;
use crate::report::failure::Cause;
use crate::report::race::{AccessKind, Race, RaceAccess};
use crate::scope::Scope;

impl Context<'_> {
    /// Ends the launch with the race between `earlier` and this access by `actor`. `before` and `after` are the bytes
    /// in memory before and after this access.
    #[cold]
    pub(super) fn fail_race(
        &self,
        actor: ActorId,
        access: Access<'_>,
        earlier: EarlierAccess,
        kind: ConflictKind,
        before: Vec<u8>,
        after: Vec<u8>,
    ) -> ! {
        let memory = self.cluster.name(access.memory);
        let side = |id: ActorId, kind: ConflictKind, site: &'static Location<'static>, value: Vec<u8>| RaceAccess {
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
            value,
            type_name: access.type_name.to_owned(),
        };
        let race = Race {
            memory,
            bytes: access.start..access.start + access.len,
            first: side(earlier.id, earlier.kind, earlier.site, before),
            second: side(actor, kind, access.site, after),
            help: help(earlier, kind, actor),
        };
        self.fail(Cause::Race(Box::new(race)), access.site)
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
