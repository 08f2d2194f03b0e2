//! All rules by name. Those about what a kernel does have a summary, a page in `runtime/src/rules.md`, and may be switched off by
//! `unchecked(...)` or not; those about syntax and types have neither: they are the language itself. How a rule is checked
//! is not here, nor what a message says.

use std::fmt;
use std::str::FromStr;

use Unchecked::{Allowed, Refused};

/// Where `runtime/src/rules.md` can be read: the documentation of the runtime crate, whose module `rules` it is. Each rule about
/// what a kernel does has a section under its name.
pub(crate) const RULES_PAGE: &str = phalanx_contract::rules_page!();

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
pub struct Requirement {
    /// What the rule asks for, as a sentence without its full stop.
    pub summary: &'static str,
    /// Whether `unchecked(...)` can switch the rule off.
    pub unchecked: Unchecked,
}

/// Declares [`Rule`] with what its variants are called and, for those about what a kernel does, their [`Requirement`]: a
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
            pub const fn requirement(self) -> Option<Requirement> {
                match self {
                    $(Rule::$rule => Some(Requirement { summary: $summary, unchecked: $unchecked }),)*
                    $(Rule::$other => None,)*
                }
            }
        }
    };
}

rules! {
    behavior {
        TokenNeverWaited = "token_never_waited": "every arrival must be waited on, on every path", Allowed;
        TokenReused = "token_reused": "a token must be waited on only once", Refused("rustc checks it, as a move");
        TokenEscapes = "token_escapes":
            "a token must stay in a local variable", Refused("a token stored anywhere else cannot be tracked");
        TokenForgotten = "token_forgotten":
            "a group whose token was forgotten must not be used again", Allowed;
        ArriveWhilePending = "arrive_while_pending": "a thread must arrive at a barrier only once per phase", Allowed;
        CollectiveWhilePending = "collective_while_pending":
            "no other collective of the group may stand between arrive and wait", Allowed;
        DivergentCollective = "divergent_collective":
            "a group's collectives must be reached by all of its threads together", Allowed;
        DivergentExit = "divergent_exit": "no thread may exit before the last collective of its groups", Allowed;
        DivergentAligned = "divergent_aligned":
            "an `.aligned` barrier must be reached by all threads of a warp together", Allowed;
        RemoteBeforeEntry = "remote_before_entry":
            "a peer's memory must not be accessed before a cluster barrier", Allowed;
        ExitBeforePeersDone = "exit_before_peers_done": "no block may exit while a peer may access its memory", Allowed;
        UnpublishedRemoteRead = "unpublished_remote_read":
            "memory that peers read must have been published by a cluster barrier", Allowed;
        OverwriteWhileRead = "overwrite_while_read": "memory that peers may still read must not be overwritten", Allowed;
        WriteAfterArrive = "write_after_arrive":
            "memory that peers read after a wait must be written before its arrival", Allowed;
        RelaxedPublishes = "relaxed_publishes": "a relaxed arrival needs a preceding fence to order memory accesses", Allowed;
        UnorderedRemoteWrite = "unordered_remote_write":
            "peers' writes must be ordered with the owner's accesses", Allowed;
        RankOutOfRange = "rank_out_of_range": "a rank must exist in the cluster", Allowed;
        UnsynchronizedAccess = "unsynchronized_access":
            "a barrier must come between a write to shared memory and another thread's access to the same element", Allowed;
        UninitSharedRead = "uninit_shared_read": "shared memory must be written before it is read", Allowed;
        CopyInFlight = "copy_in_flight":
            "what a copy reads and writes must be left alone until a wait has shown its completion", Allowed;
        MulticastUnarmed = "multicast_unarmed":
            "each block that a multicast reaches must have emptied the tile and let its barrier expect it", Allowed;
        MmaInFlight = "mma_in_flight":
            "a product of a warpgroup must be waited for, and its tiles be left alone until then", Allowed;
        BarrierUninitialized = "barrier_uninitialized":
            "a phase barrier must be initialized before it is used", Allowed;
        BarrierUnpublished = "barrier_unpublished":
            "threads must synchronize between one thread's `init` or `invalidate` and the others' use", Allowed;
        BarrierInitNotElected = "barrier_init_not_elected": "a barrier must be initialized and invalidated by a single thread", Allowed;
        BarrierReinit = "barrier_reinit": "a barrier in use must not be initialized again", Allowed;
        BarrierCount = "barrier_count": "a phase must not expect more arrivals than can occur", Allowed;
        BarrierUseAfterDrop = "barrier_use_after_drop":
            "a thread that has dropped out of a barrier must not arrive again", Allowed;
        BarrierStaleToken = "barrier_stale_token":
            "a token must belong to the current phase or the preceding one", Allowed;
        BarrierTokenMixed = "barrier_token_mixed":
            "a token must be used at the barrier that returned it", Refused("rustc checks it, by the barrier's brand");
        BarrierScope = "barrier_scope":
            "remote arrivals need a cluster-scope barrier, and remote waits do not exist", Refused("there is nothing to run");
        BarrierCopy = "barrier_copy": "a barrier has one location and one name", Refused("there is nothing to run");
        RingDeadlock = "ring_deadlock": "every phase that a thread waits for must be completed", Allowed;
        RingOverwrite = "ring_overwrite": "a stage must not be filled while it is read or filled", Allowed;
        RingRead = "ring_read": "a stage must be full before it is read", Allowed;
        RingCount = "ring_count": "a phase must get exactly the arrivals that it expects", Allowed;
        RingOvertaken = "ring_overtaken":
            "a wait must be for the current phase or the preceding one", Allowed;
        RingUndrained = "ring_undrained":
            "nothing may be in flight to or from a block or a thread that exits", Allowed;
        AccessBeforePrevious = "access_before_previous":
            "global memory must not be accessed, nor the kernel be left, before `wait_previous()`", Allowed;
        LaunchLimit = "launch_limit":
            "a launch must fit the device's limits", Refused("no device can run what it rejects");
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
        CopyLength = "copy_length";
        Cuda = "cuda";
        DeriveEmpty = "derive_empty";
        DeriveNames = "derive_names";
        DeriveRepr = "derive_repr";
        DeriveTarget = "derive_target";
        ForgetAcrossCalls = "forget_across_calls";
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
        WaitInMethod = "wait_in_method";
        WrongKind = "wrong_kind";
    }
}

