//! Phase barriers (`cuda::barrier`, mbarrier) as far as syntax shows them: their forms, and their methods as a table,
//! because those have the same names in Rust and in CUDA C++. rustc knows by the barrier's brand to which barrier a
//! token belongs.

#![warn(clippy::wildcard_enum_match_arm)]

use super::group::Group;

/// An expression's barrier type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub(crate) scope: BarrierScope,
    pub(crate) form: BarrierForm,
}

/// The threads that may arrive at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarrierScope {
    Block,
    Cluster,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarrierForm {
    One,
    Array,
    /// A barrier of any block of the cluster, as `map_shared_rank` returns it.
    Remote,
}

impl Barrier {
    pub(crate) const ALL: [Barrier; 5] = [
        Barrier { scope: BarrierScope::Block, form: BarrierForm::One },
        Barrier { scope: BarrierScope::Block, form: BarrierForm::Array },
        Barrier { scope: BarrierScope::Cluster, form: BarrierForm::One },
        Barrier { scope: BarrierScope::Cluster, form: BarrierForm::Array },
        Barrier { scope: BarrierScope::Cluster, form: BarrierForm::Remote },
    ];

    /// Returns an element of an array of barriers.
    pub(crate) fn element(self) -> Barrier {
        Barrier { form: BarrierForm::One, ..self }
    }

    /// Returns the name of the type in Rust.
    pub(crate) fn rust_name(self) -> &'static str {
        match (self.scope, self.form) {
            (BarrierScope::Block, BarrierForm::One) => "Barrier",
            (BarrierScope::Block, BarrierForm::Array) => "Barriers",
            (BarrierScope::Cluster, BarrierForm::One) => "ClusterBarrier",
            (BarrierScope::Cluster, BarrierForm::Array) => "ClusterBarriers",
            (_, BarrierForm::Remote) => "RemoteBarrier",
        }
    }

    /// Returns the name of the type in CUDA C++; an array's is followed by its length.
    pub(crate) fn cuda_name(self) -> &'static str {
        match (self.scope, self.form) {
            (BarrierScope::Block, BarrierForm::One) => "barrier",
            (BarrierScope::Block, BarrierForm::Array) => "barriers",
            (BarrierScope::Cluster, BarrierForm::One) => "cluster_barrier",
            (BarrierScope::Cluster, BarrierForm::Array) => "cluster_barriers",
            (_, BarrierForm::Remote) => "remote_barrier",
        }
    }

    /// Returns the name of the function that makes it. Remote barriers are only mapped.
    pub(crate) fn origin(self) -> &'static str {
        match (self.scope, self.form) {
            (BarrierScope::Block, BarrierForm::One) => "shared_barrier",
            (BarrierScope::Block, BarrierForm::Array) => "shared_barriers",
            (BarrierScope::Cluster, BarrierForm::One) => "shared_cluster_barrier",
            (BarrierScope::Cluster, BarrierForm::Array) => "shared_cluster_barriers",
            (_, BarrierForm::Remote) => "map_shared_rank",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Barrier> {
        Barrier::ALL.into_iter().find(|barrier| barrier.rust_name() == name)
    }

    pub(crate) fn by_origin(name: &str) -> Option<Barrier> {
        let made = Barrier::ALL.into_iter().filter(|barrier| barrier.form != BarrierForm::Remote);
        made.into_iter().find(|barrier| barrier.origin() == name)
    }

    /// Returns the barrier's name for a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match (self.scope, self.form) {
            (BarrierScope::Block, BarrierForm::One) => "a `Barrier`",
            (BarrierScope::Block, BarrierForm::Array) => "an array of barriers",
            (BarrierScope::Cluster, BarrierForm::One) => "a `ClusterBarrier`",
            (BarrierScope::Cluster, BarrierForm::Array) => "an array of cluster barriers",
            (_, BarrierForm::Remote) => "a `RemoteBarrier`",
        }
    }

    /// Returns the methods that it has.
    pub(crate) fn methods(self) -> &'static [PhaseMethod] {
        match self.form {
            BarrierForm::One => &METHODS,
            BarrierForm::Array => &ARRAY_METHODS,
            BarrierForm::Remote => &REMOTE_METHODS,
        }
    }

    /// Returns the method of this name.
    pub(crate) fn method(self, name: &str) -> Option<&'static PhaseMethod> {
        let known = self.methods().iter();
        #[cfg(test)]
        let known = known.chain(&crate::tests::made_up::PHASE_METHODS);
        known.into_iter().find(|method| method.name == name)
    }
}

impl BarrierScope {
    /// Returns the group that initializes the barrier with `init_collective`.
    pub(crate) fn group(self) -> Group {
        match self {
            BarrierScope::Block => Group::ThreadBlock,
            BarrierScope::Cluster => Group::Cluster,
        }
    }
}

/// A method of a barrier.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PhaseMethod {
    pub(crate) name: &'static str,
    pub(crate) operands: &'static [PhaseOperand],
    pub(crate) result: PhaseResult,
    pub(crate) action: PhaseAction,
}

/// An argument of a [`PhaseMethod`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhaseOperand {
    /// A number or a truth value, of the type that the method's signature fixes.
    FixedType,
    /// A number of arrivals: a literal must be at least 1 and at most the largest count of the hardware.
    Count,
    /// A token, which the call consumes.
    Token,
    /// `&token`
    TokenRef,
    /// `&block` or `&cluster`, the group of the barrier's scope.
    Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhaseResult {
    Nothing,
    Token,
    Bool,
}

