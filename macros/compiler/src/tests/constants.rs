//! Tests of indexes that name a constant: for which of its values rustc is to refuse the kernel. The oracle is the verdict on the
//! same kernel with the value in the constant's place.

use std::collections::BTreeSet;

use phalanx_contract::constant::is_one_of;
use proc_macro2::{TokenStream, TokenTree};

use super::{expand, rules};

/// The kernel of clusters of four blocks, with `body` in each iteration of a loop.
fn kernel(body: &str) -> String {
    format!(
        "#[cluster_kernel(cluster = 4, block = 64)]
        fn named(output: &mut [u32], n: usize) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let rows = shared_array::<[u32; 64], 64>();
            let flat = shared_array::<u32, 4096>();
            let (i, rank) = (block.thread_rank(), cluster.block_rank());
            for row in 0..64 {{ rows[row][i] = 1; }}
            for row in 0..64 {{ flat[row * 64 + i as usize] = 1; }}
            let other = (rank + 1) % 4;
            cluster.sync();
            for k in 0..n {{ {body} }}
            cluster.sync();
        }}"
    )
}

/// Collects the conditions of an expansion: the values and whether all others but powers of two are meant, too.
fn conditions(expansion: TokenStream, found: &mut Vec<(Vec<i128>, bool)>) {
    let trees: Vec<TokenTree> = expansion.into_iter().collect();
    for (index, tree) in trees.iter().enumerate() {
        match (tree, trees.get(index + 1)) {
            (TokenTree::Ident(name), Some(TokenTree::Group(arguments))) if name == "is_one_of" => {
                let parse = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
                let arguments =
                    syn::parse::Parser::parse2(parse, arguments.stream()).expect("the arguments are expressions");
                let text = |expr: &syn::Expr| quote::ToTokens::to_token_stream(expr).to_string();
                let values = text(&arguments[1]).replace(['&', '[', ']', ' '], "");
                let values = values.split(',').filter(|value| !value.is_empty());
                let values = values.map(|value| value.replace("i128", "").parse().expect("a number")).collect();
                found.push((values, text(&arguments[2]) == "true"));
            }
            (TokenTree::Group(group), _) => conditions(group.stream(), found),
            _ => {}
        }
    }
}

/// Returns the values up to 16 of `N` for which the kernel is refused, and compares them with the verdicts on kernels that have
/// the value in place of `N`: none that is refused there is accepted here.
#[track_caller]
fn refused(body: &str) -> BTreeSet<i128> {
    let named = kernel(body);
    let mut asked = Vec::new();
    let is_refused = !rules(&named).is_empty();
    if !is_refused {
        conditions(expand(&named), &mut asked);
    }
    let refuses = |value| is_refused || asked.iter().any(|(values, or)| is_one_of(value, values, *or));
    let refused = (1..=16).filter(|value| refuses(*value)).collect();
    for value in 1..=16 {
        let literal = rules(&kernel(&body.replace('N', &value.to_string())));
        assert!(literal.is_empty() || refuses(value), "{value}: {literal:?}\n{named}");
    }
    refused
}

fn all() -> BTreeSet<i128> {
    (1..=16).collect()
}

/// A read of the neighbour's row `from`, a write to the own row `to`, and a barrier.
fn exchange(from: &str, to: &str) -> String {
    format!("output[i] += cluster.map_shared_rank(&rows, other)[{from}][i]; rows[{to}][i] = 5; cluster.sync();")
}

/// A stage of a ring is another one than the next or the one before it, unless there is one alone.
#[test]
fn stages() {
    assert_eq!(refused(&exchange("k % N", "(k + 1) % N")), [1].into());
    assert_eq!(refused(&exchange("k % N", "(k + 2) % N")), [1, 2].into());
    assert_eq!(refused(&exchange("k % N", "(k + N - 1) % N")), [1].into());
    assert_eq!(refused(&exchange("k % N", "(k + N) % N")), all());
    assert_eq!(refused(&exchange("k % N", "k % N")), all());
    assert_eq!(refused(&exchange("k % N", "(k + 1) % 4")), all());
    assert_eq!(refused(&exchange("(k + 3) % N", "(k + 1) % N")), [1, 2].into());
}

