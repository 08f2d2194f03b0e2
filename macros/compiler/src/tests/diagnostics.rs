//! Tests of messages as a whole: all faults at once, in order, none twice; the form of each sentence; what remains of a
//! function that has faults. `ui-tests/reject` compares their wording, with rustc's underlines.

mod unseen;

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{File, Item, ItemFn};

use super::corpus::{Annotated, annotated, texts};
use super::{Attributed, errors, expand, faults, session};
use crate::parse::options::{OF_DEVICE_FUNCTIONS, OF_KERNELS};
use crate::{Fault, Rule};
use unseen::UNSEEN;

fn expansion(function: &Annotated) -> TokenStream {
    Attributed::new(&function.attribute, function.item.clone()).expand()
}

fn faults_of(function: &Annotated) -> Vec<Fault> {
    Attributed::new(&function.attribute, function.item.clone()).faults()
}

/// Returns every message that a function in `ui-tests` shows.
fn messages() -> Vec<Fault> {
    annotated("reject").iter().flat_map(faults_of).collect()
}

/// The texts of all errors that rustc is told of the functions that must not compile.
fn texts_of_errors() -> Vec<String> {
    let functions = annotated("reject");
    functions.iter().flat_map(|function| errors(&expansion(function))).map(|(_, _, text)| text).collect()
}

/// Compares the positions of the faults, and the rules that they break, in the order of the output.
#[track_caller]
fn check(source: &str, expected: &[(usize, usize, Rule)]) {
    let faults = faults(source);
    let found: Vec<_> = faults.iter().map(|fault| (fault.line(), fault.column(), fault.rule())).collect();
    assert_eq!(found, expected, "{faults:#?}");
}