/// A method's action on the barrier, for the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhaseAction {
    /// One thread initializes it.
    Init,
    /// All threads of the group initialize it together, and are synchronized afterwards.
    InitCollective,
    /// One arrival, without waiting.
    Arrive,
    /// Several arrivals, without waiting.
    ArriveN,
    /// One arrival, which also lowers the expected count of the phases that follow.
    ArriveAndDrop,
    /// Waits for the end of a token's phase, and so acquires what its arrivals released.
    Wait,
    /// Waits for the end of the phase of a parity.
    WaitParity,
    /// One arrival, and a wait for the end of its phase.
    ArriveAndWait,
    /// Tests whether a phase has ended.
    TryWait,
    /// Neither arrives nor waits: it raises the number of bytes that the phase expects.
    ExpectTx,
    /// Starts an asynchronous copy that completes on the barrier.
    Copy,
    /// Ends the barrier's lifetime.
    Invalidate,
}

impl PhaseAction {
    /// Returns what it does to the barrier's lifetime, if that is anything.
    pub(crate) fn life_change(self) -> Option<LifeChange> {
        match self {
            PhaseAction::Init => Some(LifeChange::BeginsByOne),
            PhaseAction::InitCollective => Some(LifeChange::BeginsByAll),
            PhaseAction::Invalidate => Some(LifeChange::Ends),
            PhaseAction::Arrive
            | PhaseAction::ArriveN
            | PhaseAction::ArriveAndDrop
            | PhaseAction::Wait
            | PhaseAction::WaitParity
            | PhaseAction::ArriveAndWait
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx
            | PhaseAction::Copy => None,
        }
    }

    /// Whether it starts the barrier's lifetime.
    pub(crate) fn begins(self) -> bool {
        match self.life_change() {
            Some(LifeChange::BeginsByOne | LifeChange::BeginsByAll) => true,
            Some(LifeChange::Ends) | None => false,
        }
    }

    /// Whether it arrives.
    pub(crate) fn arrives(self) -> bool {
        match self {
            PhaseAction::Arrive | PhaseAction::ArriveN | PhaseAction::ArriveAndDrop | PhaseAction::ArriveAndWait => {
                true
            }
            PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Wait
            | PhaseAction::WaitParity
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Invalidate => false,
        }
    }

    /// Returns what it shows of the end of a phase, if that is anything.
    pub(crate) fn observation(self) -> Option<Observation> {
        match self {
            PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::ArriveAndWait => Some(Observation::Ended),
            PhaseAction::TryWait => Some(Observation::MayHaveEnded),
            PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Arrive
            | PhaseAction::ArriveN
            | PhaseAction::ArriveAndDrop
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Invalidate => None,
        }
    }

    /// Whether the phase has ended when it returns.
    pub(crate) fn waits(self) -> bool {
        self.observation() == Some(Observation::Ended)
    }
}

/// A change of a barrier's lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LifeChange {
    /// One thread initializes the barrier.
    BeginsByOne,
    /// All threads of the group initialize it together.
    BeginsByAll,
    /// One thread invalidates it.
    Ends,
}

/// What a thread has learned of a phase when an action returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Observation {
    /// The phase has ended.
    Ended,
    /// The phase may have ended, as the result says.
    MayHaveEnded,
}

use PhaseOperand::{Count, FixedType, Token, TokenRef};

const fn method(
    name: &'static str,
    operands: &'static [PhaseOperand],
    result: PhaseResult,
    action: PhaseAction,
) -> PhaseMethod {
    PhaseMethod { name, operands, result, action }
}

const INIT_COLLECTIVE: PhaseMethod =
    method("init_collective", &[PhaseOperand::Group, Count], PhaseResult::Nothing, PhaseAction::InitCollective);

static METHODS: [PhaseMethod; 13] = [
    INIT_COLLECTIVE,
    method("init", &[Count], PhaseResult::Nothing, PhaseAction::Init),
    method("arrive", &[], PhaseResult::Token, PhaseAction::Arrive),
    method("arrive_n", &[Count], PhaseResult::Token, PhaseAction::ArriveN),
    method("wait", &[Token], PhaseResult::Nothing, PhaseAction::Wait),
    method("arrive_and_wait", &[], PhaseResult::Nothing, PhaseAction::ArriveAndWait),
    method("arrive_and_drop", &[], PhaseResult::Nothing, PhaseAction::ArriveAndDrop),
    method("try_wait", &[TokenRef], PhaseResult::Bool, PhaseAction::TryWait),
    method("try_wait_for", &[TokenRef, FixedType], PhaseResult::Bool, PhaseAction::TryWait),
    method("wait_parity", &[FixedType], PhaseResult::Nothing, PhaseAction::WaitParity),
    method("try_wait_parity", &[FixedType], PhaseResult::Bool, PhaseAction::TryWait),
    method("expect_tx", &[FixedType], PhaseResult::Nothing, PhaseAction::ExpectTx),
    method("invalidate", &[], PhaseResult::Nothing, PhaseAction::Invalidate),
];

/// Whether some method of this name of a phase barrier returns a token.
pub(crate) fn makes_token(name: &str) -> bool {
    METHODS.iter().any(|method| method.name == name && method.result == PhaseResult::Token)
}

static ARRAY_METHODS: [PhaseMethod; 1] = [INIT_COLLECTIVE];

static REMOTE_METHODS: [PhaseMethod; 2] = [
    method("arrive", &[], PhaseResult::Nothing, PhaseAction::Arrive),
    method("arrive_n", &[Count], PhaseResult::Nothing, PhaseAction::ArriveN),
];

/// The action on the barrier of every function that copies to it.
pub(crate) static COPY: PhaseMethod = method("memcpy_async", &[], PhaseResult::Nothing, PhaseAction::Copy);
