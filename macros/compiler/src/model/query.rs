//! The queries of groups, as tables: methods without arguments that have the same names in Rust and in CUDA C++. Each
//! entry states what it queries and at which threads the answer is uniform; neither has a default, because the checks
//! believe it. CUDA C++ Programming Guide, Cooperative Groups.

#![warn(clippy::wildcard_enum_match_arm)]

use super::group::Group;

/// A query of a group.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) name: &'static str,
    pub(crate) answer: Answer,
    pub(crate) uniform_at: UniformAt,
}

/// The value that a query returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The calling thread's rank in the group.
    ThreadRank,
    /// The calling thread's index in its block, a `Dim3`.
    ThreadIndex,
    /// The number of threads in the group.
    ThreadCount,
    /// The rank of the calling thread's block in the group.
    BlockRank,
    /// The number of blocks in the group.
    BlockCount,
    /// The rank of the group among those that its partition made.
    GroupRank,
    /// The number of groups that its partition made.
    GroupCount,
    /// Another number, of which the checks know only where it is uniform.
    Number,
    /// Another `Dim3`, whose axes are uniform where it is.
    Extent,
}

impl Answer {
    /// Whether the answer is a `Dim3`.
    pub(crate) fn is_extent(self) -> bool {
        match self {
            Answer::ThreadIndex | Answer::Extent => true,
            Answer::ThreadRank
            | Answer::ThreadCount
            | Answer::BlockRank
            | Answer::BlockCount
            | Answer::GroupRank
            | Answer::GroupCount
            | Answer::Number => false,
        }
    }
}

/// The largest set of threads in which the answer is uniform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UniformAt {
    /// A single thread: the answer is divergent.
    Thread,
    /// The group whose query it is.
    Group,
    Block,
    Cluster,
    Grid,
}

const fn query(name: &'static str, answer: Answer, uniform_at: UniformAt) -> Query {
    Query { name, answer, uniform_at }
}

/// The query that every group has.
pub(crate) const THREAD_RANK: Query = query("thread_rank", Answer::ThreadRank, UniformAt::Thread);

/// The queries of explicit groups of type `coalesced_group`, whose threads are known only at run time.
static COALESCED_QUERIES: [Query; 5] = [
    THREAD_RANK,
    query("num_threads", Answer::ThreadCount, UniformAt::Group),
    query("size", Answer::ThreadCount, UniformAt::Group),
    query("meta_group_rank", Answer::GroupRank, UniformAt::Group),
    query("meta_group_size", Answer::GroupCount, UniformAt::Group),
];

/// The queries of explicit groups of type `thread_block_tile`. All tiles of one partition have one size.
static TILE_QUERIES: [Query; 5] = [
    THREAD_RANK,
    query("num_threads", Answer::ThreadCount, UniformAt::Grid),
    query("size", Answer::ThreadCount, UniformAt::Grid),
    query("meta_group_rank", Answer::GroupRank, UniformAt::Group),
    query("meta_group_size", Answer::GroupCount, UniformAt::Grid),
];

/// The queries of the implicit group `thread_block`.
static BLOCK_QUERIES: [Query; 7] = [
    THREAD_RANK,
    query("num_threads", Answer::ThreadCount, UniformAt::Grid),
    query("size", Answer::ThreadCount, UniformAt::Grid),
    query("thread_index", Answer::ThreadIndex, UniformAt::Thread),
    query("group_index", Answer::Extent, UniformAt::Block),
    query("dim_threads", Answer::Extent, UniformAt::Grid),
    query("group_dim", Answer::Extent, UniformAt::Grid),
];

/// The queries of the implicit group `cluster_group`.
static CLUSTER_QUERIES: [Query; 8] = [
    THREAD_RANK,
    query("num_threads", Answer::ThreadCount, UniformAt::Grid),
    query("size", Answer::ThreadCount, UniformAt::Grid),
    query("block_rank", Answer::BlockRank, UniformAt::Block),
    query("num_blocks", Answer::BlockCount, UniformAt::Grid),
    query("block_index", Answer::Extent, UniformAt::Block),
    query("dim_blocks", Answer::Extent, UniformAt::Grid),
    query("dim_threads", Answer::Extent, UniformAt::Grid),
];

/// The queries of the implicit group `grid_group`.
static GRID_QUERIES: [Query; 11] = [
    THREAD_RANK,
    query("num_threads", Answer::ThreadCount, UniformAt::Grid),
    query("size", Answer::ThreadCount, UniformAt::Grid),
    query("block_rank", Answer::BlockRank, UniformAt::Block),
    query("num_blocks", Answer::BlockCount, UniformAt::Grid),
    query("cluster_rank", Answer::Number, UniformAt::Cluster),
    query("num_clusters", Answer::Number, UniformAt::Grid),
    query("block_index", Answer::Extent, UniformAt::Block),
    query("dim_blocks", Answer::Extent, UniformAt::Grid),
    query("cluster_index", Answer::Extent, UniformAt::Cluster),
    query("dim_clusters", Answer::Extent, UniformAt::Grid),
];

impl Group {
    /// Returns the queries that the group has.
    pub(crate) fn queries(self) -> &'static [Query] {
        match self {
            Group::Coalesced => &COALESCED_QUERIES,
            Group::Tile => &TILE_QUERIES,
            Group::ThreadBlock => &BLOCK_QUERIES,
            Group::Cluster => &CLUSTER_QUERIES,
            Group::Grid => &GRID_QUERIES,
        }
    }

    /// Returns the query of this name.
    pub(crate) fn query(self, name: &str) -> Option<&'static Query> {
        let known = self.queries().iter();
        #[cfg(test)]
        let known = known.chain(&crate::tests::made_up::QUERIES);
        known.into_iter().find(|query| query.name == name)
    }
}

/// Whether a method of this name of some group returns a `Dim3`.
pub(crate) fn gives_extent(name: &str) -> bool {
    Group::ALL.iter().any(|group| group.query(name).is_some_and(|query| query.answer.is_extent()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query that distinguishes threads is uniform at no group.
    #[test]
    fn a_thread_s_own_answers_are_uniform_for_it_alone() {
        for group in Group::ALL {
            for query in group.queries() {
                let own = match query.answer {
                    Answer::ThreadRank | Answer::ThreadIndex => true,
                    Answer::ThreadCount
                    | Answer::BlockRank
                    | Answer::BlockCount
                    | Answer::GroupRank
                    | Answer::GroupCount
                    | Answer::Number
                    | Answer::Extent => false,
                };
                assert_eq!(own, query.uniform_at == UniformAt::Thread, "{group:?}: {query:?}");
            }
        }
    }
}