#[test]
fn all_faults_at_once() {
    check(
        "#[cluster_kernel(cluster = 0, speed = 9)]
async fn kernel(group: &Cluster, output: &mut [u32], name: String) -> u32 {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let pair = [1, output[0]?];
    cluster.barrier_arrive();
    output[0] = name + output.sum();
    match cluster { _ => {} }
    for i in output { break 'nowhere; }
    cluster.sync(1) + 'x';
}",
        &[
            (1, 18, Rule::LaunchLimit),
            (1, 31, Rule::AttributeOption),
            (2, 1, Rule::UnsupportedSignature),
            (2, 24, Rule::KernelParameter),
            (2, 60, Rule::UnsupportedType),
            (2, 71, Rule::KernelResult),
            (4, 17, Rule::TokenNeverWaited),
            (5, 20, Rule::UnsupportedSyntax),
            (6, 5, Rule::TokenNeverWaited),
            (7, 31, Rule::UnknownMethod),
            (8, 11, Rule::WrongKind),
            (9, 29, Rule::UnknownLabel),
            (10, 5, Rule::ArgumentCount),
            (10, 23, Rule::UnsupportedLiteral),
        ],
    );
}

/// No option is accepted twice.
#[test]
fn each_option_once() {
    let once = [
        ("cluster", "cluster = 2"),
        ("block", "block = 64"),
        ("min_blocks", "min_blocks = 2"),
        ("max_registers", "max_registers = 64"),
        ("shared_bytes", "shared_bytes = 512"),
        ("non_portable", "non_portable"),
        ("fast_math", "fast_math"),
        ("fmad", "fmad"),
        ("profile", "profile"),
        ("fence", "fence = \"full\""),
        ("arch", "arch = \"sm_90\""),
        ("early", "early(n)"),
        ("unchecked", "unchecked(token_never_waited)"),
    ];
    for (attribute, known) in [("cluster_kernel", &OF_KERNELS[..]), ("device", &OF_DEVICE_FUNCTIONS)] {
        for option in known {
            let Some((_, written)) = once.iter().find(|(name, _)| name == option) else {
                panic!("how is `{option}` written?")
            };
            let block = if *option == "min_blocks" { "block = 64, " } else { "" };
            let twice = |options: &str| {
                let faults = faults(&format!("#[{attribute}({block}{options})] fn f(n: u32) {{}}"));
                let texts = faults.into_iter().map(|fault| fault.text().to_string());
                texts.filter(|text| text.contains("is given twice")).collect::<Vec<_>>()
            };
            assert!(twice(written).is_empty(), "{option}");
            let sentence = format!("option `{option}` is given twice [attribute_option]");
            assert_eq!(twice(&format!("{written}, {written}")), [sentence]);
        }
    }
}

/// A value that is unknown because of a fault causes no report where it is used.
#[test]
fn one_fault_is_one_report() {
    check(
        "#[cluster_kernel]
fn kernel(output: &mut [u32]) {
    let x = async {};
    let y = x;
    output[y + 1] = y.sum().atomic(0).load(Relaxed) as u32;
    for i in 0..y { if let Some(t) = x { this_cluster().barrier_wait(t); } }
}",
        &[(3, 13, Rule::UnsupportedSyntax)],
    );
    // Both iterations lose the token, and two paths do.
    check(
        "#[cluster_kernel]
fn kernel(n: u32) {
    let cluster = this_cluster();
    for i in 0..n {
        let token = cluster.barrier_arrive();
        if i == 1 { continue; }
        if i == 2 { break; }
    }
}",
        &[(5, 21, Rule::TokenNeverWaited)],
    );
}

#[test]
fn faults_come_in_the_order_of_the_source() {
    for function in annotated("reject") {
        let places: Vec<_> =
            faults_of(&function).iter().map(|fault| (fault.line(), fault.column(), fault.text().to_string())).collect();
        assert!(places.is_sorted_by_key(|(line, column, _)| (*line, *column)), "{places:#?}");
        let different: BTreeSet<_> = places.iter().collect();
        assert_eq!(different.len(), places.len(), "a fault is shown twice: {places:#?}");
    }
}

#[test]
fn accepted_files_have_no_fault() {
    let accepted = texts("accept");
    assert!(!accepted.is_empty());
    for file in accepted {
        let faults = session().check_file(&file);
        assert!(faults.is_empty(), "{file}: {faults:#?}");
    }
}

#[test]
fn every_rule_is_seen() {
    let seen: BTreeSet<Rule> = messages().iter().map(Fault::rule).collect();
    let unseen: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| !seen.contains(rule)).collect();
    assert_eq!(unseen, [Rule::TokenReused], "rustc has the move");
}

/// The faults that the checks return as data are those that rustc is told, except for an item that rustc could not
/// parse. What one change mends is one error, which has the places of all of its faults.
#[test]
fn faults_are_the_errors_of_the_expansion() {
    for function in annotated("reject").iter().chain(&annotated("accept")) {
        let mut faults = faults_of(function);
        if syn::parse2::<Item>(function.item.clone()).is_err() && !function.attribute.to_string().starts_with("derive")
        {
            faults.retain(|fault| fault.rule() != Rule::NotParsed);
        }
        let errors = errors(&expansion(function));
        let sentence = |text: &str| text.lines().next().unwrap_or_default().to_string();
        for (line, column, text) in &errors {
            let is_its = |fault: &&Fault| (fault.line(), fault.column()) == (*line, *column);
            assert!(faults.iter().filter(is_its).any(|fault| sentence(fault.text()) == sentence(text)), "{text}");
        }
        for fault in &faults {
            let (own, note) = (fault.text(), format!("note: line {}: ", fault.line()));
            let is_told = errors.iter().any(|(line, _, text)| {
                text.contains(&note) || sentence(text) == sentence(own) && *line == fault.line()
            });
            assert!(is_told, "{own} {}", function.item);
        }
    }
}

