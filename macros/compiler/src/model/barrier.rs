//! Phase barriers (`cuda::barrier`, mbarrier) as far as syntax shows them: which there are, and their methods as a table,
//! because those have the same names in Rust and in CUDA C++. Whose a token is, rustc knows by the barrier's brand.

#![warn(clippy::wildcard_enum_match_arm)]

use super::group::Group;

/// What an expression is that is a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub(crate) scope: BarrierScope,
    pub(crate) form: BarrierForm,
}

/// Who may come to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarrierScope {
    Block,
    Cluster,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarrierForm {
    One,
    Array,
    /// Some block's, as `map_shared_rank` gives it.
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

    /// An element of an array.
    pub(crate) fn element(self) -> Barrier {
        Barrier { form: BarrierForm::One, ..self }
    }

    /// The type's name in Rust.
    pub(crate) fn rust_name(self) -> &'static str {
        match (self.scope, self.form) {
            (BarrierScope::Block, BarrierForm::One) => "Barrier",
            (BarrierScope::Block, BarrierForm::Array) => "Barriers",
            (BarrierScope::Cluster, BarrierForm::One) => "ClusterBarrier",
            (BarrierScope::Cluster, BarrierForm::Array) => "ClusterBarriers",
            (_, BarrierForm::Remote) => "RemoteBarrier",
        }
    }

    /// The type's name in CUDA C++; an array's is followed by its length.
    pub(crate) fn cuda_name(self) -> &'static str {
        match (self.scope, self.form) {
            (BarrierScope::Block, BarrierForm::One) => "barrier",
            (BarrierScope::Block, BarrierForm::Array) => "barriers",
            (BarrierScope::Cluster, BarrierForm::One) => "cluster_barrier",
            (BarrierScope::Cluster, BarrierForm::Array) => "cluster_barriers",
            (_, BarrierForm::Remote) => "remote_barrier",
        }
    }

    /// The function that makes it. One that is remote has none.
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

    /// In a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match (self.scope, self.form) {
            (BarrierScope::Block, BarrierForm::One) => "a `Barrier`",
            (BarrierScope::Block, BarrierForm::Array) => "an array of barriers",
            (BarrierScope::Cluster, BarrierForm::One) => "a `ClusterBarrier`",
            (BarrierScope::Cluster, BarrierForm::Array) => "an array of cluster barriers",
            (_, BarrierForm::Remote) => "a `RemoteBarrier`",
        }
    }

    /// What it has.
    pub(crate) fn methods(self) -> &'static [PhaseMethod] {
        match self.form {
            BarrierForm::One => &METHODS,
            BarrierForm::Array => &ARRAY_METHODS,
            BarrierForm::Remote => &REMOTE_METHODS,
        }
    }

    /// The method of this name.
    pub(crate) fn method(self, name: &str) -> Option<&'static PhaseMethod> {
        let known = self.methods().iter();
        #[cfg(test)]
        let known = known.chain(&crate::tests::made_up::PHASE_METHODS);
        known.into_iter().find(|method| method.name == name)
    }
}

impl BarrierScope {
    /// The group that makes it ready for use together.
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
    /// A number or a truth value, of the type that the method has it in.
    FixedType,
    /// The same, of a number of arrivals: a literal is at least 1 and at most as many as the hardware counts.
    Count,
    /// A token, which is consumed.
    Token,
    /// `&token`
    TokenRef,
    /// `&block`, `&cluster`: the group of the barrier's scope.
    Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhaseResult {
    Nothing,
    Token,
    Bool,
}

/// What a method does to the barrier, for the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhaseAction {
    /// Begins its life, by one thread.
    Init,
    /// Begins its life, by all threads of the group, which leave together.
    InitCollective,
    /// Counts for one, and does not wait.
    Arrive,
    /// The same for several.
    ArriveN,
    /// Counts for one, and for the last time.
    ArriveAndDrop,
    /// Ends once the phase of a token is over: what was done before its arrivals is seen.
    Wait,
    /// The same of a phase by its parity.
    WaitParity,
    /// Counts for one, and waits for the end of its phase.
    ArriveAndWait,
    /// May find that a phase is over.
    TryWait,
    /// None of it.
    ExpectTx,
    /// An asynchronous copy begins, whose end the barrier is told.
    Copy,
    /// Ends its life.
    Invalidate,
}

impl PhaseAction {
    /// Whether it begins the barrier's life.
    pub(crate) fn begins(self) -> bool {
        match self {
            PhaseAction::Init | PhaseAction::InitCollective => true,
            PhaseAction::Arrive
            | PhaseAction::ArriveN
            | PhaseAction::ArriveAndDrop
            | PhaseAction::Wait
            | PhaseAction::WaitParity
            | PhaseAction::ArriveAndWait
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Invalidate => false,
        }
    }

    /// Whether it begins or ends the barrier's life.
    pub(crate) fn changes_life(self) -> bool {
        self.begins() || self == PhaseAction::Invalidate
    }

    /// Whether it counts.
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

    /// Whether it ends in a phase that is over.
    pub(crate) fn waits(self) -> bool {
        match self {
            PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::ArriveAndWait => true,
            PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Arrive
            | PhaseAction::ArriveN
            | PhaseAction::ArriveAndDrop
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Invalidate => false,
        }
    }
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

static ARRAY_METHODS: [PhaseMethod; 1] = [INIT_COLLECTIVE];

static REMOTE_METHODS: [PhaseMethod; 2] = [
    method("arrive", &[], PhaseResult::Nothing, PhaseAction::Arrive),
    method("arrive_n", &[Count], PhaseResult::Nothing, PhaseAction::ArriveN),
];

/// What each function that copies does to the barrier that it is given.
pub(crate) static COPY: PhaseMethod = method("memcpy_async", &[], PhaseResult::Nothing, PhaseAction::Copy);
