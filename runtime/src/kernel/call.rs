//! Calls of device functions. A simulated thread keeps the sites of its open calls, so that reports show how it came to
//! the position that they name.

use std::panic::Location;

use crate::program::template::Slot;
use crate::program::visitor::Visitor;
use crate::sim::{OpenCall, Site};

/// The visitor that calls the body of a device function.
#[derive(Debug)]
pub struct Call<Args> {
    arguments: Args,
    site: Site,
}

impl<Args> Call<Args> {
    /// Returns a call with these arguments by the caller of the function that names it.
    #[inline(always)]
    #[track_caller]
    pub fn new(arguments: Args) -> Self {
        Call { arguments, site: Location::caller() }
    }
}

impl<'a, Args: 'a, R> Visitor<'a, Args, R> for Call<Args> {
    type Output = R;
    #[inline(always)]
    fn visit<S, F, D>(self, body: F, _describe: D) -> R
    where
        S: Default,
        F: Fn(Args) -> (R, S) + Copy + Send + Sync + 'a,
        D: Fn(&S, &mut Vec<Slot>),
    {
        let _open = OpenCall::new(self.site);
        body(self.arguments).0
    }
}
