//! What the host does, for those who watch: a span of `tracing` (feature `tracing`) and a range of NVTX (feature `nvtx`) for each kernel that is
//! compiled, loaded or launched, and for each copy. Without the features, a span is nothing. How long a kernel runs on the device is not its
//! concern: Nsight Systems has that.

/// A stage of a kernel's life, or work on memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// NVRTC compiles a kernel.
    Compile,
    /// The driver loads a kernel.
    Load,
    /// A launch is enqueued; in the simulator, it runs.
    Launch,
    /// Memory is copied from the host, to it, or on the device.
    Copy,
}

#[cfg(any(feature = "tracing", feature = "nvtx"))]
impl Stage {
    /// Returns the name of the stage.
    fn name(self) -> &'static str {
        match self {
            Stage::Compile => "compile",
            Stage::Load => "load",
            Stage::Launch => "launch",
            Stage::Copy => "copy",
        }
    }
}

/// A stage that lasts until this is dropped.
#[must_use = "the stage ends when this is dropped"]
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    _span: tracing::span::EnteredSpan,
    #[cfg(feature = "nvtx")]
    _range: super::ffi::nvtx::Range,
}

/// Begins a stage of a kernel, or of other work of this name.
pub(crate) fn span(stage: Stage, kernel: &str) -> Span {
    #[cfg(not(any(feature = "tracing", feature = "nvtx")))]
    let _ = (stage, kernel);
    Span {
        #[cfg(feature = "tracing")]
        _span: match stage {
            Stage::Compile => tracing::info_span!(target: "phalanx", "compile", kernel),
            Stage::Load => tracing::info_span!(target: "phalanx", "load", kernel),
            Stage::Launch => tracing::debug_span!(target: "phalanx", "launch", kernel),
            Stage::Copy => tracing::debug_span!(target: "phalanx", "copy", what = kernel),
        }
        .entered(),
        #[cfg(feature = "nvtx")]
        _range: super::ffi::nvtx::Range::begin(stage.name(), kernel),
    }
}
