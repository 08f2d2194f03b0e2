//! Phase barriers, which are CUDA's `cuda::barrier` in shared memory: the handles and their operations. Each barrier
//! that a kernel makes has a brand, a type that no other barrier has, so that using another barrier's token is a type
//! error. The device's implementation is `barrier.cuh` (CUDA C++ Programming Guide, Asynchronous Barrier).

use std::any::TypeId;
use std::marker::PhantomData;
use std::panic::Location;

use crate::kernel::group::{Cluster, ThreadBlock};
use crate::kernel::memory::{Index, OwnedShared, Shared, position, sealed};
use crate::kernel::token::ArrivalToken;
use crate::program::type_info::TypeInfo;
use crate::program::types::DeviceType;
use crate::scope::Scope;
use crate::sim::{self, AllocationKey, BarrierCall, BarrierId, Context, Group, SharedId};

/// The brand of a phase barrier, a type that distinguishes it from others. Each barrier that a kernel makes has its
/// own. If a device function takes several barriers and a token of one of them, it has a type parameter for that
/// barrier's brand:
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

/// The words of a barrier in shared memory.
#[doc(hidden)]
#[repr(C, align(8))]
#[derive(Debug)]
pub struct BarrierWord(u64);

/// An array of barriers.
#[doc(hidden)]
pub trait BarrierArray {
    /// The type of one barrier.
    type Element;

    fn length(&self) -> usize;

    fn element(&self, index: usize) -> Self::Element;
}

/// Evaluates `bars[index]`.
#[inline]
#[track_caller]
pub fn barrier_at<A: BarrierArray, I: Index>(barriers: &A, index: I) -> A::Element {
    barriers.element(position(index, barriers.length()))
}

/// A phase barrier in the block's shared memory, at which threads of the block arrive:
/// `cuda::barrier<cuda::thread_scope_block>`. [`shared_barrier`] returns it; a device function takes `&Barrier`. `B` is
/// its [`Brand`], and `S` the scope of the threads that may arrive.
///
/// A phase completes after the expected number of arrivals; the barrier then begins the next phase by itself. An
/// arrival is a release and a wait an acquire, at the barrier's scope. The operations are not collective: threads make
/// them independently.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// Each thread publishes a value, works on its own while others arrive, and reads its neighbour's.
/// #[cluster_kernel(block = 64)]
/// fn split(data: &mut [f32], rounds: u32) {
///     let block = this_thread_block();
///     let i = block.thread_rank();
///     let halves = shared_array::<[f32; 64], 2>();
///     let bar = shared_barrier();
///     if i == 0 {
///         bar.init(block.num_threads()); // one thread sets the arrivals of a phase
///     }
///     block.sync(); // before any thread arrives
///     let mut value = data[i];
///     for round in 0..rounds {
///         halves[round % 2][i] = value; // before the arrival: visible after the wait
///         let token = bar.arrive(); // does not wait
///         let own = value * 0.5;
///         bar.wait(token); // consumes the token
///         value = own + halves[round % 2][(i + 1) % 64] * 0.5;
///     }
///     data[i] = value;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut data = device.upload(&Vec::from_iter((0..64).map(|i| i as f32)))?;
/// split(&mut data, 2).grid(1).launch(&device)?;
/// assert_eq!(data.read()?[..3], [1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Barrier<B: ?Sized = (), S = BlockScope> {
    id: BarrierId,
    /// A pointer, so that the handle stays with its thread.
    brand: PhantomData<*const (S, PhantomData<B>)>,
}

/// A phase barrier in the block's shared memory, at which threads of the cluster may arrive:
/// `cuda::barrier<cuda::thread_scope_cluster>`. [`shared_cluster_barrier`] returns it, and
/// `cluster.map_shared_rank(&bar, rank)` a peer's, as a [`RemoteBarrier`].
pub type ClusterBarrier<B = ()> = Barrier<B, ClusterScope>;

/// `N` phase barriers in the block's shared memory, at which threads of the block arrive; [`shared_barriers`] returns
/// them. In a kernel, `bars[i]` is a [`Barrier`].
///
/// ```
/// use phalanx::prelude::*;
///
/// /// One warp fills two buffers alternately, and the other empties them.
/// #[cluster_kernel(block = 64)]
/// fn pass_through(input: &[f32], output: &mut [f32], rounds: u32) {
///     let block = this_thread_block();
///     let i = block.thread_rank();
///     let buffers = shared_array::<[f32; 32], 2>();
///     let full = shared_barriers::<2>();
///     let empty = shared_barriers::<2>();
///     full.init_collective(&block, 32);
///     empty.init_collective(&block, 32);
///     for round in 0..rounds {
///         let stage = round % 2;
///         let parity = round / 2 % 2 == 1;
///         if i < 32 {
///             empty[stage].wait_parity(!parity); // all stages are empty at first
///             buffers[stage][i] = input[round * 32 + i];
///             let _ = full[stage].arrive();
///         } else {
///             full[stage].wait_parity(parity);
///             output[round * 32 + i - 32] = buffers[stage][i - 32] * 2.0;
///             let _ = empty[stage].arrive();
///         }
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&Vec::from_iter((0..160).map(|i| i as f32)))?;
/// let mut output = device.zeros(160)?;
/// pass_through(&input, &mut output, 5).grid(1).launch(&device)?;
/// assert_eq!(output.read()?[159], 318.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Barriers<const N: usize, B: ?Sized = (), S = BlockScope> {
    memory: SharedId,
    /// A pointer, so that the handle stays with its thread.
    brand: PhantomData<*const (S, PhantomData<B>)>,
}

