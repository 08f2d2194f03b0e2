//! The chain of calls that led the running thread to where it is, and the position in it that is the user's.

use super::context::try_with;
use super::site::Site;
use super::state::Thread;

/// A call of a device function by the running thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenCall(());

impl OpenCall {
    /// Notes that the running thread calls a device function. Outside of kernels, nobody keeps it.
    #[inline]
    pub(crate) fn new(site: Site) -> Self {
        try_with(|context| context.thread.calls.borrow_mut().push(site));
        OpenCall(())
    }
}

impl Drop for OpenCall {
    #[inline]
    fn drop(&mut self) {
        try_with(|context| context.thread.calls.borrow_mut().pop());
    }
}

impl Thread {
    /// Returns the position in the user's source for a site that the thread has reached, and the sites of the calls
    /// that led there, the innermost first. A device function of this library, such as a method of `Pipeline`, is left
    /// out: its call is the position.
    pub(super) fn user_site(&self, site: Site) -> (Site, Vec<Site>) {
        let calls = self.calls.borrow();
        let mut chain = std::iter::once(site).chain(calls.iter().rev().copied()).skip_while(is_library);
        match chain.next() {
            Some(first) => (first, chain.collect()),
            None => (site, Vec::new()),
        }
    }
}

/// Returns whether the site is in a device function of this library.
fn is_library(site: &Site) -> bool {
    // The folder of this file, as rustc names it, is beside that of those functions.
    let folder = file!().strip_suffix("sim/call_chain.rs").and_then(|sources| site.file().strip_prefix(sources));
    folder.is_some_and(|file| file.starts_with("kernel/") && !file.contains("tests"))
}
