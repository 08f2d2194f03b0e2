//! All rules by name. Those about what a kernel does have a summary, a page in `docs/rules.md`, and may be switched off by
//! `unchecked(...)` or not; those about syntax and types have neither: they are the language itself. How a rule is checked
//! is not here, nor what a message says.

use std::fmt;
use std::str::FromStr;

use Unchecked::{Allowed, Refused};

/// Where `docs/rules.md` can be read: the documentation of the runtime crate, whose module `rules` it is. Each rule about
/// what a kernel does has a section under its name.
pub(crate) const RULES_PAGE: &str = "https://docs.rs/phalanx/latest/phalanx/rules/index.html";

/// Whether `unchecked(...)` can switch a rule off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unchecked {
    /// It can.
    Allowed,
    /// It cannot, and this is why.
    Refused(&'static str),
}

/// What is known of a rule about what a kernel does, beyond its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behavior {
    /// What the rule asks for, as a sentence without its full stop.
    pub summary: &'static str,
    /// Whether `unchecked(...)` can switch the rule off.
    pub unchecked: Unchecked,
}

/// Declares [`Rule`] with what its variants are called and, for those about what a kernel does, their [`Behavior`]: a
/// variant cannot be added without them.
macro_rules! rules {
    (
        behavior { $($rule:ident = $name:literal: $summary:literal, $unchecked:expr;)* }
        language { $($other:ident = $other_name:literal;)* }
    ) => {
        /// A rule that a kernel, a device function or a derived type can break. Each message names the one that it is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = concat!("`", $name, "`: ", $summary, ".")] $rule,)*
            $(#[doc = concat!("`", $other_name, "`, a rule about syntax or types.")] $other,)*
        }

        impl Rule {
            /// Every rule, in the order of the pages; those about syntax and types come last.
            pub const ALL: &[Rule] = &[$(Rule::$rule,)* $(Rule::$other,)*];

            /// Returns the name that messages and `unchecked(...)` use, as `token_never_waited`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Rule::$rule => $name,)*
                    $(Rule::$other => $other_name,)*
                }
            }

            /// Returns what is known of a rule about what a kernel does; `None` for rules about syntax and types.
            pub const fn behavior(self) -> Option<Behavior> {
                match self {
                    $(Rule::$rule => Some(Behavior { summary: $summary, unchecked: $unchecked }),)*
                    $(Rule::$other => None,)*
                }
            }
        }
    };
}

rules! {
    behavior {
        TokenNeverWaited = "token_never_waited": "every arrival is waited for, on every path", Allowed;
        TokenReused = "token_reused": "a token is waited with once", Refused("rustc checks it, as a move");
        TokenEscapes = "token_escapes":
            "a token stays in a local variable", Refused("a token that is anywhere else cannot be followed");
        ArriveWhilePending = "arrive_while_pending": "a thread arrives at a barrier once a phase", Allowed;
        CollectiveWhilePending = "collective_while_pending":
            "between arrive and wait there is no other collective of the group", Allowed;
        DivergentCollective = "divergent_collective":
            "all threads of a group come to its collectives together", Allowed;
        DivergentExit = "divergent_exit": "no thread leaves before the last collective of its groups", Allowed;
        DivergentAligned = "divergent_aligned": "all threads of a warp come to an `.aligned` barrier together", Allowed;
        RemoteBeforeEntry = "remote_before_entry": "a peer's memory is touched after a barrier of the cluster", Allowed;
        ExitBeforePeersDone = "exit_before_peers_done": "no block leaves while a peer may touch its memory", Allowed;
        UnpublishedRemoteRead = "unpublished_remote_read":
            "what peers read was published by a barrier of the cluster", Allowed;
        OverwriteWhileRead = "overwrite_while_read": "what peers may still read is not overwritten", Allowed;
        WriteAfterArrive = "write_after_arrive": "what peers read after a wait was written before its arrival", Allowed;
        RelaxedPublishes = "relaxed_publishes": "what a relaxed arrival must order is fenced", Allowed;
        UnorderedRemoteWrite = "unordered_remote_write":
            "what peers write is ordered with what the owner does", Allowed;
        RankOutOfRange = "rank_out_of_range": "a rank is one of the cluster's", Allowed;
        UninitSharedRead = "uninit_shared_read": "shared memory is written to before it is read", Allowed;
        CopyInFlight = "copy_in_flight":
            "what a copy reads and writes is left alone until a wait has shown its end", Allowed;
        BarrierUninitialized = "barrier_uninitialized": "a phase barrier is initialised before it is used", Allowed;
        BarrierUnpublished = "barrier_unpublished":
            "threads meet between the `init` of one and the others' use", Allowed;
        BarrierInitNotElected = "barrier_init_not_elected": "one thread initialises a barrier", Allowed;
        BarrierReinit = "barrier_reinit": "a barrier that is in use is not initialised again", Allowed;
        BarrierCount = "barrier_count": "a phase expects as many arrivals as can come", Allowed;
        BarrierUseAfterDrop = "barrier_use_after_drop": "who has dropped out of a barrier arrives no more", Allowed;
        BarrierStaleToken = "barrier_stale_token": "a token is of the current phase or of the one before", Allowed;
        BarrierTokenMixed = "barrier_token_mixed":
            "a token is used at the barrier that gave it", Refused("rustc checks it, by the barrier's brand");
        BarrierScope = "barrier_scope":
            "only peers' barriers are arrived at from afar, and none is waited at", Refused("there is nothing to run");
        BarrierCopy = "barrier_copy": "a barrier has one place and one name", Refused("there is nothing to run");
        LaunchLimit = "launch_limit":
            "a device has room for the sizes of a launch", Refused("no device runs what it refuses");
    }
    language {
        ArgumentCount = "argument_count";
        AssignmentTarget = "assignment_target";
        AtomicOrdering = "atomic_ordering";
        AtomicScope = "atomic_scope";
        AtomicUse = "atomic_use";
        AttributeOption = "attribute_option";
        AttributeTarget = "attribute_target";
        CollectiveInClosure = "collective_in_closure";
        CollectiveInMethod = "collective_in_method";
        Cuda = "cuda";
        DeriveEmpty = "derive_empty";
        DeriveNames = "derive_names";
        DeriveRepr = "derive_repr";
        DeriveTarget = "derive_target";
        FormatString = "format_string";
        KernelParameter = "kernel_parameter";
        KernelResult = "kernel_result";
        NoFields = "no_fields";
        NotIndexable = "not_indexable";
        NotParsed = "not_parsed";
        Operator = "operator";
        OutsideLoop = "outside_loop";
        PartOfMemory = "part_of_memory";
        ReadOnlyMemory = "read_only_memory";
        Recursion = "recursion";
        ReservedName = "reserved_name";
        TileSize = "tile_size";
        TypeArguments = "type_arguments";
        UnboundSharedArray = "unbound_shared_array";
        Unchecked = "unchecked";
        UnknownLabel = "unknown_label";
        UnknownMacro = "unknown_macro";
        UnknownMethod = "unknown_method";
        UnsupportedBorrow = "unsupported_borrow";
        UnsupportedCall = "unsupported_call";
        UnsupportedLiteral = "unsupported_literal";
        UnsupportedLoop = "unsupported_loop";
        UnsupportedPattern = "unsupported_pattern";
        UnsupportedSignature = "unsupported_signature";
        UnsupportedSyntax = "unsupported_syntax";
        UnsupportedType = "unsupported_type";
        WrongKind = "wrong_kind";
    }
}

