//! Tests of the CUDA C++ of small bodies, letter by letter. What rustc fills in later stands as `<slot0>`, a literal of
//! its type as `<slot0 1>`, a device function as `<callee0>`. `ui-tests/conformance` tests that C++ compilers accept
//! the text, and that it computes the right thing.

mod adjacent;
mod at_launch;
mod atoms;
mod bounds;
mod boxes;
mod constant_loops;
mod continuations;
mod control;
mod convergence;
mod deferred;
mod iterations;
mod left_early;
mod numbers;
mod order;
mod overloads;
mod parts;
mod ranges;
mod rest;
mod search;
mod short_arrays;
mod steps;
mod straight;
mod views;
mod whole_warps;
mod words;

use proc_macro2::{TokenStream, TokenTree};
use syn::LitInt;

use super::{errors, expand};

/// The signature that the bodies use. `h`, `g` and `k` are device functions.
const SIGNATURE: &str = "fn subject(a: i32, b: i32, c: i32, p: bool, q: bool, m: &mut [i32], r: &mut i32)";

/// Compares line by line, without indentation.
#[track_caller]
fn check(body: &str, expected: &str) {
    let text = text(&format!("#[device] {SIGNATURE} {{ {body} }}"), |_| None);
    let lines = |text: &str| text.lines().map(|line| line.trim().to_string()).collect::<Vec<_>>();
    let inside = text.strip_prefix("{\n").and_then(|text| text.strip_suffix("}")).expect("a body has braces");
    assert_eq!(lines(inside), lines(expected), "\n{inside}");
}

/// Returns the body's text; `mark` shows the fragments that print nothing.
#[track_caller]
pub(super) fn text(source: &str, mark: impl Fn(&str) -> Option<String>) -> String {
    let expansion = expand(source);
    let errors = errors(&expansion);
    assert!(errors.is_empty(), "{errors:#?}");
    let fragments = list(expansion.clone(), "body").expect("a template has a body");
    let types = named_types(&expansion.to_string());
    let constants = list(expansion, "constants").expect("a template has constants");
    let names = constants.iter().filter_map(|name| syn::parse2::<syn::LitStr>(name.iter().cloned().collect()).ok());
    let names: Vec<String> = names.map(|name| name.value()).collect();
    let show = |fragment: &Vec<TokenTree>| match number_of(fragment) {
        Some((kind, index)) if kind == "Declare" => {
            Some(format!("    constexpr auto {} = <value{index}>;\n", names[index]))
        }
        Some((kind, index)) if kind == "Constant" => Some(names[index].clone()),
        Some((kind, index)) if kind == "Named" => Some(types[index].clone()),
        _ => show(fragment, &mark),
    };
    fragments.iter().filter_map(show).collect()
}

/// Returns the types that the text names, as the user wrote them: the elements `<T as ..>::info()` of the definition.
fn named_types(expansion: &str) -> Vec<String> {
    let definition = expansion.split_once("types : :: std :: vec ! [").map_or("", |(_, rest)| rest);
    let definition = definition.split_once("values :").map_or("", |(types, _)| types);
    let types = definition.split(" as :: phalanx :: __private :: DeviceType").filter_map(|part| part.rsplit_once("< "));
    types.map(|(_, ty)| ty.to_string()).collect()
}

/// Returns the name and number of a fragment such as `Kind(3)`.
fn number_of(fragment: &[TokenTree]) -> Option<(String, usize)> {
    let [.., TokenTree::Ident(kind), TokenTree::Group(inside)] = fragment else { return None };
    let index: LitInt = syn::parse2(inside.stream()).ok()?;
    Some((kind.to_string(), index.base10_parse().ok()?))
}

/// Returns the elements of `name: &[...]` or `name: { use ...; &[...] }`, wherever it stands.
fn list(stream: TokenStream, name: &str) -> Option<Vec<Vec<TokenTree>>> {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    trees.iter().enumerate().find_map(|(at, tree)| match (tree, trees.get(at + 2), trees.get(at + 3)) {
        (TokenTree::Ident(field), Some(TokenTree::Punct(and)), Some(TokenTree::Group(list)))
            if field == name && and.as_char() == '&' =>
        {
            Some(split(&list.stream().into_iter().collect::<Vec<_>>()))
        }
        (TokenTree::Ident(field), Some(TokenTree::Group(block)), _) if field == name => {
            match block.stream().into_iter().last() {
                Some(TokenTree::Group(list)) => Some(split(&list.stream().into_iter().collect::<Vec<_>>())),
                _ => None,
            }
        }
        (TokenTree::Group(group), ..) => self::list(group.stream(), name),
        _ => None,
    })
}

fn split(list: &[TokenTree]) -> Vec<Vec<TokenTree>> {
    let elements = list.split(|tree| matches!(tree, TokenTree::Punct(comma) if comma.as_char() == ','));
    elements.map(<[TokenTree]>::to_vec).collect()
}

