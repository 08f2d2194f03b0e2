//! The progress of something that takes long, as a bar on standard error. Nothing is shown unless that is a terminal, and
//! nothing without the feature `progress`.

#[cfg(feature = "progress")]
mod bar;
#[cfg(not(feature = "progress"))]
mod none;

#[cfg(feature = "progress")]
pub(crate) use bar::Progress;
#[cfg(not(feature = "progress"))]
pub(crate) use none::Progress;
