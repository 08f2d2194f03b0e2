//! The options of `#[cluster_kernel(cluster = 4, block = (32, 8), non_portable)]` and `#[device(unchecked(rule))]`. An
//! invalid option is reported and left out, so that one compile shows all errors. Literals are checked against the
//! limits here; the values of constants are known to rustc, which runs the same checks (`phalanx::program::options`).

use phalanx_contract::capability;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, Meta, Token};

use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::options::{Extents, Options, Setting, Waiver};
use crate::rules::{Requirement, Rule, Unchecked};
use crate::span::SpanRange;

pub(crate) const OF_KERNELS: [&str; 13] = [
    "cluster",
    "block",
    "min_blocks",
    "max_registers",
    "shared_bytes",
    "non_portable",
    "fast_math",
    "fmad",
    "profile",
    "fence",
    "arch",
    "early",
    "unchecked",
];
pub(crate) const OF_DEVICE_FUNCTIONS: [&str; 1] = ["unchecked"];

/// The largest cluster that runs on every device of compute capability 9.0 (CUDA C++ Programming Guide, thread block
/// clusters), and the largest at all.
const PORTABLE_CLUSTER: u64 = 8;
const LARGEST_CLUSTER: u64 = 16;
/// CUDA C++ Programming Guide, technical specifications per compute capability, 9.0 on.
const THREADS_PER_BLOCK: u64 = 1024;
const BLOCK_DEPTH: u64 = 64;
const BLOCKS_PER_MULTIPROCESSOR: u64 = 32;
const THREADS_PER_MULTIPROCESSOR: u64 = 2048;
const SHARED_BYTES_PER_BLOCK: u64 = 232_448;
/// The registers of one multiprocessor, and so the most that one block has.
const REGISTERS: u64 = 65_536;
/// The most registers that a thread has, and the least: below it, `ptxas` takes the least.
const MOST_REGISTERS: u64 = 255;
const LEAST_REGISTERS: u64 = 24;

pub(crate) fn kernel_options(tokens: TokenStream, diags: &mut Diags) -> Options {
    let mut options = Options::default();
    // The place of `fmad`.
    let mut fmad = None;
    // A wrong value counts too.
    let mut has_block = false;
    each(tokens, &OF_KERNELS, diags, |name, meta, diags| {
        let at = SpanRange::of(meta);
        match name {
            "cluster" => options.cluster = Some(extents(name, meta)?),
            "block" => {
                has_block = true;
                options.block = Some(extents(name, meta)?);
            }
            "min_blocks" => options.min_blocks = Some(setting(name, meta, "4")?),
            "max_registers" => options.max_registers = Some(setting(name, meta, "64")?),
            "shared_bytes" => options.shared_bytes = Some(setting(name, meta, "4096")?),
            "non_portable" => options.non_portable = flag(name, meta)?,
            "fast_math" => options.fast_math = flag(name, meta)?,
            "fmad" => {
                options.fmad = flag(name, meta)?;
                fmad = Some(at);
            }
            "profile" => options.profile = flag(name, meta)?,
            "fence" => options.full_fences = fence(meta)?,
            "arch" => options.arch = Some(arch(meta)?),
            "early" => options.early = early(meta)?,
            _ => options.unchecked = Some(waivers(meta, diags)),
        }
        Ok(())
    });
    if let (true, Some(fmad)) = (options.fast_math, fmad) {
        diags.push(messages::fmad_beside_fast_math(fmad));
    }
    check_sizes(&mut options, has_block, diags);
    options
}

pub(crate) fn device_options(tokens: TokenStream, diags: &mut Diags) -> Options {
    let mut options = Options::default();
    each(tokens, &OF_DEVICE_FUNCTIONS, diags, |_, meta, diags| {
        options.unchecked = Some(waivers(meta, diags));
        Ok(())
    });
    options
}

/// Refuses the options of an `impl` or a trait: rules are switched off for a function.
pub(crate) fn refuse_options(options: &Options, diags: &mut Diags) {
    options.unchecked.iter().flatten().for_each(|waiver| diags.push(messages::unchecked_methods(waiver.at)));
}

/// Passes every known option to `take`, once.
fn each(
    tokens: TokenStream,
    known: &[&str],
    diags: &mut Diags,
    mut take: impl FnMut(&str, &Meta, &mut Diags) -> Result<(), Diag>,
) {
    let metas = match Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens) {
        Ok(metas) => metas,
        Err(error) => {
            diags.push(messages::malformed_options(SpanRange::at(error.span())));
            return;
        }
    };
    let mut seen: Vec<String> = Vec::new();
    for meta in &metas {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if !known.contains(&name.as_str()) {
            let shown = meta.path().to_token_stream().to_string();
            diags.push(messages::unknown_option(SpanRange::of(meta.path()), &shown, known));
            continue;
        }
        if seen.contains(&name) {
            diags.push(messages::repeated_option(SpanRange::of(meta), &name));
            continue;
        }
        if let Err(diag) = take(&name, meta, diags) {
            diags.push(diag);
        }
        seen.push(name);
    }
}