/// Shows `Text("...")` and the like.
fn show(fragment: &[TokenTree], mark: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let [.., TokenTree::Ident(name), TokenTree::Group(inside)] = fragment else { return None };
    let literals: Vec<syn::Lit> =
        inside.stream().into_iter().filter_map(|tree| syn::parse2(tree.into()).ok()).collect();
    let number = |number: &LitInt| number.base10_digits().to_string();
    match (name.to_string().as_str(), &literals[..]) {
        ("Text", [syn::Lit::Str(text)]) => Some(text.value()),
        ("Line" | "Site", [syn::Lit::Int(at)]) => mark(&format!("{name} {}", number(at))),
        ("Type", [syn::Lit::Int(slot)]) => Some(format!("<slot{}>", number(slot))),
        ("Literal", [syn::Lit::Int(slot), syn::Lit::Str(digits)]) => {
            Some(format!("<slot{} {}>", number(slot), digits.value()))
        }
        (kind @ ("Alone" | "Operator" | "Within"), _) => {
            let text =
                list(inside.stream(), "text")?.iter().filter_map(|fragment| show(fragment, mark)).collect::<String>();
            Some(mark(kind).unwrap_or_default() + &text)
        }
        // As one of numbers.
        ("Operation", _) => {
            let operands: Vec<String> = list(inside.stream(), "operands")?
                .iter()
                .filter_map(|operand| match &operand[..] {
                    [TokenTree::Punct(_), TokenTree::Group(operand)] => Some(operand.stream()),
                    _ => None,
                })
                .map(|operand| {
                    split(&operand.into_iter().collect::<Vec<_>>()).iter().filter_map(|part| show(part, mark)).collect()
                })
                .collect();
            let text = inside.stream().to_string();
            let symbol = text.split('"').nth(1)?;
            Some(match &operands[..] {
                [left, right] if symbol.ends_with('=') => format!("{left} {symbol} {right}"),
                [left, right] => format!("({left} {symbol} {right})"),
                operands => format!("({symbol}{})", operands.concat()),
            })
        }
        ("Struct", _) => Some(structure(inside.stream(), mark)),
        ("Shared", [.., syn::Lit::Str(name)]) => {
            let ty =
                list(inside.stream(), "ty")?.iter().filter_map(|fragment| show(fragment, mark)).collect::<String>();
            Some(format!("__shared__ {ty} {};", name.value()))
        }
        ("Then", [syn::Lit::Int(callee), ..]) => {
            let inside = list(inside.stream(), "inside")?.iter().filter(|slot| !slot.is_empty()).count();
            Some(format!("<then{}, {inside} inside>", number(callee)))
        }
        // What the host checks before a launch is in `tests::text::at_launch`; other tests are about the checks of the kernel.
        ("AtLaunch", _) => {
            mark("AtLaunch")?;
            let Some(TokenTree::Group(text)) = inside.stream().into_iter().last() else { return None };
            let text = split(&text.stream().into_iter().collect::<Vec<_>>());
            Some(text.iter().filter_map(|fragment| show(fragment, mark)).collect())
        }
        ("LaunchCheck", [syn::Lit::Int(number)]) => Some(number.base10_digits().into()),
        ("Prologue", _) => Some(String::new()),
        (name, [syn::Lit::Int(index)]) => Some(format!("<{}{}>", name.to_lowercase(), number(index))),
        (name, _) => panic!("a fragment `{name}` that these tests do not know"),
    }
}

/// Shows `slot: 0, fields: &[("x", &[...])], base: ...`, with the fields in the order of the source.
fn structure(stream: TokenStream, mark: &impl Fn(&str) -> Option<String>) -> String {
    let shown =
        |fragments: &[Vec<TokenTree>]| fragments.iter().filter_map(|fragment| show(fragment, mark)).collect::<String>();
    let fields = list(stream.clone(), "fields").unwrap_or_default();
    let fields = fields.iter().filter_map(|field| match &field[..] {
        [TokenTree::Group(field)] => {
            let trees: Vec<TokenTree> = field.stream().into_iter().collect();
            let [TokenTree::Literal(name), _, _, TokenTree::Group(value)] = &trees[..] else { return None };
            let value: Vec<TokenTree> = value.stream().into_iter().collect();
            let value: Vec<_> = split(&value);
            Some(format!(".{} = {}", name.to_string().trim_matches('"'), shown(&value)))
        }
        _ => None,
    });
    let mut parts: Vec<String> = fields.collect();
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    if let Some(TokenTree::Group(base)) = trees.last()
        && let Some(TokenTree::Group(base)) = base.stream().into_iter().last()
    {
        parts.push(format!("..{}", shown(&split(&base.stream().into_iter().collect::<Vec<_>>()))));
    }
    let slot = trees.into_iter().find_map(|tree| syn::parse2::<LitInt>(tree.into()).ok());
    format!("<slot{}>{{{}}}", slot.map_or_else(String::new, |slot| slot.base10_digits().to_string()), parts.join(", "))
}

#[test]
fn indentation_and_braces() {
    let source = "#[device] fn subject(p: bool, q: bool, r: &mut i32) {
        while p {
            if q { *r = 1; } else if p { *r = 2; } else { *r = 3; }
        }
        { let x = 1; }
        for i in 0..*r { return; }
    }";
    let expected = "\
{
    while (p) {
        if (q) {
            r = 1;
        } else if (p) {
            r = 2;
        } else {
            r = 3;
        }
    }
    {
        auto x = <slot0 1>;
    }
    for (auto i : range(0, r)) {
        return;
    }
}";
    assert_eq!(text(source, |_| None), expected);
}

/// Each statement is on its Rust line, and a site stands right before the operator or name that fails.
#[test]
fn lines_and_sites() {
    let source = "#[device] fn subject(a: i32, m: &mut [i32], r: &mut i32) -> i32 {
        m[a / a] += m[0];

        *r %= a;
        assert!(a > 0);
        a.wrapping_div(a)
    }";
    let expected = "\
{
<line 2>    m<site 1>[at_launch<0>(a <site 0>/ a)] += m<site 2>[at_launch<1>(0)];
<line 4>    r <site 3>%= a;
<line 5>    if (!(a > <slot0 0>)) {
        assertion_failed(<site 4>here(), a, <slot0 0>);
    }
<line 6>    return <site 5>wrapping_div(a, a);
}";
    assert_eq!(text(source, |mark| Some(format!("<{}>", mark.to_lowercase()))), expected);
}
