//! Phase barriers, CUDA's `cuda::barrier` in shared memory: the handles, and what kernels do with them. Each barrier that
//! a kernel makes has a brand, a type that no other has, so that another's token is a type error. The device has its own
//! in `barrier.cuh`; CUDA C++ Programming Guide, Asynchronous Barrier.

use std::any::type_name;
use std::marker::PhantomData;
use std::panic::Location;

use crate::kernel::group::{Cluster, ThreadBlock};
use crate::kernel::memory::{Index, OwnedShared, Shared, position, sealed};
use crate::kernel::token::ArrivalToken;
use crate::program::type_info::TypeInfo;
use crate::program::types::DeviceType;
use crate::scope::Scope;
use crate::sim::{self, BarrierCall, BarrierId, Context, Group, Key, SharedId};

/// What tells barriers apart: any type. A device function whose signature names several barriers, and a token of one of
/// them, has a type parameter for that one's:
///
/// ```
/// # use phalanx::prelude::*;
/// #[device]
/// fn refill<B: Brand>(full: &Barrier, empty: &Barrier<B>, token: ArrivalToken<Barrier<B>>) {
///     empty.wait(token);
///     let _ = full.arrive();
/// }
/// ```
pub trait Brand: 'static {}

impl<T: 'static + ?Sized> Brand for T {}

/// What a barrier takes in shared memory.
#[doc(hidden)]
#[repr(C, align(8))]
#[derive(Debug)]
pub struct BarrierWord(u64);

/// What can be taken out of an array of barriers.
#[doc(hidden)]
pub trait BarrierArray {
    /// One of them.
    type Element;

    fn length(&self) -> usize;

    fn element(&self, index: usize) -> Self::Element;
}

/// `bars[index]`.
#[inline]
#[track_caller]
pub fn barrier_at<A: BarrierArray, I: Index>(barriers: &A, index: I) -> A::Element {
    barriers.element(position(index, barriers.length()))
}

/// A barrier in the block's shared memory, for threads of the block: `cuda::barrier<cuda::thread_scope_block>`. From
/// [`shared_barrier`]. `B` tells it from others, `S` says who may arrive.
#[derive(Debug)]
pub struct Barrier<B: ?Sized = (), S = BlockScope> {
    id: BarrierId,
    /// A pointer, so that the handle stays with its thread.
    brand: PhantomData<*const (S, PhantomData<B>)>,
}

/// A barrier in the block's shared memory, at which threads of the cluster may arrive:
/// `cuda::barrier<cuda::thread_scope_cluster>`. From [`shared_cluster_barrier`].
pub type ClusterBarrier<B = ()> = Barrier<B, ClusterScope>;

/// `N` barriers in the block's shared memory, for threads of the block. From [`shared_barriers`].
#[derive(Debug)]
pub struct Barriers<const N: usize, B: ?Sized = (), S = BlockScope> {
    memory: SharedId,
    /// A pointer, so that the handle stays with its thread.
    brand: PhantomData<*const (S, PhantomData<B>)>,
}

/// `N` barriers in the block's shared memory, at which threads of the cluster may arrive. From
/// [`shared_cluster_barriers`].
pub type ClusterBarriers<const N: usize, B = ()> = Barriers<N, B, ClusterScope>;

/// The scope of a [`Barrier`] at which threads of the block arrive: `cuda::thread_scope_block`.
#[derive(Debug)]
pub enum BlockScope {}

/// The scope of a [`Barrier`] at which threads of the cluster arrive: `cuda::thread_scope_cluster`.
#[derive(Debug)]
pub enum ClusterScope {}

mod scope {
    pub trait Sealed {}
    impl Sealed for super::BlockScope {}
    impl Sealed for super::ClusterScope {}
}

/// The threads that may arrive at a barrier: [`BlockScope`] or [`ClusterScope`]. The trait is sealed.
pub trait BarrierScope: scope::Sealed + 'static {
    /// The group whose threads initialize a barrier together.
    type Group;
    #[doc(hidden)]
    const SCOPE: Scope;
    /// The type of tokens in C++.
    #[doc(hidden)]
    const TOKEN: &'static str;
}

impl BarrierScope for BlockScope {
    type Group = ThreadBlock;
    const SCOPE: Scope = Scope::Block;
    const TOKEN: &'static str = "barrier::arrival_token";
}

impl BarrierScope for ClusterScope {
    type Group = Cluster;
    const SCOPE: Scope = Scope::Cluster;
    const TOKEN: &'static str = "cluster_barrier::arrival_token";
}

