//! Tests that the attributes never panic: for any tokens they return items or errors. Kernels of `ui-tests` are taken
//! apart and recombined wrongly. The text of the errors is not checked.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::corpus::annotated;
use super::random::Random;
use crate::{device, device_copy, kernel};

const CASES: u64 = 6_000;

/// Tokens that are rare in kernels.
const TOKENS: &str = r##"
    1e400 1e-400 0xffff_ffff_ffff_ffff_ffffu128 340282366920938463463374607431768211456 0b11u8 0o7 1_u8 0xfu8 1f16 1. 5i7
    b"bytes" r#"raw"# br#"raw bytes"# c"c" b'x' 'x' '\u{10ffff}' "\0\u{10ffff}{}{{" "" "{x" "}" "{0}" "{:?}" true
    r#fn r#type r#match r#loop r#kernel __phalanx __phalanx_slots _ é self Self super crate dyn impl
    'static 'a 'r#a '_ break continue return yield await async move ref mut const static unsafe
    None Some Ok Err is_some take barrier_arrive barrier_wait sync map_shared_rank atomic Relaxed get_unchecked len
    ..= .. ... :: -> => <- @ # $ ? ~ | || && & ! ; : , . = == <<= >>= [] () {}
    let else if match loop while for in as where pub extern fn union auto
"##;

const OPTIONS: &str = "cluster = 4, block = (32, N), min_blocks = 2 * M, shared_bytes = 64, non_portable, fmad, profile, \
    fence = \"full\", unchecked(token_never_waited, arrive_while_pending)";