/// What follows from a fault is none: neither that a part of what was not understood is of the wrong kind, nor that nobody writes what
/// it would have written.
#[test]
fn one_error_for_one_fault() {
    let source = "#[cluster_kernel(cluster = 2, block = 32)]
fn kernel(out: &mut [f32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let (outbox, inbox) = (shared_array::<[f32; 32], 2>(), shared_array::<[f32; 32], 2>());
    let full = shared_cluster_barriers::<2>();
    full.init_collective(&cluster, 1);
    outbox[0][i] = 1.0;
    this_thread_block().sync();
    if i == 0 {
        full[0].expect_tx(128);
        let _ = full[0].arrive();
        let bar = cluster.map_shared_rank(&full, 1 - cluster.block_rank());
        bulk_copy_async(&cluster.map_shared_rank(&inbox, 1 - cluster.block_rank())[0], &outbox[0], &bar[0]);
    }
    full[0].wait_parity(false);
    out[i] = inbox[0][i];
    cluster.sync();
}";
    let found: Vec<Rule> = faults(source).iter().map(Fault::rule).collect();
    assert_eq!(found, [Rule::WrongKind], "{:#?}", faults(source));
    let right = source
        .replace("&full, 1", "&full[0], 1")
        .replace("&bar[0]", "&bar")
        .replace("&cluster.map_shared_rank(&inbox, 1 - cluster.block_rank())[0]", "&there[0]")
        .replace("let bar", "let there = cluster.map_shared_rank(&inbox, 1 - cluster.block_rank()); let bar");
    assert_eq!(faults(&right).len(), 0, "{:#?}", faults(&right));
}

/// Each sentence of the catalogues, and each word that the parser puts into one, is shown by `ui-tests/reject`.
#[test]
fn every_sentence_is_seen() {
    struct Sentences(Vec<String>);
    impl<'ast> syn::visit::Visit<'ast> for Sentences {
        fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
        fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}
        fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
            self.0.push(text.value());
        }
        fn visit_macro(&mut self, call: &'ast syn::Macro) {
            let parse = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
            for argument in call.parse_body_with(parse).into_iter().flatten() {
                self.visit_expr(&argument);
            }
        }
    }
    let mut sentences = Sentences(Vec::new());
    for folder in ["messages", "parse", "derive", ""] {
        let folder_path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
        for entry in std::fs::read_dir(folder_path).expect("a folder of this crate") {
            let path = entry.expect("a readable folder").path();
            let of_catalogue = !folder.is_empty() || path.ends_with("messages.rs");
            if of_catalogue && path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("text");
                syn::visit::Visit::visit_file(&mut sentences, &syn::parse_file(&text).expect("Rust"));
            }
        }
    }
    let as_data = messages();
    let seen: Vec<String> = as_data.iter().map(|fault| fault.text().to_string()).chain(texts_of_errors()).collect();
    let is_seen = |sentence: &String| {
        let words = fixed_words(sentence);
        seen.iter().any(|text| {
            let mut rest = text.as_str();
            words.iter().all(|word| rest.split_once(word).map(|(_, after)| rest = after).is_some())
        })
    };
    let unseen: BTreeSet<_> = sentences.0.iter().filter(|text| text.contains(' ') && !is_seen(text)).collect();
    let listed: BTreeSet<String> = UNSEEN.iter().map(|(sentence, _)| sentence.to_string()).collect();
    assert_eq!(unseen, listed.iter().collect(), "shown by no file of ui-tests/reject, and shown although listed");
}

/// Returns what is left of a format string without its `{...}`.
fn fixed_words(format: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut inside = false;
    for c in format.chars() {
        match c {
            '{' => (inside, _) = (true, words.push(String::new())),
            '}' => inside = false,
            c if !inside => words.last_mut().expect("there is one").push(c),
            _ => {}
        }
    }
    words
}

/// A message is `sentence [rule]`, then notes and help on lines of their own.
#[test]
fn the_form_of_a_message() {
    for fault in messages() {
        let text = fault.text();
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (sentence, rule) = first.rsplit_once(" [").unwrap_or_else(|| panic!("no rule: {text}"));
        let name = rule.strip_suffix(']').unwrap_or_else(|| panic!("no rule at the first line's end: {text}"));
        assert_eq!(name.parse(), Ok(fault.rule()), "{text}");
        let further = rest.lines().map(|line| {
            let (kind, sentence) = line.split_once(": ").unwrap_or_else(|| panic!("neither note nor help: {text}"));
            assert!(matches!(kind, "note" | "help"), "neither note nor help: {text}");
            sentence
        });
        for sentence in std::iter::once(sentence).chain(further) {
            let starts = sentence.starts_with(|first: char| first.is_lowercase() || first == '`');
            assert!(starts && !sentence.ends_with(['.', '!', ' ']), "{sentence:?}");
            assert_eq!(sentence.matches('`').count() % 2, 0, "an open backtick: {sentence}");
        }
    }
}