impl Rule {
    /// The rules by which all threads of a warp come to a barrier together.
    pub(crate) const CONVERGENCE: [Rule; 2] = [Rule::DivergentCollective, Rule::DivergentExit];

    /// Returns the rules that `unchecked(...)` takes, each with its summary.
    pub(crate) fn switchable() -> impl Iterator<Item = (Rule, &'static str)> {
        Rule::ALL.iter().filter_map(|rule| match rule.behavior()? {
            Behavior { summary, unchecked: Allowed } => Some((*rule, summary)),
            Behavior { unchecked: Refused(_), .. } => None,
        })
    }

    /// Returns where the rule's page is, if it has one.
    pub(crate) fn page(self) -> Option<String> {
        self.behavior().map(|_| format!("{RULES_PAGE}#{self}"))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseRuleError;

impl fmt::Display for ParseRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no rule has this name")
    }
}

impl std::error::Error for ParseRuleError {}

impl FromStr for Rule {
    type Err = ParseRuleError;

    fn from_str(name: &str) -> Result<Rule, ParseRuleError> {
        Rule::ALL.iter().copied().find(|rule| rule.name() == name).ok_or(ParseRuleError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variants are called as their rules are, so that one is found by the other.
    #[test]
    fn names_are_those_of_the_variants() {
        for rule in Rule::ALL {
            let mut variant = String::new();
            for word in rule.name().split('_') {
                let (first, rest) = word.split_at(1);
                variant += &(first.to_uppercase() + rest);
            }
            assert_eq!(format!("{rule:?}"), variant);
            assert_eq!(rule.name().parse(), Ok(*rule));
        }
        assert_eq!("token".parse::<Rule>(), Err(ParseRuleError));
    }

    /// What the runtime's constant functions refuse points to the same page.
    #[test]
    fn the_runtime_knows_the_page() {
        let program = include_str!("../../../runtime/src/program/mod.rs");
        assert!(program.contains(&format!("concat!(\"\\nnote: see {RULES_PAGE}#\", $rule)")));
    }

    /// The index at the top of the pages.
    #[test]
    fn the_pages_index_is_this_catalogue() {
        let pages = include_str!("../../../docs/rules.md");
        let row = |rule: &Rule| {
            let Behavior { summary, unchecked } = rule.behavior()?;
            let off = match unchecked {
                Allowed => "yes".into(),
                Refused(why) => format!("no: {why}"),
            };
            Some(format!("| [{rule}](#{rule}) | {summary} | {off} |"))
        };
        let index: Vec<&str> = pages.lines().filter(|line| line.starts_with("| [")).collect();
        assert_eq!(index, Rule::ALL.iter().filter_map(row).collect::<Vec<_>>());
        for rule in Rule::ALL.iter().filter(|rule| rule.behavior().is_some()) {
            assert!(pages.contains(&format!("\n## {rule}\n")), "docs/rules.md has no page for {rule}");
        }
    }
}