/// Statements that kernels do not contain, or not in this form.
const STATEMENTS: &str = r##"
    let _ = 1e400; let x = '\u{10ffff}'; x = b"x"[0]; let é = c"x"; let r#fn = r#type + 1; let __phalanx_x = 0xffff_ffff_ffff_ffffu128;
    'r#a: loop { break 'r#a; } 'a: { break 'a 5i128; } 'a: while let Some(_) = None { continue 'a; } break; break 'nowhere 1; continue;
    for (a, b) in [(1, 2)] {} for _ in .. {} for x in (0..1).rev().rev() {} for x in 0u8..=255 {} for mut x in (0..n).step_by(0) {}
    match x { _ if true => {} 1..=2 | 3 => return, } let Some(x) = None else { return }; if let Ok(_) | Err(_) = x {} if true && let None = x {}
    let (a, _, ..) = (1, 2); let [a, b @ ..] = [1; 3]; let &x = &1; let Point { x, .. } = Point { x: 1, ..p };
    |x| x; move |x: u32| -> u32 { x }; async {}; unsafe {}; const { 1 }; async move { x.await?; };
    x.0.1; x.y.z; x[..]; x[1..][0]; x()(); (x.f)(); <T as U>::f::<3>(); x.f::<{ 3 }>(); &mut *x; **x; *&x; -!-!x; x as _; x as fn(); _ = 1;
    assert!(); assert!(x, "{}{}{}{}{}", 1, 2, 3, 4, 5); assert!(x < y < z); assert!("{"); panic!("{x:?}{é}", x = 1); panic!(concat!("a")); panic!("{", ""); println!("{}", x); vec![1; 2];
    println!("{x:}<w$} {:.*} {", 1, x = 2); println!("{:é$} {é:é<0é$.é$} {:$} {:", r#fn = 1); assert_eq!(); debug_assert_ne!(x, y, z); debug_panic!(); todo!("{x"); print!(x = "{}"); unreachable!(a = 1, b); assert_eq!(None, Some(1), "{}", None); dbg!(); println!("{self} {crate} {_} {0$}");
    fn inner() { loop {} } struct S; const N: usize = { 1 }; use std::mem; static mut X: u32 = 1; macro_rules! m { () => {} } impl S {} #[inline] let x = 1; #[cfg(x)] { } ;;
    let x: [[u8; N]; { 2 }] = [[0; 2]; 2]; let x: Option<Option<u8>>; let x: &'static str; let x: (ArrivalToken<Cluster>,); let x: ArrivalToken; let x: Vec<dyn Fn()>; let x: !; let x: impl Copy;
    Some(Some(1)); Some(); Ok(1); None(1); u8::MAX(); Self::f(); ::std::f(); f::<T>::g(); this_cluster().sync().sync(); this_cluster(1); shared_array::<u8>(); shared_array::<_, 3>(); dynamic_shared::<[u8; 3]>();
    unsafe { cuda!("x = y;", in(x), in(y = m[0]), out(z), inout(_); else |x: u8, y| -> u8 { x }) }; cuda!(""); cuda!("}", in(x); else || {},); cuda!(in(x), "", out(x = 1)); cuda!("", in(a) in(b)); cuda!("\0"; else move |_| 1); cuda!("\u{10ffff}'\"", in(m), out(m), in(r = None), in(r#fn));
    m.atomic(0); m.atomic(0).f(); m.atomic(0).scope(); m.atomic(0).scope(S::B).f(); m.atomic(0).scope(Scope::Block).load(Acquire); fence(); fence(1, 2); nanosleep(); nanosleep(m); launch_dependents(1); wait_previous(m); let f = || wait_previous(); m[..]; &m[..]; &m[..=]; &mut m[1..][2]; &m.chunks()[0]; &m.chunks(1)[..]; m[1..2].chunks(3)[0].len(); let (a, b) = m.split_at(1); let (a,) = m.split_at(); let (a, (b, c)) = m.split_at(1); m.load_vec(1); m.load_vec::<4>(1); m.load_vec::<>(); m.store_vec(1); t.load_matrix(); t.load_matrix::<4>(&m, 1, 2); t.load_matrix_transposed::<A, B>(m, 1, 2); t.store_matrix(&m, 1, 2); t.store_matrix_transposed(&m[..], &m, |x| x, m); t.mma(m, t); t.mma_async(); t.mma_async(m, m, 1); t.mma_async(|x| x, &m, &m[..]); t.mma_async(m, m.transposed(), (&m[1]).transposed()); t.mma_async(m, 1.transposed(), a.b.transposed()); t.mma_async(m, m.transposed(1), m[..].transposed()); t.wait_mma(); t.wait_mma_prior(); t.wait_mma_prior::<1>(m); t.wait_mma(m, t); t.increase_registers(); t.increase_registers::<m>(); t.decrease_registers::<40>(1); t.decrease_registers::<>(); a.load_async(); a.load_async([0, 1], &m); a.load_async([0; 9], m, &a); a.store_async([], a); a.reduce_add_async::<T>(|x| x, &m[..]); a.prefetch(a, a); Accumulator::splat(); MatrixA::splat(1, 2); MatrixB::<T, 1, 2>::splat(m); f32x4::new(); Vector::new([1, 2]); u8x16::splat(); dynamic_shared_slice(); dynamic_shared_slice::<T>(1); m.atomic().load(Relaxed); m.atomic(0).fetch_add(1); m.get_unchecked(); x.take(1); x.is_some(1); None.take(); x.len(1); 1.len(); "a".len(); x.barrier_wait(); x.barrier_wait(y, z);
    return return; return break 'a loop {}; loop { break loop { break } } if if true { true } else { false } {} else if {} {} {{{}}} ((())); [[]]; { { 1 } } let x = { let x = { x }; }; x = y = z; x += y += z; x..=y; ..; x..;
"##;

/// Expands under all attributes: the result must be items or errors.
#[track_caller]
fn check(options: &TokenStream, item: &TokenStream) {
    let derived = |_, item| device_copy(item);
    let attributes: [(_, fn(_, _) -> _); 3] = [("cluster_kernel", kernel), ("device", device), ("derive", derived)];
    for (name, attribute) in attributes {
        let shown = format!("#[{name}({options})] {item}");
        let expansion: TokenStream = catch_unwind(AssertUnwindSafe(|| attribute(options.clone(), item.clone())))
            .unwrap_or_else(|_| panic!("panics on\n{shown}"));
        // Some of the tokens are not valid Rust, and stay invalid.
        let refused = !super::errors(&expansion).is_empty() || syn::parse2::<syn::File>(item.clone()).is_err();
        if let Err(error) = syn::parse2::<syn::File>(expansion.clone()) {
            assert!(refused, "neither items nor errors ({error}) for\n{shown}\n{expansion}");
        }
    }
}

/// The tokens that replace others.
struct Pool {
    trees: Vec<TokenTree>,
    statements: Vec<TokenStream>,
}

impl Pool {
    fn add(&mut self, stream: TokenStream) {
        for tree in stream {
            if let TokenTree::Group(group) = &tree {
                if group.delimiter() == Delimiter::Brace {
                    self.statements.extend(statements(group.stream()));
                }
                self.add(group.stream());
            }
            self.trees.push(tree);
        }
    }

    /// Returns a tree of the same kind as this one, so that the result mostly still parses.
    fn like(&self, tree: &TokenTree, random: &mut Random) -> TokenTree {
        let same = |other: &&TokenTree| match (tree, other) {
            (TokenTree::Group(one), TokenTree::Group(other)) => one.delimiter() == other.delimiter(),
            (TokenTree::Punct(one), TokenTree::Punct(other)) => one.spacing() == other.spacing(),
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(*other),
        };
        let alike: Vec<&TokenTree> = self.trees.iter().filter(same).collect();
        random.pick(&alike).unwrap_or(tree).clone()
    }

    fn any(&self, random: &mut Random) -> TokenTree {
        self.trees[random.below(self.trees.len())].clone()
    }
}

/// Splits a block after each `;` and each pair of braces.
fn statements(block: TokenStream) -> Vec<TokenStream> {
    let trees: Vec<TokenTree> = block.into_iter().collect();
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    trees.split_inclusive(ends).map(|statement| statement.iter().cloned().collect()).collect()
}

/// Returns the number of tokens inside.
fn size(tree: &TokenTree) -> usize {
    match tree {
        TokenTree::Group(group) => group.stream().into_iter().map(|tree| 1 + size(&tree)).sum(),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => 0,
    }
}

/// Changes something at a random position in the stream.
fn mutate(stream: TokenStream, in_block: bool, pool: &Pool, random: &mut Random) -> TokenStream {
    let mut trees: Vec<TokenTree> = stream.clone().into_iter().collect();
    // Mostly deep inside, and where there are many tokens: changes to the outermost tokens are refused early.
    let sizes: Vec<usize> = trees.iter().map(size).collect();
    if sizes.iter().any(|size| *size > 0)
        && random.chance(if in_block { 60 } else { 90 })
        && let at = random.weighted(&sizes)
        && let TokenTree::Group(group) = &trees[at]
    {
        let in_block = group.delimiter() == Delimiter::Brace;
        trees[at] = Group::new(group.delimiter(), mutate(group.stream(), in_block, pool, random)).into();
        return trees.into_iter().collect();
    }
    match in_block && random.chance(80) {
        true => mutate_statements(statements(stream), pool, random),
        false => mutate_trees(trees, pool, random),
    }
}

fn mutate_statements(mut list: Vec<TokenStream>, pool: &Pool, random: &mut Random) -> TokenStream {
    let (at, other) = (random.below(list.len() + 1), random.below(list.len() + 1));
    let new = pool.statements[random.below(pool.statements.len())].clone();
    match random.below(5) {
        0 if at < list.len() => drop(list.remove(at)),
        1 if at < list.len() => list.insert(other, list[at].clone()),
        2 if at.max(other) < list.len() => list.swap(at, other),
        _ => list.insert(at, new),
    }
    list.into_iter().collect()
}

fn mutate_trees(mut trees: Vec<TokenTree>, pool: &Pool, random: &mut Random) -> TokenStream {
    if trees.is_empty() {
        return pool.any(random).into();
    }
    let (at, other) = (random.below(trees.len()), random.below(trees.len()));
    match random.below(24) {
        0 => drop(trees.remove(at)),
        1 => trees.insert(other, trees[at].clone()),
        2 => trees.swap(at, other),
        3 => trees.insert(at, pool.any(random)),
        4 => trees.truncate(at),
        5 => {
            let delimiters = [Delimiter::Brace, Delimiter::Bracket, Delimiter::Parenthesis, Delimiter::None];
            let inside = trees.drain(at.min(other)..=at.max(other)).collect();
            trees.insert(at.min(other), Group::new(delimiters[random.below(4)], inside).into());
        }
        6 => trees[at] = pool.any(random),
        _ => trees[at] = pool.like(&trees[at], random),
    }
    trees.into_iter().collect()
}

#[test]
fn the_attributes_never_panic() {
    let functions = [annotated("accept"), annotated("reject")].into_iter().flatten();
    let corpus: Vec<TokenStream> = functions.map(|function| function.item).collect();
    let mut pool = Pool { trees: Vec::new(), statements: Vec::new() };
    corpus.iter().for_each(|function| pool.add(function.clone()));
    let mut exotic = Pool { trees: Vec::new(), statements: Vec::new() };
    exotic.add(TOKENS.parse().expect("they are tokens"));
    exotic.statements = statements(STATEMENTS.parse().expect("they are tokens"));
    let options: TokenStream = OPTIONS.parse().expect("options");
    for case in 0..CASES {
        let mut random = Random::new(case);
        let mut options = options.clone();
        let mut function = corpus[random.below(corpus.len())].clone();
        for _ in 0..=random.below(3) {
            let pool = if random.chance(50) { &exotic } else { &pool };
            match random.below(20) {
                0 => options = mutate(options, false, pool, &mut random),
                _ => function = mutate(function, false, pool, &mut random),
            }
        }
        check(&options, &function);
    }
}