fn flag(name: &str, meta: &Meta) -> Result<bool, Diag> {
    match meta {
        Meta::Path(_) => Ok(true),
        Meta::List(_) | Meta::NameValue(_) => Err(messages::malformed_option(SpanRange::of(meta), name, name)),
    }
}

fn setting(name: &str, meta: &Meta, example: &str) -> Result<Setting, Diag> {
    let value = match meta {
        Meta::NameValue(pair) => number(&pair.value),
        Meta::Path(_) | Meta::List(_) => None,
    };
    value.ok_or_else(|| messages::malformed_option(SpanRange::of(meta), name, &format!("{name} = {example}")))
}

/// Parses `name = 4` or `name = (4, 2)` or `name = (4, 2, 1)`.
fn extents(name: &str, meta: &Meta) -> Result<Extents, Diag> {
    let at = SpanRange::of(meta);
    let each = match meta {
        Meta::NameValue(pair) => match bare(&pair.value) {
            Expr::Tuple(tuple) if (1..=3).contains(&tuple.elems.len()) => tuple.elems.iter().map(number).collect(),
            Expr::Tuple(_) => None,
            value => number(value).map(|extent| vec![extent]),
        },
        Meta::Path(_) | Meta::List(_) => None,
    };
    let Some(each) = each else {
        return Err(messages::malformed_option(at, name, &format!("{name} = 4` or `{name} = (4, 2, 1)")));
    };
    if each.iter().any(|extent| extent.literal == Some(0)) {
        return Err(messages::zero_extent(at, name));
    }
    Ok(Extents { each, at })
}

/// Returns the expression without parentheses, written or made by a macro.
fn bare(value: &Expr) -> &Expr {
    match value {
        Expr::Paren(paren) => bare(&paren.expr),
        Expr::Group(group) => bare(&group.expr),
        value => value,
    }
}

/// Parses an integer literal, or an expression that rustc evaluates.
fn number(value: &Expr) -> Option<Setting> {
    let value = bare(value);
    let literal = match value {
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => Some(literal.base10_parse().unwrap_or(u64::MAX)),
        Expr::Lit(_) | Expr::Tuple(_) | Expr::Array(_) | Expr::Closure(_) => return None,
        _ => None,
    };
    Some(Setting { tokens: value.to_token_stream(), literal, at: SpanRange::of(value) })
}

/// Parses the option `arch`, the name of an architecture of compute capability 8.0 or later.
fn arch(meta: &Meta) -> Result<(i32, i32), Diag> {
    let malformed = || messages::malformed_option(SpanRange::of(meta), "arch", "arch = \"sm_80\"");
    let Meta::NameValue(pair) = meta else { return Err(malformed()) };
    let Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) = &pair.value else { return Err(malformed()) };
    capability::of_architecture(&name.value()).ok_or_else(malformed)
}

/// Parses the option `fence`, and returns whether every barrier of the cluster orders all memory.
fn fence(meta: &Meta) -> Result<bool, Diag> {
    let malformed =
        || messages::malformed_option(SpanRange::of(meta), "fence", "fence = \"full\"` or `fence = \"inferred\"");
    let Meta::NameValue(pair) = meta else { return Err(malformed()) };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) => match value.value().as_str() {
            "full" => Ok(true),
            "inferred" => Ok(false),
            _ => Err(malformed()),
        },
        _ => Err(malformed()),
    }
}

