//! The CUDA C++ of small bodies, letter by letter: order of evaluation, values of statements, jumps, literals, names,
//! parentheses. What rustc fills in later stands as `<slot0>`, a literal of its type as `<slot0 1>`; line marks and
//! failure sites are left out. That C++ compilers take it and that it computes the right thing is for `ui-tests`.

use proc_macro2::{TokenStream, TokenTree};

use super::expand;

/// The body of a function with these parameters, without its braces and one indentation.
fn text(body: &str) -> String {
    const SIGNATURE: &str = "fn subject(a: i32, b: i32, c: i32, p: bool, q: bool, m: &mut [i32], r: &mut i32)";
    let expansion = expand(&format!("#[device] {SIGNATURE} {{\n{body}\n}}"));
    let faults = super::faults(&expansion);
    assert!(faults.is_empty(), "{faults:#?}");
    let pieces = field(expansion, "body").expect("a template has a body");
    let text: String = pieces.into_iter().filter_map(|piece| show(&piece)).collect();
    if std::env::var("SCRATCH").is_ok() {
        return text;
    }
    let inside = text.strip_prefix("{\n").and_then(|text| text.strip_suffix("}\n")).expect("a body has braces");
    inside.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

/// The elements of `name: &[...]`, wherever it stands.
fn field(stream: TokenStream, name: &str) -> Option<Vec<TokenStream>> {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    trees.iter().enumerate().find_map(|(at, tree)| match (tree, trees.get(at + 3)) {
        (TokenTree::Ident(ident), Some(TokenTree::Group(list)))
            if ident == name && list.to_string().contains("Piece") =>
        {
            let list: Vec<TokenTree> = list.stream().into_iter().collect();
            let elements = list.split(|tree| matches!(tree, TokenTree::Punct(comma) if comma.as_char() == ','));
            Some(elements.map(|element| element.iter().cloned().collect()).collect())
        }
        (TokenTree::Group(group), _) => field(group.stream(), name),
        _ => None,
    })
}

/// `::phalanx::__private::Piece::Text("...")` and its like.
fn show(piece: &TokenStream) -> Option<String> {
    let trees: Vec<TokenTree> = piece.clone().into_iter().collect();
    let (inside, name) = match &trees[..] {
        [.., TokenTree::Ident(name), TokenTree::Group(inside)] => (inside.stream(), name.to_string()),
        [.., TokenTree::Ident(name)] => return Some(format!("<{}>", name.to_string().to_lowercase())),
        _ => return None,
    };
    let number = || inside.to_string().chars().filter(char::is_ascii_digit).collect::<String>();
    match name.as_str() {
        "Text" => Some(syn::parse2::<syn::LitStr>(inside).expect("text").value()),
        "Line" | "Site" => None,
        "Type" => Some(format!("<slot{}>", number())),
        "Literal" => {
            let parts: Vec<TokenTree> = inside.into_iter().collect();
            let slot = parts[2].to_string();
            Some(format!("<slot{} {}>", slot.trim_end_matches("u16"), parts[6].to_string().trim_matches('"')))
        }
        name => Some(format!("<{}{}>", name.to_lowercase(), number())),
    }
}

#[test]
fn scratch() {
    let Ok(path) = std::env::var("SCRATCH") else { return };
    for body in std::fs::read_to_string(path).unwrap().split("----\n") {
        println!("#### {body}");
        match std::panic::catch_unwind(|| text(body)) {
            Ok(t) => println!("{t}"),
            Err(_) => println!("PANIC/FAULT"),
        }
    }
}