/// A barrier in shared memory for threads of the block: `__shared__ cuda::barrier<cuda::thread_scope_block> bar`. All
/// threads get the same one from the same call. It is to be initialised. A kernel writes `shared_barrier()`; its brand is
/// the attribute's to make.
#[track_caller]
pub fn shared_barrier<B: Brand>() -> Barrier<B> {
    Barrier::new(allocated("`shared_barrier()`", 1, Location::caller()), 0)
}

/// `N` barriers: [`shared_barrier`]. A kernel writes `shared_barriers::<N>()`.
#[track_caller]
pub fn shared_barriers<B: Brand, const N: usize>() -> Barriers<N, B> {
    Barriers { memory: allocated("`shared_barriers()`", N, Location::caller()), brand: PhantomData }
}

/// A barrier in shared memory that orders for the whole cluster, and at which peers may arrive: each block has its own, and
/// `cluster.map_shared_rank(&bar, rank)` gives a peer's. A kernel writes `shared_cluster_barrier()`.
#[track_caller]
pub fn shared_cluster_barrier<B: Brand>() -> ClusterBarrier<B> {
    Barrier::new(allocated("`shared_cluster_barrier()`", 1, Location::caller()), 0)
}

/// `N` barriers: [`shared_cluster_barrier`]. A kernel writes `shared_cluster_barriers::<N>()`.
#[track_caller]
pub fn shared_cluster_barriers<B: Brand, const N: usize>() -> ClusterBarriers<N, B> {
    Barriers { memory: allocated("`shared_cluster_barriers()`", N, Location::caller()), brand: PhantomData }
}

impl<B: Brand, S: BarrierScope> Barrier<B, S> {
    /// What the simulator knows it by.
    pub(crate) fn id(&self) -> BarrierId {
        self.id
    }

    fn new(memory: SharedId, index: usize) -> Self {
        Barrier { id: BarrierId { memory, index, scope: S::SCOPE }, brand: PhantomData }
    }

    /// Begins the barrier's life: a phase is over when `count` arrivals have come, from 1 to 1,048,575. One thread
    /// does it, once; the others use the barrier after a `sync` that this thread comes to after it.
    #[track_caller]
    pub fn init(&self, count: u32) {
        self.call("init", |context, call| context.init_barrier(call, count));
    }

    /// The same by all threads of the group together, which leave when the barrier is ready.
    #[track_caller]
    pub fn init_collective(&self, _group: &S::Group, count: u32) {
        self.call("init_collective", |context, call| {
            if context.thread.rank_in_block == 0 {
                context.init_barrier(call, count);
            }
            context.sync(group::<S>(), call.site);
        });
    }

    /// Counts as one arrival of the current phase, and does not wait. What the thread did before is seen by those
    /// who wait for the phase.
    #[track_caller]
    pub fn arrive(&self) -> ArrivalToken<Self> {
        ArrivalToken::of_barrier(self.call("arrive", |context, call| context.arrive_at_barrier(call, 1, false)))
    }

    /// Counts as `n` arrivals of the current phase, which lacks as many.
    #[track_caller]
    pub fn arrive_n(&self, n: u32) -> ArrivalToken<Self> {
        ArrivalToken::of_barrier(self.call("arrive_n", |context, call| context.arrive_at_barrier(call, n, false)))
    }

    /// Waits for the end of the phase of an arrival. The token is of the current phase, or of the one before.
    #[track_caller]
    pub fn wait(&self, token: ArrivalToken<Self>) {
        self.call("wait", |context, call| context.wait_at_barrier(call, token.ticket()));
    }

    /// Arrives and waits.
    #[track_caller]
    pub fn arrive_and_wait(&self) {
        self.call("arrive_and_wait", |context, call| {
            let ticket = context.arrive_at_barrier(call, 1, false);
            context.wait_at_barrier(call, ticket);
        });
    }

    /// Arrives, and is not expected any more from the next phase on.
    #[track_caller]
    pub fn arrive_and_drop(&self) {
        self.call("arrive_and_drop", |context, call| context.arrive_at_barrier(call, 1, true));
    }

    /// Whether the phase of an arrival is over. On a GPU it may wait for a moment.
    #[track_caller]
    pub fn try_wait(&self, token: &ArrivalToken<Self>) -> bool {
        self.call("try_wait", |context, call| context.try_barrier(call, token.ticket(), 0))
    }

    /// Whether the phase of an arrival is over, after so many nanoseconds at most. In the simulator, a turn of the
    /// thread counts for a microsecond.
    #[track_caller]
    pub fn try_wait_for(&self, token: &ArrivalToken<Self>, nanoseconds: u64) -> bool {
        self.call("try_wait_for", |context, call| context.try_barrier(call, token.ticket(), nanoseconds))
    }

    /// Waits for the end of the phase of this parity, which is the current one or the one before: `false` is the
    /// first phase's, `true` the second's, and so on in turn. Before the first phase there was one of `true`,
    /// which is over.
    #[track_caller]
    pub fn wait_parity(&self, parity: bool) {
        self.call("wait_parity", |context, call| context.wait_parity(call, parity));
    }

