//! The catalogue of rules about what a kernel does: their names, what each asks for, and whether `unchecked(...)` can
//! switch it off. Messages name them; `docs/rules.md` has a page for each. Rules about syntax and types are not here:
//! they are the language itself.

#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    /// What it asks for, as a sentence without its full stop.
    pub(crate) summary: &'static str,
    /// Why it cannot be switched off, if it cannot.
    pub(crate) fixed: Option<&'static str>,
}

const fn rule(name: &'static str, summary: &'static str) -> Rule {
    Rule { name, summary, fixed: None }
}

const fn fixed(name: &'static str, summary: &'static str, why: &'static str) -> Rule {
    Rule { name, summary, fixed: Some(why) }
}

pub(crate) static RULES: [Rule; 29] = [
    rule("token_never_waited", "every arrival is waited for, on every path"),
    fixed("token_reused", "a token is waited with once", "rustc checks it, as a move"),
    fixed("token_escapes", "a token stays in a local variable", "a token that is anywhere else cannot be followed"),
    rule("arrive_while_pending", "a thread arrives at a barrier once a phase"),
    rule(COLLECTIVE_WHILE_PENDING, "between arrive and wait there is no other collective of the group"),
    rule(DIVERGENT_COLLECTIVE, "all threads of a group come to its collectives together"),
    rule(DIVERGENT_EXIT, "no thread leaves before the last collective of its groups"),
    rule("divergent_aligned", "all threads of a warp come to an `.aligned` barrier together"),
    rule("remote_before_entry", "a peer's memory is touched after a barrier of the cluster"),
    rule("exit_before_peers_done", "no block leaves while a peer may touch its memory"),
    rule("unpublished_remote_read", "what peers read was published by a barrier of the cluster"),
    rule("overwrite_while_read", "what peers may still read is not overwritten"),
    rule("write_after_arrive", "what peers read after a wait was written before its arrival"),
    rule("relaxed_publishes", "what a relaxed arrival must order is fenced"),
    rule("unordered_remote_write", "what peers write is ordered with what the owner does"),
    rule(RANK_OUT_OF_RANGE, "a rank is one of the cluster's"),
    rule("uninit_shared_read", "shared memory is written to before it is read"),
    rule("copy_in_flight", "what a copy reads and writes is left alone until a wait has shown its end"),
    rule("barrier_uninitialized", "a phase barrier is initialised before it is used"),
    rule("barrier_unpublished", "threads meet between the `init` of one and the others' use"),
    rule("barrier_init_not_elected", "one thread initialises a barrier"),
    rule("barrier_reinit", "a barrier that is in use is not initialised again"),
    rule("barrier_count", "a phase expects as many arrivals as can come"),
    rule("barrier_use_after_drop", "who has dropped out of a barrier arrives no more"),
    rule("barrier_stale_token", "a token is of the current phase or of the one before"),
    fixed(
        "barrier_token_mixed",
        "a token is used at the barrier that gave it",
        "rustc checks it, by the barrier's brand",
    ),
    fixed(
        "barrier_scope",
        "only peers' barriers are arrived at from afar, and none is waited at",
        "there is nothing to run",
    ),
    fixed("barrier_copy", "a barrier has one place and one name", "there is nothing to run"),
    fixed("launch_limit", "a device has room for the sizes of a launch", "no device runs what it refuses"),
];

// What a device function does against these shows only at its definition.
pub(crate) const DIVERGENT_COLLECTIVE: &str = "divergent_collective";
pub(crate) const DIVERGENT_EXIT: &str = "divergent_exit";
/// By these, all threads of a warp come to a barrier together.
pub(crate) const CONVERGENCE: [&str; 2] = [DIVERGENT_COLLECTIVE, DIVERGENT_EXIT];
pub(crate) const RANK_OUT_OF_RANGE: &str = "rank_out_of_range";
pub(crate) const COLLECTIVE_WHILE_PENDING: &str = "collective_while_pending";

impl Rule {
    /// Where its page is.
    pub(crate) fn page(&self) -> String {
        format!("docs/rules.md#{}", self.name)
    }
}

pub(crate) fn by_name(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// Those that `unchecked(...)` takes.
pub(crate) fn switchable() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(|rule| rule.fixed.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index at the top of the pages.
    #[test]
    fn the_pages_index_is_this_catalogue() {
        let pages = include_str!("../../../docs/rules.md");
        for Rule { name, summary, fixed } in &RULES {
            let off = fixed.map_or("yes".into(), |why| format!("no: {why}"));
            let row = format!("| [{name}](#{name}) | {summary} | {off} |");
            assert!(pages.contains(&row), "docs/rules.md lacks the row\n{row}");
            assert!(pages.contains(&format!("\n## {name}\n")), "docs/rules.md has no page for {name}");
        }
    }
}