#[test]
fn messages_name_nothing_internal() {
    const INTERNAL: [&str; 13] = [
        "Diag",
        "Expr",
        "ExprKind",
        "Kind",
        "LocalId",
        "Op",
        "Place",
        "SiteId",
        "SlotId",
        "Span",
        "StmtKind",
        "TokenStream",
        "syn",
    ];
    for fault in messages() {
        let words = fault.text().split(|c: char| !c.is_alphanumeric() && c != '_');
        let internal: Vec<&str> = words.filter(|word| INTERNAL.contains(word)).collect();
        assert!(internal.is_empty(), "{internal:?} in {}", fault.text());
        // The prefix is the user's business only where it is refused.
        assert!(!fault.text().contains("__phalanx") || fault.rule() == Rule::ReservedName, "{}", fault.text());
    }
}

/// Returns the function of this name among the items behind the errors.
fn remaining(expansion: TokenStream, name: &str) -> Option<ItemFn> {
    let file: File = syn::parse2(expansion).expect("errors and items");
    file.items.into_iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == name => Some(function),
        _ => None,
    })
}

/// Call sites still resolve: rustc reports no more than the fault.
#[test]
fn the_signature_stays() {
    check_signature(
        "#[cluster_kernel]
/// Doc.
pub(crate) fn kernel<T: Number, const N: usize>(x: &[T], y: &mut [f32], n: u32) where T: Copy { x?; }",
        "#[allow(unused_variables, reason = \"a stub\")]
/// Doc.
#[allow(
    clippy::too_many_arguments,
    clippy::pedantic,
    reason = \"as many as the kernel has\"
)]
pub(crate) fn kernel<'__phalanx, T: Number, const N: usize>(
    x: &'__phalanx ::phalanx::Buffer<T>,
    y: &'__phalanx mut ::phalanx::Buffer<f32>,
    n: u32,
) -> ::phalanx::Launch<'__phalanx>
where
    T: 'static + Copy,
{
    loop {}
}
",
    );
    check_signature(
        "#[device] fn helper(x: f32, y: &mut u32) -> f32 { x? }",
        "#[allow(
    dead_code,
    unused_variables,
    clippy::too_many_arguments,
    clippy::pedantic,
    reason = \"kernels may be its only callers\"
)]
fn helper<'__phalanx>(x: f32, y: &'__phalanx mut u32) -> f32 {
    loop {}
}
",
    );
}

#[track_caller]
fn check_signature(source: &str, expected: &str) {
    let expansion = expand(source);
    assert_eq!(errors(&expansion).len(), 1);
    let name = if source.contains("kernel") { "kernel" } else { "helper" };
    let function = remaining(expansion, name).expect("the signature is there");
    let file = File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![Item::Fn(function)] };
    assert_eq!(prettyplease::unparse(&file), expected);
}

#[test]
fn every_kernel_leaves_its_signature() {
    for kernel in annotated("reject").iter().filter(|function| function.attribute.to_string().starts_with("cluster")) {
        let expansion = expansion(kernel);
        // An item that is no function is left unchanged.
        if let Ok(function) = syn::parse2::<ItemFn>(kernel.item.clone())
            && !errors(&expansion).is_empty()
        {
            let name = &function.sig.ident;
            let left = remaining(expansion, &name.to_string()).unwrap_or_else(|| panic!("nothing is left of `{name}`"));
            assert_eq!(left.vis.to_token_stream().to_string(), function.vis.to_token_stream().to_string(), "{name}");
        }
    }
}