    /// Whether the phase of this parity is over. On a GPU it may wait for a moment.
    #[track_caller]
    pub fn try_wait_parity(&self, parity: bool) -> bool {
        self.call("try_wait_parity", |context, call| context.try_parity(call, parity))
    }

    /// The current phase is over when so many more bytes have come, too: those of asynchronous copies. At most
    /// 1,048,575 can be on their way.
    #[track_caller]
    pub fn expect_tx(&self, bytes: u32) {
        self.call("expect_tx", |context, call| context.expect_bytes(call, bytes));
    }

    /// Ends the barrier's life: it may be initialised anew. Nobody waits at it.
    #[track_caller]
    pub fn invalidate(&self) {
        self.call("invalidate", |context, call| context.invalidate_barrier(call));
    }

    #[track_caller]
    fn call<R>(&self, name: &'static str, f: impl FnOnce(Context<'_>, BarrierCall) -> R) -> R {
        called(self.id, name, Location::caller(), f)
    }
}

impl<const N: usize, B: Brand, S: BarrierScope> Barriers<N, B, S> {
    /// Begins the life of all barriers of the array, by all threads of the group together, which leave when they
    /// are ready.
    #[track_caller]
    pub fn init_collective(&self, _group: &S::Group, count: u32) {
        let site = Location::caller();
        for index in 0..N {
            called(self.element(index).id, "init_collective", site, |context, call| {
                if context.thread.rank_in_block == 0 {
                    context.init_barrier(call, count);
                }
            });
        }
        sim::with("`init_collective()`", |context| context.sync(group::<S>(), site));
    }
}

impl<const N: usize, B: Brand, S: BarrierScope> BarrierArray for Barriers<N, B, S> {
    type Element = Barrier<B, S>;

    fn length(&self) -> usize {
        N
    }

    fn element(&self, index: usize) -> Barrier<B, S> {
        Barrier::new(self.memory, index)
    }
}

/// Plain data that is not copied, in a variable or an `Option`.
#[diagnostic::do_not_recommend]
impl<B: Brand, S: BarrierScope> DeviceType for ArrivalToken<Barrier<B, S>> {
    fn info() -> TypeInfo {
        TypeInfo::template::<Self>(S::TOKEN, "barrier.cuh", Vec::new())
    }
}

/// The barrier of some block of the cluster, as `map_shared_rank` gives it. Its block's threads wait at it; others arrive.
#[derive(Debug, Clone, Copy)]
pub struct RemoteBarrier {
    id: BarrierId,
    /// A pointer, so that the handle stays with its thread.
    thread: PhantomData<*const ()>,
}

impl RemoteBarrier {
    /// What the simulator knows it by.
    pub(crate) fn id(&self) -> BarrierId {
        self.id
    }

    /// Counts as one arrival of the current phase there.
    #[track_caller]
    pub fn arrive(&self) {
        called(self.id, "arrive", Location::caller(), |context, call| context.arrive_at_barrier(call, 1, false));
    }

    /// Counts as `n` arrivals of the current phase there, which lacks as many.
    #[track_caller]
    pub fn arrive_n(&self, n: u32) {
        called(self.id, "arrive_n", Location::caller(), |context, call| context.arrive_at_barrier(call, n, false));
    }
}

impl<B: Brand> sealed::Sealed for ClusterBarrier<B> {}

impl<B: Brand> Shared for ClusterBarrier<B> {
    fn rank(&self) -> u32 {
        self.id.memory.rank
    }
}

impl<B: Brand> OwnedShared for ClusterBarrier<B> {
    type Remote = RemoteBarrier;

    fn remote(&self, rank: u32) -> RemoteBarrier {
        let memory = SharedId { rank, ..self.id.memory };
        RemoteBarrier { id: BarrierId { memory, ..self.id }, thread: PhantomData }
    }
}

/// Shared memory for barriers.
fn allocated(what: &str, length: usize, site: &'static Location<'static>) -> SharedId {
    let key = Key { site, type_name: type_name::<BarrierWord>() };
    sim::with(what, |context| context.static_shared(key, length * size_of::<BarrierWord>()))
}

fn called<R>(
    barrier: BarrierId,
    name: &'static str,
    site: &'static Location<'static>,
    f: impl FnOnce(Context<'_>, BarrierCall) -> R,
) -> R {
    sim::with(name, |context| f(context, BarrierCall { name, barrier, site }))
}

fn group<S: BarrierScope>() -> Group {
    match S::SCOPE {
        Scope::Block => Group::Block,
        Scope::Cluster | Scope::Device | Scope::System => Group::Cluster,
    }
}