/// A mask is a remainder if the constant is a power of two.
#[test]
fn masks() {
    let no_powers = (1..=16i128).filter(|value| !(*value as u32).is_power_of_two());
    let with = |values: &[i128]| no_powers.clone().chain(values.iter().copied()).collect::<BTreeSet<i128>>();
    assert_eq!(refused(&exchange("k & (N - 1)", "(k + 1) & (N - 1)")), with(&[1]));
    assert_eq!(refused(&exchange("k & (N - 1)", "(k - 1) & (N - 1)")), with(&[1]));
    assert_eq!(refused(&exchange("k & (N - 1)", "(k + 2) & (N - 1)")), with(&[1, 2]));
    assert_eq!(refused(&exchange("k & (N - 1)", "(k + 1) & N")), all());
}

/// Elements beside a constant number of others.
#[test]
fn offsets() {
    let write = |at: &str, read: &str| {
        format!(
            "if i == 0 {{ cluster.map_shared_rank(&flat, other)[{at}] = 1; }} output[i] += flat[{read}]; cluster.sync();"
        )
    };
    assert_eq!(refused(&write("N", "0")), [0; 0].into());
    assert_eq!(refused(&write("N + 1", "3")), [2].into());
    assert_eq!(refused(&write("N - 1", "3")), [4].into());
    assert_eq!(refused(&write("N + N", "8")), [4].into());
    assert_eq!(refused(&write("N + N + 1", "8")), [0; 0].into());
    assert_eq!(refused(&write("N", "N")), all());
    assert_eq!(refused(&write("N", "N + 1")), [0; 0].into());
}

/// The rank counts: a slot for each block, of which there may be more than slots.
#[test]
fn slots_of_blocks() {
    let gather = |at: &str, own: &str| {
        format!("cluster.map_shared_rank(&flat, other)[{at}] = 1; output[i] += flat[{own}]; cluster.sync();")
    };
    assert_eq!(refused(&gather("rank", "rank")), [0; 0].into());
    assert_eq!(refused(&gather("rank % N", "rank % N")), [1, 2, 3].into());
    assert_eq!(refused(&gather("rank + N", "rank")), [1, 2, 3].into());
    assert_eq!(refused(&gather("rank + N", "3")), [1, 2, 3].into());
}

/// A ring of as many blocks as a constant says: each adds its neighbour's part to its own part of the same number, which is another
/// one for the neighbour.
#[test]
fn parts_that_go_round() {
    let broken = |part: &str, barrier: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = N, block = 64)]
            fn ring(output: &mut [u32]) {{
                let cluster = this_cluster();
                let (i, rank) = (this_thread_block().thread_rank(), cluster.block_rank());
                let rows = shared_array::<[u32; 64], {{ N as usize }}>();
                for row in 0..N {{ rows[row][i] = output[row]; }}
                cluster.sync();
                let left = cluster.map_shared_rank(&rows, (rank + N - 1) % N);
                for s in 0..N - 1 {{
                    let part = {part};
                    rows[part][i] += left[part][i];
                    {barrier}
                }}
            }}"
        ))
    };
    for part in ["(rank + 2 * N - s - 1) % N", "(rank + N - s - 1) % N", "(rank + N - s) % N", "(rank + N - 1 - s) % N"]
    {
        assert!(broken(part, "cluster.sync();").is_empty(), "{part}");
        assert!(!broken(part, "").is_empty(), "{part}");
    }
    // The difference may go below zero, and the constant need not be a power of two.
    assert_eq!(broken("(rank + N - s - 3) % N", "cluster.sync();"), ["overwrite_while_read"]);
}
