//! `#[cluster_kernel(cluster = 4, block = (32, 8), non_portable)]`. Each fault is reported and the option left out,
//! so that all of them show at once.

use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, Meta, Token};

use crate::diag::Diags;
use crate::messages;
use crate::model::KernelOptions;
use crate::span::SpanRange;

const OPTIONS: [&str; 3] = ["cluster", "block", "non_portable"];

/// Largest cluster that runs on every device of compute capability 9.0 (CUDA C++ Programming Guide, thread block
/// clusters), and the largest at all.
const PORTABLE_CLUSTER: u64 = 8;
const LARGEST_CLUSTER: u64 = 16;
/// CUDA C++ Programming Guide, technical specifications per compute capability.
const THREADS_PER_BLOCK: u64 = 1024;
const BLOCK_DEPTH: u32 = 64;

pub(crate) fn kernel_options(tokens: proc_macro2::TokenStream, diags: &mut Diags) -> KernelOptions {
    let mut options = KernelOptions::default();
    let metas = match Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens) {
        Ok(metas) => metas,
        Err(error) => {
            let at = SpanRange::at(error.span());
            diags.push(messages::malformed_option(at, "cluster", "cluster = 4, block = 256"));
            return options;
        }
    };
    let mut seen: Vec<String> = Vec::new();
    let mut cluster_at = None;
    for meta in &metas {
        let at = SpanRange::of(meta);
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if !OPTIONS.contains(&name.as_str()) {
            let shown = quote::ToTokens::to_token_stream(meta.path()).to_string();
            diags.push(messages::unknown_option(SpanRange::of(meta.path()), &shown, &OPTIONS));
            continue;
        }
        if seen.contains(&name) {
            diags.push(messages::repeated_option(at, &name));
            continue;
        }
        match name.as_str() {
            "non_portable" => match meta {
                Meta::Path(_) => options.non_portable = true,
                Meta::List(_) | Meta::NameValue(_) => diags.push(messages::malformed_option(at, &name, "non_portable")),
            },
            _ => match extents(meta) {
                Some(extents) => {
                    if extents.contains(&0) {
                        diags.push(messages::zero_extent(at, &name));
                    } else if name == "cluster" {
                        options.cluster = Some(extents);
                        cluster_at = Some(at);
                    } else {
                        options.block = Some(extents);
                        check_block(extents, at, diags);
                    }
                }
                None => {
                    diags.push(messages::malformed_option(at, &name, &format!("{name} = 4` or `{name} = (4, 2, 1)")))
                }
            },
        }
        seen.push(name);
    }
    if let (Some(cluster), Some(at)) = (options.cluster, cluster_at) {
        let blocks = count(cluster);
        if blocks > LARGEST_CLUSTER {
            diags.push(messages::cluster_too_large(at, blocks));
        } else if blocks > PORTABLE_CLUSTER && !options.non_portable {
            diags.push(messages::cluster_not_portable(at, blocks));
        }
    }
    options
}

fn check_block(extents: [u32; 3], at: SpanRange, diags: &mut Diags) {
    let threads = count(extents);
    if threads > THREADS_PER_BLOCK {
        diags.push(messages::block_too_large(at, threads));
    } else if extents[2] > BLOCK_DEPTH {
        diags.push(messages::block_too_deep(at, extents[2]));
    }
}

fn count(extents: [u32; 3]) -> u64 {
    extents.iter().fold(1, |product, extent| product.saturating_mul(u64::from(*extent)))
}

/// `name = 4` or `name = (4, 2)` or `name = (4, 2, 1)`.
fn extents(meta: &Meta) -> Option<[u32; 3]> {
    let Meta::NameValue(pair) = meta else { return None };
    match &pair.value {
        Expr::Tuple(tuple) if (1..=3).contains(&tuple.elems.len()) => {
            let mut extents = [1; 3];
            for (extent, value) in extents.iter_mut().zip(&tuple.elems) {
                *extent = integer(value)?;
            }
            Some(extents)
        }
        Expr::Paren(paren) => Some([integer(&paren.expr)?, 1, 1]),
        value => Some([integer(value)?, 1, 1]),
    }
}

fn integer(value: &Expr) -> Option<u32> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_parse().ok(),
        _ => None,
    }
}
