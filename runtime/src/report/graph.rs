//! What cannot be done with a graph, or with the stream that one is captured on, and why.

/// The rule of graphs that an operation breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The work of the stream does not run before the graph is launched.
    #[error(
        "nothing can wait for a stream while it captures: its work runs when the graph is launched; wait for \
         `graph.launch(&stream)` instead"
    )]
    Waits,
    /// The stream has captured its graph.
    #[error("the stream has captured its graph, and captures no more; name another stream, or capture a new graph")]
    Ended,
    /// A graph would be launched as a part of another.
    #[error("a graph cannot be launched on a stream that captures; capture the launches of both graphs as one")]
    Nested,
    /// Another library captures the stream.
    #[error(
        "a graph cannot be launched on a stream that is being captured into a CUDA graph, whose replays would all report to \
         one launch; end the capture first"
    )]
    Capturing,
    /// Another library captures the stream, and its graph would keep no memory.
    #[error(
        "another library captures the stream into a CUDA graph, which takes launches from here, but no copies, collectives and events: it would not \
         keep what they use; call them before the capture, or after it"
    )]
    LaunchesAlone,
    /// A graph copies memory that is only borrowed.
    #[error(
        "a graph would outlive the borrow of the memory that is copied, which belongs to another user of cudarc; copy it to a \
         buffer first, or hand it over by `Buffer::from_cuda_slice`"
    )]
    Borrowed,
    /// A graph copies memory of the host.
    #[error(
        "a graph copies no memory of the host, which the program would have back while a launch still accesses it; copy on the stream before \
         or after the graph's launch"
    )]
    HostMemory,
    /// A graph copies between two GPUs.
    #[error(
        "a graph is for one GPU, and copies nothing from one to another; copy on the stream before or after the graph's launch"
    )]
    Peer,
    /// An event was captured, and its graph has not been launched yet.
    #[error(
        "the event has not been recorded: it is part of a graph that has not been launched yet; launch the graph first"
    )]
    NotLaunched,
    /// The graph is for another device.
    #[error("the graph was captured for {expected}, but the stream is one of {found}; capture it there")]
    WrongDevice {
        /// The device that the graph was captured for.
        expected: String,
        /// The device of the stream.
        found: String,
    },
}
