//! The ends of asynchronous copies: memory that a copy reads or writes from its beginning to its completion. A copy begins at a step
//! of the function, or in a device function that leaves it in flight if its summary says so. Data, no analysis.

use std::collections::BTreeMap;
use std::ops::Range;

use phalanx_contract::protocol::{CopyUses, Party};

use crate::check::cfg::{
    Call, CallId, Cfg, Completion, CopyId, CopyStep, NodeId, Region, Root, Select, Shared, Source, Step,
};
use crate::check::completion::{Begun, barrier_of};
use crate::model::copy::CompletionMechanism;
use crate::model::{Function, Role};
use crate::span::SpanRange;

/// The number of an end of a copy.
pub(super) type FlightId = usize;

/// An end of a copy.
pub(super) struct Flight {
    pub(super) begin: Begin,
    /// The memory.
    pub(super) region: Region,
    /// Whether the copy writes the memory, or reads it.
    pub(super) is_written: bool,
    pub(super) ending: Ending,
    pub(super) at: SpanRange,
}

/// Where a copy begins.
#[derive(Debug, Clone, Copy)]
pub(super) enum Begin {
    /// At a step of the function.
    Copy(CopyId),
    /// In a device function that is given the memory as this argument, if it leaves such a copy in flight. Without an argument, it is a
    /// product of the warpgroup that the function is given, whatever it reads.
    Call { call: CallId, argument: Option<usize> },
    /// Before the function: the products that its callers have in flight.
    Callers,
}

/// What shows that a copy has done with one of its ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    /// A wait at one of these phase barriers, or at one of these arrays.
    Barriers(Vec<Shared>),
    /// The end of a copy to a peer on one of the peer's barriers, or arrays, of which the receiver tells.
    Receiver(Vec<Shared>),
    /// A wait of the group that copied.
    Group,
    /// A wait of the thread that started the bulk copy, for the end of its reads.
    BulkReads,
    /// A wait of the thread that started the bulk copy, for the end of its writes.
    BulkWrites,
    /// A wait of the warpgroup that began the product.
    Product,
}

impl Ending {
    fn of(completion: Completion, is_written: bool, region: &Region) -> Ending {
        match (completion, is_written) {
            // Of the copies that complete on a barrier, only those to peers read shared memory.
            (Completion::Barrier(barrier), false) if matches!(region.root, Root::Shared(_)) => {
                Ending::Receiver(vec![barrier])
            }
            (Completion::Barrier(barrier), _) => Ending::Barriers(vec![barrier]),
            (Completion::Group, _) => Ending::Group,
            (Completion::BulkGroup, false) => Ending::BulkReads,
            (Completion::BulkGroup, true) => Ending::BulkWrites,
            (Completion::Product, _) => Ending::Product,
        }
    }

    pub(super) fn mechanism(&self) -> CompletionMechanism {
        match self {
            Ending::Barriers(_) => CompletionMechanism::Barrier,
            Ending::Receiver(_) => CompletionMechanism::PeersBarrier,
            Ending::Group => CompletionMechanism::Group,
            Ending::BulkReads => CompletionMechanism::BulkGroup,
            Ending::BulkWrites => CompletionMechanism::BulkWrites,
            Ending::Product => CompletionMechanism::Product,
        }
    }
}

/// What a device function may leave of a copy, and whether the memory is the block's or global.
const LEFT: [(CopyUses, bool, bool); 8] = [
    // What, whether the copy writes it, whether it is shared memory.
    (CopyUses::LEAVES_GROUP_WRITE, true, true),
    (CopyUses::LEAVES_BARRIER_WRITE, true, true),
    (CopyUses::LEAVES_BARRIER_READ, false, true),
    (CopyUses::LEAVES_BULK_READ, false, true),
    (CopyUses::LEAVES_PRODUCT_READ, false, true),
    (CopyUses::LEAVES_GROUP_READ, false, false),
    (CopyUses::LEAVES_BARRIER_READ, false, false),
    (CopyUses::LEAVES_BULK_WRITE, true, false),
];