/// `N` phase barriers in the block's shared memory, at which threads of the cluster may arrive;
/// [`shared_cluster_barriers`] returns them.
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
    /// The type of the tokens in C++.
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

/// Returns a phase barrier in shared memory for threads of the block,
/// `__shared__ cuda::barrier<cuda::thread_scope_block> bar`. All threads of the block get the same barrier from the
/// same call. It must be initialized before its first use. A kernel writes `shared_barrier()`; the attribute makes the
/// brand.
#[track_caller]
pub fn shared_barrier<B: Brand>() -> Barrier<B> {
    Barrier::new(allocated::<B>("`shared_barrier()`", 1, Location::caller()), 0)
}

/// Returns `N` barriers, each as from [`shared_barrier`]. A kernel writes `shared_barriers::<N>()`.
#[track_caller]
pub fn shared_barriers<B: Brand, const N: usize>() -> Barriers<N, B> {
    Barriers { memory: allocated::<B>("`shared_barriers()`", N, Location::caller()), brand: PhantomData }
}

/// Returns a phase barrier in shared memory that orders at the scope of the cluster, and at which peers may arrive.
/// Each block has its own; `cluster.map_shared_rank(&bar, rank)` returns a peer's. A kernel writes
/// `shared_cluster_barrier()`.
#[track_caller]
pub fn shared_cluster_barrier<B: Brand>() -> ClusterBarrier<B> {
    Barrier::new(allocated::<B>("`shared_cluster_barrier()`", 1, Location::caller()), 0)
}

/// Returns `N` barriers, each as from [`shared_cluster_barrier`]. A kernel writes `shared_cluster_barriers::<N>()`.
#[track_caller]
pub fn shared_cluster_barriers<B: Brand, const N: usize>() -> ClusterBarriers<N, B> {
    Barriers { memory: allocated::<B>("`shared_cluster_barriers()`", N, Location::caller()), brand: PhantomData }
}

impl<B: Brand, S: BarrierScope> Barrier<B, S> {
    /// Returns the simulator's identity of the barrier.
    pub(crate) fn id(&self) -> BarrierId {
        self.id
    }

    fn new(memory: SharedId, index: usize) -> Self {
        Barrier { id: BarrierId { memory, index, scope: S::SCOPE }, brand: PhantomData }
    }

    /// Initializes the barrier: a phase completes after `count` arrivals, from 1 to 1,048,575. One thread calls it,
    /// once, and a `sync` must follow before other threads use the barrier.
    #[track_caller]
    pub fn init(&self, count: u32) {
        self.call("init", |context, call| context.init_barrier(call, count));
    }

    /// Initializes the barrier by all threads of the group together, which continue when it is initialized.
    #[track_caller]
    pub fn init_collective(&self, _group: &S::Group, count: u32) {
        self.call("init_collective", |context, call| {
            if context.thread.rank_in_block == 0 {
                context.init_barrier(call, count);
            }
            context.sync(group::<S>(), call.site);
        });
    }

    /// Arrives once in the current phase, and does not wait. What the thread did before is visible to threads that have
    /// waited for the phase.
    #[track_caller]
    pub fn arrive(&self) -> ArrivalToken<Self> {
        ArrivalToken::of_barrier(self.call("arrive", |context, call| context.arrive_at_barrier(call, 1, false)))
    }

    /// Arrives `n` times in the current phase, which must still expect as many arrivals.
    #[track_caller]
    pub fn arrive_n(&self, n: u32) -> ArrivalToken<Self> {
        ArrivalToken::of_barrier(self.call("arrive_n", |context, call| context.arrive_at_barrier(call, n, false)))
    }

    /// Waits until the phase of the token has completed, which is the current phase or the preceding one.
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

    /// Arrives, and reduces the expected count by one from the next phase on.
    #[track_caller]
    pub fn arrive_and_drop(&self) {
        self.call("arrive_and_drop", |context, call| context.arrive_at_barrier(call, 1, true));
    }