/// Parses `early(parameter, ...)`. Whether there are such parameters is a question for the checks.
fn early(meta: &Meta) -> Result<Vec<Ident>, Diag> {
    let names = match meta {
        Meta::List(list) => Punctuated::<Ident, Token![,]>::parse_terminated.parse2(list.tokens.clone()).ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    let names = names.filter(|names| !names.is_empty());
    names
        .map(|names| names.into_iter().collect())
        .ok_or_else(|| messages::malformed_option(SpanRange::of(meta), "early", "early(parameter, ...)"))
}

/// Parses `unchecked(rule, ...)`. A rule that does not exist, or cannot be switched off, is reported and left out.
pub(super) fn waivers(meta: &Meta, diags: &mut Diags) -> Vec<Waiver> {
    let parse = Punctuated::<Ident, Token![,]>::parse_terminated_with;
    let names = match meta {
        Meta::List(list) => (|input: syn::parse::ParseStream<'_>| parse(input, Ident::parse_any))
            .parse2(list.tokens.clone())
            .ok()
            .filter(|names| !names.is_empty()),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    let Some(names) = names else {
        diags.push(messages::malformed_option(SpanRange::of(meta), "unchecked", "unchecked(rule, ...)"));
        return Vec::new();
    };
    let mut seen: Vec<&Ident> = Vec::new();
    let waiver = |name| {
        let at = SpanRange::of(name);
        if seen.contains(&name) {
            return Err(messages::repeated_rule(at, &name.to_string()));
        }
        seen.push(name);
        // A rule about syntax or types is the language itself, and cannot be switched off.
        let rule = name.to_string().parse().ok().and_then(|rule: Rule| Some((rule, rule.requirement()?)));
        match rule {
            Some((rule, Requirement { unchecked: Unchecked::Allowed, summary })) => {
                Ok(Waiver { rule, summary, at, block: None })
            }
            Some((rule, Requirement { unchecked: Unchecked::Refused(why), .. })) => {
                Err(messages::fixed_rule(at, rule, why))
            }
            None => Err(messages::unknown_rule(at, &name.to_string())),
        }
    };
    names.iter().map(waiver).filter_map(|waiver| waiver.map_err(|diag| diags.push(diag)).ok()).collect()
}

/// Checks literals against the limits, and options that exclude each other. An invalid option is left out.
fn check_sizes(options: &mut Options, has_block: bool, diags: &mut Diags) {
    let non_portable = options.non_portable;
    options.cluster.take_if(|cluster| refused(check_cluster(cluster, non_portable), diags));
    let threads = options.block.as_ref().and_then(Extents::count);
    options.block.take_if(|block| refused(check_block(block), diags));
    let bounded = options.max_registers.is_some();
    let check = |blocks: &Setting| match (bounded, has_block) {
        (true, _) => Some(messages::min_blocks_and_registers(blocks.at)),
        (false, false) => Some(messages::min_blocks_without_block(blocks.at)),
        (false, true) => check_min_blocks(blocks, threads),
    };
    options.min_blocks.take_if(|blocks| refused(check(blocks), diags));
    options.max_registers.take_if(|registers| refused(check_registers(registers, threads), diags));
    options.shared_bytes.take_if(|bytes| refused(check_shared_bytes(bytes), diags));
}

fn refused(diag: Option<Diag>, diags: &mut Diags) -> bool {
    let is_refused = diag.is_some();
    diag.into_iter().for_each(|diag| diags.push(diag));
    is_refused
}

fn check_cluster(cluster: &Extents, non_portable: bool) -> Option<Diag> {
    match cluster.count()? {
        blocks if blocks > LARGEST_CLUSTER => Some(messages::cluster_too_large(cluster.at, blocks)),
        blocks if blocks > PORTABLE_CLUSTER && !non_portable => {
            Some(messages::cluster_not_portable(cluster.at, blocks))
        }
        _ => None,
    }
}

fn check_block(block: &Extents) -> Option<Diag> {
    let threads = block.count()?;
    let depth = block.each.get(2).and_then(|depth| depth.literal);
    match depth {
        _ if threads > THREADS_PER_BLOCK => Some(messages::block_too_large(block.at, threads)),
        Some(depth) if depth > BLOCK_DEPTH => Some(messages::block_too_deep(block.at, depth)),
        _ => None,
    }
}

fn check_min_blocks(blocks: &Setting, threads: Option<u64>) -> Option<Diag> {
    let count = blocks.literal?;
    match threads {
        _ if count == 0 || count > BLOCKS_PER_MULTIPROCESSOR => Some(messages::min_blocks(blocks.at, count)),
        Some(threads) if count.saturating_mul(threads) > THREADS_PER_MULTIPROCESSOR => {
            Some(messages::min_blocks_of_block(blocks.at, count, threads))
        }
        _ => None,
    }
}

fn check_registers(registers: &Setting, threads: Option<u64>) -> Option<Diag> {
    let count = registers.literal?;
    match threads {
        _ if !(LEAST_REGISTERS..=MOST_REGISTERS).contains(&count) => Some(messages::max_registers(registers.at, count)),
        Some(threads) if count.saturating_mul(threads) > REGISTERS => {
            Some(messages::registers_of_block(registers.at, threads, REGISTERS / threads))
        }
        _ => None,
    }
}

fn check_shared_bytes(bytes: &Setting) -> Option<Diag> {
    let count = bytes.literal?;
    (count > SHARED_BYTES_PER_BLOCK).then(|| messages::shared_bytes(bytes.at, count))
}