/// The ends of all copies of a function, and those that begin at each step.
pub(super) struct Flights {
    pub(super) all: Vec<Flight>,
    begun: BTreeMap<Begun, Vec<FlightId>>,
}

impl Begin {
    pub(super) fn step(self) -> Option<Begun> {
        match self {
            Begin::Copy(copy) => Some(Begun::Copy(copy)),
            Begin::Call { call, .. } => Some(Begun::Call(call)),
            Begin::Callers => None,
        }
    }
}

impl Flights {
    pub(super) fn of(function: &Function, cfg: &Cfg<'_>) -> Flights {
        let mut flights = Flights { all: Vec::new(), begun: BTreeMap::new() };
        let product = |begin, at| {
            let region = Region::of(Root::Shared(Shared::Any));
            Flight { begin, region, is_written: false, ending: Ending::Product, at }
        };
        if function.role == Role::Device {
            flights.add(product(Begin::Callers, SpanRange::at(function.name.span())));
        }
        for (index, copy) in cfg.copies.iter().enumerate() {
            let CopyStep::Begin { reads, writes, completion, at, .. } = copy else { continue };
            let read = reads.iter().map(|region| (region.clone(), false));
            let written = writes.iter().map(|region| (region.clone(), true));
            for (region, is_written) in read.chain(written) {
                let (begin, ending) = (Begin::Copy(CopyId(index)), Ending::of(*completion, is_written, &region));
                flights.add(Flight { begin, region, is_written, ending, at: *at });
            }
            // It is in flight, whatever it reads.
            if reads.is_empty() && *completion == Completion::Product {
                flights.add(product(Begin::Copy(CopyId(index)), *at));
            }
        }
        for (index, call) in cfg.calls.iter().enumerate().filter(|(_, call)| call.is_of_function()) {
            if call.warpgroups().next().is_some() {
                flights.add(product(Begin::Call { call: CallId(index), argument: None }, call.at));
            }
            for (argument, region) in call.regions.iter().enumerate() {
                let Some(region) = region else { continue };
                for (what, is_written, is_shared) in LEFT {
                    let is_one = match region.root.party() {
                        Some((party, shared)) => is_shared && party == Party::Owner && shared != Shared::Any,
                        None => !is_shared && region.param.is_some() && (region.root == Root::Global || !is_written),
                    };
                    if let Some(ending) = ending_of(call, what, is_shared).filter(|_| is_one) {
                        let begin = Begin::Call { call: CallId(index), argument: Some(argument) };
                        flights.add(Flight { begin, region: region.clone(), is_written, ending, at: call.at });
                    }
                }
            }
        }
        flights
    }

    fn add(&mut self, flight: Flight) {
        if let Some(step) = flight.begin.step() {
            self.begun.entry(step).or_default().push(self.all.len());
        }
        self.all.push(flight);
    }

    /// The ends of copies that may begin at a step.
    pub(super) fn begun_at(&self, cfg: &Cfg<'_>, step: &Step) -> &[FlightId] {
        Begun::of(cfg, step).map_or(&[], |begun| self.from(begun))
    }

    pub(super) fn from(&self, begun: Begun) -> &[FlightId] {
        self.begun.get(&begun).map_or(&[], |flights| flights)
    }
}

/// What shows the completion of a copy that a function leaves in flight; `None` if it cannot leave such a copy.
fn ending_of(call: &Call<'_>, what: CopyUses, is_shared: bool) -> Option<Ending> {
    let barriers = || {
        let barriers: Vec<Shared> = call.barriers.iter().filter_map(|(_, region)| barrier_of(region)).collect();
        let ending =
            if is_shared && what == CopyUses::LEAVES_BARRIER_READ { Ending::Receiver } else { Ending::Barriers };
        (!barriers.is_empty()).then(|| ending(barriers))
    };
    if (CopyUses::LEAVES_GROUP_WRITE | CopyUses::LEAVES_GROUP_READ).contains(what) {
        Some(Ending::Group)
    } else if what == CopyUses::LEAVES_BULK_READ {
        Some(Ending::BulkReads)
    } else if what == CopyUses::LEAVES_BULK_WRITE {
        Some(Ending::BulkWrites)
    } else if what == CopyUses::LEAVES_PRODUCT_READ {
        call.warpgroups().next().map(|_| Ending::Product)
    } else {
        barriers()
    }
}