    /// Returns whether the phase of the token has completed. On a GPU it may block for a short time.
    #[track_caller]
    pub fn try_wait(&self, token: &ArrivalToken<Self>) -> bool {
        self.call("try_wait", |context, call| context.try_barrier(call, token.ticket(), 0))
    }

    /// Returns whether the phase of the token has completed, after waiting at most that many nanoseconds. In the
    /// simulator, a turn of the thread counts as a microsecond.
    #[track_caller]
    pub fn try_wait_for(&self, token: &ArrivalToken<Self>, nanoseconds: u64) -> bool {
        self.call("try_wait_for", |context, call| context.try_barrier(call, token.ticket(), nanoseconds))
    }

    /// Waits until the phase of this parity has completed, which is the current phase or the preceding one. The first
    /// phase has parity `false`, the second `true`, and so on in turn. On a fresh barrier, `true` has completed.
    #[track_caller]
    pub fn wait_parity(&self, parity: bool) {
        self.call("wait_parity", |context, call| context.wait_parity(call, parity));
    }

    /// Returns whether the phase of this parity has completed. On a GPU it may block for a short time.
    #[track_caller]
    pub fn try_wait_parity(&self, parity: bool) -> bool {
        self.call("try_wait_parity", |context, call| context.try_parity(call, parity))
    }

    /// Adds that many bytes of asynchronous copies to those that the current phase expects. At most 1,048,575 bytes can
    /// be pending.
    #[track_caller]
    pub fn expect_tx(&self, bytes: u32) {
        self.call("expect_tx", |context, call| context.expect_bytes(call, bytes));
    }

    /// Ends the barrier's life, after which it may be initialized again. No thread may be waiting at it.
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
    /// Initializes all barriers of the array by all threads of the group together, which continue when all are
    /// initialized.
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

/// A token may be in a variable or an `Option`, and is not copied.
#[diagnostic::do_not_recommend]
impl<B: Brand, S: BarrierScope> DeviceType for ArrivalToken<Barrier<B, S>> {
    fn info() -> TypeInfo {
        TypeInfo::template::<Self>(S::TOKEN, "barrier.cuh", Vec::new())
    }
}

/// The [`ClusterBarrier`] of some block of the cluster; `cluster.map_shared_rank(&bar, rank)` returns it. Any thread of
/// the cluster may arrive at it, and only threads of its own block wait at it. Copies into the block's shared memory
/// complete on it ([`bulk_copy_async`](crate::bulk_copy_async), [`RemoteArray`](crate::RemoteArray)).
///
/// ```
/// use phalanx::prelude::*;
///
/// /// Each block sends its value to every block, and all compute the same sum.
/// #[cluster_kernel(cluster = 4, block = 32)]
/// fn sum_of_all(input: &[u32], out: &mut [u32]) {
///     let cluster = this_cluster();
///     let (i, rank) = (this_thread_block().thread_rank(), cluster.block_rank());
///     let values = shared_array::<u32, 4>();
///     let bar = shared_cluster_barrier();
///     bar.init_collective(&cluster, 1);
///     if i == 0 {
///         bar.expect_tx(4 * 4);
///         let _ = bar.arrive();
///     }
///     if i < 4 {
///         let remote_bar = cluster.map_shared_rank(&bar, i);
///         cluster.map_shared_rank(&values, i).store_async(rank, input[rank], &remote_bar);
///     }
///     bar.wait_parity(false);
///     out[cluster.thread_rank()] = values[0] + values[1] + values[2] + values[3];
///     cluster.sync(); // no block exits while a peer sends to it
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&[1u32, 20, 300, 4000])?;
/// let mut out = device.zeros(128)?;
/// sum_of_all(&input, &mut out).grid(4).launch(&device)?;
/// assert_eq!(out.read()?, [4321; 128]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RemoteBarrier {
    id: BarrierId,
    /// A pointer, so that the handle stays with its thread.
    thread: PhantomData<*const ()>,
}

impl RemoteBarrier {
    /// Returns the simulator's identity of the barrier.
    pub(crate) fn id(&self) -> BarrierId {
        self.id
    }

    /// Arrives once in the current phase of that barrier.
    #[track_caller]
    pub fn arrive(&self) {
        called(self.id, "arrive", Location::caller(), |context, call| context.arrive_at_barrier(call, 1, false));
    }

    /// Arrives `n` times in the current phase of that barrier, which must still expect as many arrivals.
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
        RemoteBarrier { id: self.id.of_block(rank), thread: PhantomData }
    }
}

/// Allocates shared memory for barriers.
fn allocated<B: Brand>(what: &str, length: usize, site: &'static Location<'static>) -> SharedId {
    let key = AllocationKey { site, number: 0, array: TypeId::of::<B>(), element_bytes: 8 };
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
