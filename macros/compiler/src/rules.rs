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
    rule("token_never_waited", "every arrival must be waited on, on every path"),
    fixed("token_reused", "a token must be waited on only once", "rustc checks it, as a move"),
    fixed("token_escapes", "a token must stay in a local variable", "a token stored anywhere else cannot be tracked"),
    rule("arrive_while_pending", "a thread must arrive at a barrier only once per phase"),
    rule(COLLECTIVE_WHILE_PENDING, "no other collective of the group may stand between arrive and wait"),
    rule(DIVERGENT_COLLECTIVE, "a group's collectives must be reached by all of its threads together"),
    rule(DIVERGENT_EXIT, "no thread may exit before the last collective of its groups"),
    rule("divergent_aligned", "an `.aligned` barrier must be reached by all threads of a warp together"),
    rule("remote_before_entry", "a peer's memory must not be accessed before a cluster barrier"),
    rule("exit_before_peers_done", "no block may exit while a peer may access its memory"),
    rule("unpublished_remote_read", "what peers read must have been published by a cluster barrier"),
    rule("overwrite_while_read", "what peers may still read must not be overwritten"),
    rule("write_after_arrive", "what peers read after a wait must be written before its arrival"),
    rule("relaxed_publishes", "what a relaxed arrival must order needs a fence"),
    rule("unordered_remote_write", "peers' writes must be ordered with the owner's accesses"),
    rule(RANK_OUT_OF_RANGE, "a rank must exist in the cluster"),
    rule("uninit_shared_read", "shared memory must be written before it is read"),
    rule("copy_in_flight", "what a copy reads and writes must be left alone until a wait has shown its completion"),
    rule("barrier_uninitialized", "a phase barrier must be initialized before it is used"),
    rule("barrier_unpublished", "threads must synchronize between one thread's `init` and the others' use"),
    rule("barrier_init_not_elected", "a barrier must be initialized by a single thread"),
    rule("barrier_reinit", "a barrier in use must not be initialized again"),
    rule("barrier_count", "a phase must not expect more arrivals than can occur"),
    rule("barrier_use_after_drop", "a thread that has dropped out of a barrier must not arrive again"),
    rule("barrier_stale_token", "a token must belong to the current phase or the preceding one"),
    fixed(
        "barrier_token_mixed",
        "a token must be used at the barrier that returned it",
        "rustc checks it, by the barrier's brand",
    ),
    fixed(
        "barrier_scope",
        "remote arrivals need a cluster-scope barrier, and remote waits do not exist",
        "there is nothing to run",
    ),
    fixed("barrier_copy", "a barrier has one location and one name", "there is nothing to run"),
    fixed("launch_limit", "a launch must fit the device's limits", "no device can run what it rejects"),
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