/// The flag of a summary that says that a function leaves this end of a copy in flight.
pub(super) fn flag_of(flight: &Flight) -> CopyUses {
    match (&flight.ending, flight.is_written) {
        (Ending::Barriers(_) | Ending::Receiver(_), true) => CopyUses::LEAVES_BARRIER_WRITE,
        (Ending::Barriers(_) | Ending::Receiver(_), false) => CopyUses::LEAVES_BARRIER_READ,
        (Ending::Group, true) => CopyUses::LEAVES_GROUP_WRITE,
        (Ending::Group, false) => CopyUses::LEAVES_GROUP_READ,
        (Ending::BulkReads, _) => CopyUses::LEAVES_BULK_READ,
        (Ending::BulkWrites, _) => CopyUses::LEAVES_BULK_WRITE,
        (Ending::Product, _) => CopyUses::LEAVES_PRODUCT_READ,
    }
}

/// Whether two regions are parts of the same memory.
pub(super) fn are_of_one(a: &Region, b: &Region) -> bool {
    match (a.root, b.root) {
        (Root::Shared(a), Root::Shared(b)) => a == b && a != Shared::Any,
        (Root::Global | Root::ReadOnly, Root::Global | Root::ReadOnly) => a.param.is_some() && a.param == b.param,
        (Root::ReadOnly | Root::Global | Root::Shared(_) | Root::Remote(_), _) => false,
    }
}

/// Whether all of a region certainly is a part of another one.
pub(super) fn covers(cfg: &Cfg<'_>, whole: &Region, part: &Region) -> bool {
    let is_within = |(a, b): (&Select, &Select)| match (elements(cfg, a), elements(cfg, b)) {
        (Some(a), Some(b)) => a.start <= b.start && b.end <= a.end,
        (None, _) | (_, None) => false,
    };
    let is_all = !whole.part && whole.path.len() <= part.path.len();
    are_of_one(whole, part) && is_all && whole.path.iter().zip(&part.path).all(is_within)
}

/// Whether two regions certainly have memory in common. With `by_all`, all threads of the block come to the second one, each with its
/// own rank.
pub(super) fn overlap(cfg: &Cfg<'_>, copied: &Region, touched: &Region, by_all: bool) -> bool {
    let of_thread = |select: &Select| match select {
        // The thread of rank 0 is one of them.
        Select::At(node) if by_all && matches!(cfg.nodes[cfg.origin(*node).0].source, Source::ThreadRank) => Some(0..1),
        Select::At(_) | Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => {
            elements(cfg, select)
        }
    };
    let meet = |(a, b): (&Select, &Select)| match (elements(cfg, a), of_thread(b)) {
        (Some(a), Some(b)) => a.start.max(b.start) < a.end.min(b.end),
        (None, _) | (_, None) => false,
    };
    if copied.part || touched.part {
        return covers(cfg, copied, touched) || covers(cfg, touched, copied);
    }
    // Where one path is a prefix of the other, the longer one is a part of it.
    are_of_one(copied, touched) && copied.path.iter().zip(&touched.path).all(meet)
}

/// The elements or rows that a selection has, if literals say so.
fn elements(cfg: &Cfg<'_>, select: &Select) -> Option<Range<u64>> {
    let literal = |node: NodeId| cfg.nodes[node.0].source.integer();
    match *select {
        Select::At(index) => literal(index).map(|index| index..index.saturating_add(1)),
        Select::Range { start, end } => Some(literal(start)?..literal(end)?),
        Select::Chunk { .. } | Select::Half { .. } | Select::Unknown => None,
    }
}