impl Rule {
    /// The rules that make all threads of a warp reach a barrier together.
    pub(crate) const CONVERGENCE: [Rule; 2] = [Rule::DivergentCollective, Rule::DivergentExit];

    /// The rules about accesses of an owner and a peer to one memory.
    pub(crate) const OF_PAIRS: [Rule; 5] = [
        Rule::UnpublishedRemoteRead,
        Rule::OverwriteWhileRead,
        Rule::WriteAfterArrive,
        Rule::UnorderedRemoteWrite,
        Rule::RelaxedPublishes,
    ];

    /// The rules that ask for an order of accesses, which a proof about phase barriers may show.
    pub(crate) const OF_ORDER: [Rule; 4] =
        [Rule::UnpublishedRemoteRead, Rule::OverwriteWhileRead, Rule::WriteAfterArrive, Rule::UnorderedRemoteWrite];

    /// The rules about rings of phase barriers.
    pub(crate) const OF_RINGS: [Rule; 6] = [
        Rule::RingDeadlock,
        Rule::RingOverwrite,
        Rule::RingRead,
        Rule::RingCount,
        Rule::RingOvertaken,
        Rule::RingUndrained,
    ];

    /// The rules that ask what values are, so that the body of a called function may have the answer. The others are about the call.
    pub(crate) const OF_VALUES: [Rule; 23] = [
        Rule::UnpublishedRemoteRead,
        Rule::OverwriteWhileRead,
        Rule::WriteAfterArrive,
        Rule::UnorderedRemoteWrite,
        Rule::DivergentCollective,
        Rule::DivergentExit,
        Rule::ExitBeforePeersDone,
        Rule::BarrierUninitialized,
        Rule::BarrierUnpublished,
        Rule::BarrierReinit,
        Rule::BarrierInitNotElected,
        Rule::BarrierCount,
        Rule::BarrierStaleToken,
        Rule::BarrierTokenMixed,
        Rule::UninitSharedRead,
        Rule::CopyInFlight,
        Rule::MulticastUnarmed,
        Rule::RingDeadlock,
        Rule::RingOverwrite,
        Rule::RingRead,
        Rule::RingCount,
        Rule::RingOvertaken,
        Rule::RingUndrained,
    ];

    /// The rules about phase barriers, copies and tiles whose checks are silent where a number is not known.
    pub(crate) const OF_KNOWN_NUMBERS: [Rule; 11] = [
        Rule::BarrierUninitialized,
        Rule::BarrierUnpublished,
        Rule::BarrierReinit,
        Rule::BarrierCount,
        Rule::BarrierUseAfterDrop,
        Rule::BarrierStaleToken,
        Rule::BarrierTokenMixed,
        Rule::ArriveWhilePending,
        Rule::CopyInFlight,
        Rule::CopyLength,
        Rule::TileSize,
    ];

    /// The rules about what is certain of threads whose numbers are known, which are silent where one is not.
    pub(crate) const OF_TRACES: [Rule; 2] = [Rule::UnsynchronizedAccess, Rule::RankOutOfRange];

    /// Those of which a fault is reported if all instances of a kernel that were tried have one.
    pub(crate) const OF_INSTANCES: [Rule; 2] = [Rule::UnsynchronizedAccess, Rule::UnorderedRemoteWrite];

    /// Returns the rules that `unchecked(...)` takes, each with its summary.
    pub(crate) fn switchable() -> impl Iterator<Item = (Rule, &'static str)> {
        Rule::ALL.iter().filter_map(|rule| match rule.requirement()? {
            Requirement { summary, unchecked: Allowed } => Some((*rule, summary)),
            Requirement { unchecked: Refused(_), .. } => None,
        })
    }

    /// Returns where the rule's page is, if it has one.
    pub(crate) fn page(self) -> Option<String> {
        self.requirement().map(|_| format!("{RULES_PAGE}#{self}"))
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

    /// The index at the top of the pages.
    #[test]
    fn the_pages_index_is_this_catalogue() {
        let pages = include_str!("../../../runtime/src/rules.md");
        let row = |rule: &Rule| {
            let Requirement { summary, unchecked } = rule.requirement()?;
            let off = match unchecked {
                Allowed => "yes".into(),
                Refused(why) => format!("no: {why}"),
            };
            Some(format!("| [{rule}](#{rule}) | {summary} | {off} |"))
        };
        let index: Vec<&str> = pages.lines().filter(|line| line.starts_with("| [")).collect();
        assert_eq!(index, Rule::ALL.iter().filter_map(row).collect::<Vec<_>>());
        for rule in Rule::ALL.iter().filter(|rule| rule.requirement().is_some()) {
            assert!(pages.contains(&format!("\n## {rule}\n")), "runtime/src/rules.md has no page for {rule}");
        }
    }

    /// The runtime does not know the catalogue, but its messages end with the names of rules, and point to their pages.
    #[test]
    fn messages_of_the_runtime_name_rules_with_pages() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runtime/src/program");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let texts: Vec<String> =
            files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let is_name =
            |name: &&str| !name.is_empty() && name.chars().all(|char| char.is_ascii_lowercase() || char == '_');
        let ended = texts.iter().flat_map(|text| text.split(" [").skip(1)).filter_map(|rest| rest.split_once("]\""));
        let pointed =
            texts.iter().flat_map(|text| text.split("see_page!(\"").skip(1)).filter_map(|rest| rest.split_once('"'));
        let ended: Vec<&str> = ended.map(|(name, _)| name).filter(is_name).collect();
        let pointed: Vec<&str> = pointed.map(|(name, _)| name).filter(is_name).collect();
        assert!(ended.len() > 8 && pointed.len() > 3, "{ended:?} {pointed:?}");
        for name in ended {
            assert!(name.parse::<Rule>().is_ok(), "`{name}` is no rule");
        }
        for name in pointed {
            assert!(name.parse::<Rule>().is_ok_and(|rule| rule.page().is_some()), "`{name}` has no page");
        }
    }

    #[test]
    fn the_documents_name_every_rule_that_can_be_switched_off() {
        let documents = [
            ("README.md", include_str!("../../../README.md")),
            ("docs/analyses.md", include_str!("../../../docs/analyses.md")),
        ];
        for (path, text) in documents {
            let missing: Vec<Rule> =
                Rule::switchable().map(|(rule, _)| rule).filter(|rule| !text.contains(rule.name())).collect();
            assert_eq!(missing, [], "{path} does not name them");
        }
    }
}
