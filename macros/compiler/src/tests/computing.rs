//! Device functions that only compute, as closures of those that call them (`parse/computing`).

use proc_macro2::TokenStream;

use crate::parse::computing::closed;

/// What a kernel with this body has in place of the functions of the file, without spaces, and how many rustc has to confirm.
fn closures(functions: &str, body: &str) -> (String, usize) {
    let kernel = format!("fn subject(m: &mut [u32]) {{ {body} }}");
    let file = format!("const WIDTH: usize = 8;\n{functions}\n#[cluster_kernel]\n{kernel}");
    let item: TokenStream = kernel.parse().unwrap();
    let Some(closed) = closed(&item, &file) else { return Default::default() };
    let text = closed.item.to_string().replace(' ', "");
    let (_, body) = text.split_once('{').unwrap();
    let own = body.find("m[").unwrap();
    (body[..own].into(), closed.followed.len())
}

fn of_one(functions: &str, body: &str) -> String {
    closures(functions, body).0
}

const AT: &str = "#[device] fn at(x: usize, y: usize) -> usize { y * WIDTH + x }";

#[test]
fn indexes() {
    assert_eq!(closures(AT, "m[at(1, 2)] = 3;"), ("letat=|x:usize,y:usize|y*WIDTH+x;".into(), 1));
    let inside = "#[device] fn inside(x: i32, end: i32) -> bool { x >= 0 && (x as u32) < end as u32 || !(x != 3) }";
    let of_inside = "letinside=|x:i32,end:i32|x>=0&&((x)asu32)<(end)asu32||!(x!=3);ifinside(1,2){";
    assert_eq!(of_one(inside, "if inside(1, 2) { m[0] = 3; }"), of_inside);
    let shifted = "#[device] pub fn half(x: u32) -> usize { (x.wrapping_mul(5) >> 1) as usize % WIDTH / 2 }";
    assert_eq!(of_one(shifted, "m[half(9)] = 3;"), "lethalf=|x:u32|((x.wrapping_mul(5)>>1))asusize%WIDTH/2;");
}

/// Functions that functions call stand in their bodies, for arguments of the parameters' types.
#[test]
fn functions_in_functions() {
    let functions = format!(
        "{AT} #[device] fn below(x: usize) -> usize {{ at(x % 4, 1) + at(flipped(3) as usize, x) }}
        #[device] fn flipped(x: u32) -> u32 {{ x ^ 1 }}"
    );
    let (text, followed) = closures(&functions, "m[below(2)] = 3;");
    assert_eq!(text, "letbelow=|x:usize|(1usize*WIDTH+(x%4))+((x)*WIDTH+(((3u32^1))asusize));");
    assert_eq!(followed, 3, "each is one that rustc confirms");
    let open = "#[device] fn even(x: usize) -> usize { odd(x) } #[device] fn odd(x: usize) -> usize { even(x) }";
    assert_eq!(of_one(open, "m[even(2)] = 3;"), "", "it has no end");
}

#[test]
fn other_functions() {
    let unless = |functions: &str, body: &str, why: &str| assert_eq!(of_one(functions, body), "", "{why}");
    let body = "m[f(1)] = 3;";
    unless("fn f(x: usize) -> usize { x }", body, "it is no device function");
    unless("#[device] fn f(x: usize) -> usize { let y = x; y }", body, "it has statements");
    unless("#[device] fn f(x: usize) -> usize { TABLE[x] }", body, "it reads a table");
    unless("#[device] fn f(x: usize) -> usize { x / (x - 1) }", body, "it may fail");
    unless("#[device] fn f(x: &usize) -> usize { *x }", body, "it takes a reference");
    unless("#[device] fn f(x: f32) -> f32 { x }", body, "it computes no integer");
    unless("#[device] fn f<const N: usize>(x: usize) -> usize { x * N }", body, "it is generic");
    unless("#[device] fn f(_x: usize) -> usize { 3 }", body, "only its result has a type");
    unless("#[device] fn f(x: u32) -> u64 { 1 << x }", body, "only its result has a type");
    unless(
        "#[device] fn f(x: u32) -> u64 { g(1 << x) } #[device] fn g(x: u64) -> u64 { x >> 3 }",
        body,
        "only the parameter has a type",
    );
    unless(
        "#[device] fn f(x: usize) -> usize { g(x) } #[device] fn g(x: usize) -> usize { TABLE[x] }",
        body,
        "so does what it calls",
    );
    unless("#[cfg(test)] #[device] fn f(x: usize) -> usize { x }", body, "it may not be there");
    unless("mod other { #[device] fn f(x: usize) -> usize { x } }", body, "it is in another module");
    unless(
        "#[device] fn f(x: usize) -> usize { x } mod o { #[device] fn f(x: usize) -> usize { 7 * x } }",
        body,
        "there are two",
    );
}

#[test]
fn names_that_mean_something_else() {
    let unless = |body: &str, why: &str| assert_eq!(of_one(AT, body), "", "{why}");
    unless("let at = |x, y| x + y; m[at(1, 2)] = 3;", "it is a variable");
    unless("let WIDTH = 3; m[at(1, 2)] = 3;", "its constant is hidden");
    unless("m[at(1, 2)] = fold(at);", "it is an argument, too");
    unless("m[at(1, 2)] = shared_array::<u32, { at(1, 2) }>()[0];", "a constant needs the function");
    unless("m[geometry::at(1, 2)] = 3;", "it is a function of another module");
    unless("m[point.at(1, 2)] = 3;", "it is a method");
}

const SHAPE: &str = "struct Shape { nx: u32, ny: u32 }
    #[device] impl Shape { fn at(&self, x: u32, y: u32) -> usize { (y * self.nx + x) as usize } fn all(&self) -> u32 { self.nx * self.ny } }";

/// What a kernel with these parameters and this body becomes, without spaces.
fn with_methods(params: &str, body: &str) -> String {
    let kernel = format!("fn subject({params}) {{ {body} }}");
    let file = format!("{SHAPE}\n#[cluster_kernel]\n{kernel}");
    let item: TokenStream = kernel.parse().unwrap();
    closed(&item, &file).map(|closed| closed.item.to_string().replace(' ', "")).unwrap_or_default()
}

#[test]
fn methods() {
    assert_eq!(
        with_methods("shape: Shape", "m[shape.at(1, 2)] = shape.all();"),
        "fnsubject(shape:Shape){letshape_all=||shape.nx*shape.ny;letshape_at=|x:u32,y:u32|((y*shape.nx+x))asusize;m[shape_at(1,2)]=shape_all();}"
    );
    assert_eq!(
        with_methods("shape: &Shape", "let i = 3; m[shape.at(i, shape.at(i, 2) as u32)] = 3;"),
        "fnsubject(shape:&Shape){letshape_at=|x:u32,y:u32|((y*shape.nx+x))asusize;leti=3;m[shape_at(i,shape_at(i,2)asu32)]=3;}"
    );
    assert_eq!(
        with_methods("i: u32", "let i = 3; let s = Shape { nx: i, ny: 4 }; m[s.at(i, 2)] = 3;"),
        "fnsubject(i:u32){leti=3;lets=Shape{nx:i,ny:4};lets_at=|x:u32,y:u32|((y*s.nx+x))asusize;m[s_at(i,2)]=3;}",
        "behind the declaration"
    );
}

/// Functions of values with fields: by value, by reference, or a reference passed on.
#[test]
fn functions_of_values() {
    let functions = "#[device] fn index(s: &Shape, x: u32, y: u32) -> usize { (y * s.nx + x) as usize }
        #[device] fn has(x: i32, s: Shape) -> bool { x >= 0 && !(x >= s.nx as i32) }";
    let of = |params: &str, body: &str| {
        let kernel = format!("fn subject({params}) {{ {body} }}");
        let file = format!("{SHAPE}\n{functions}\n#[cluster_kernel]\n{kernel}");
        let item: TokenStream = kernel.parse().unwrap();
        closed(&item, &file).map(|closed| closed.item.to_string().replace(' ', "")).unwrap_or_default()
    };
    assert_eq!(
        of("shape: Shape", "if has(-1, shape) { m[index(&shape, 1, 2)] = 3; }"),
        "fnsubject(shape:Shape){letshape_index=|x:u32,y:u32|((y*shape.nx+x))asusize;\
            letshape_has=|x:i32|x>=0&&!(x>=(shape.nx)asi32);ifshape_has(-1){m[shape_index(1,2)]=3;}}"
            .replace(' ', "")
    );
    assert_eq!(
        of("s: &Shape", "m[index(s, 1, 2)] = 3;"),
        "fnsubject(s:&Shape){lets_index=|x:u32,y:u32|((y*s.nx+x))asusize;m[s_index(1,2)]=3;}"
    );
    assert_eq!(of("s: &Shape", "m[index(&s, 1, 2)] = 3;"), "", "rustc refuses it");
    assert_eq!(of("s: Grid", "m[index(&s, 1, 2)] = 3;"), "", "rustc refuses it");
    assert_eq!(of("s: &[Shape]", "m[index(&s[0], 1, 2)] = 3;"), "", "it is no local");
    assert_eq!(of("x: Shape", "m[index(&x, 1, 2)] = 3;"), "", "a parameter has the local's name");
}

#[test]
fn other_methods() {
    let unless = |params: &str, body: &str, why: &str| assert_eq!(with_methods(params, body), "", "{why}");
    unless("mut shape: Shape", "m[shape.at(1, 2)] = 3;", "it may change");
    unless("shape: &mut Shape", "m[shape.at(1, 2)] = 3;", "it may change");
    unless("shape: Grid", "m[shape.at(1, 2)] = 3;", "it is of another type");
    unless("shape: Shape", "let shape = other(); m[shape.at(1, 2)] = 3;", "there are two");
    unless("shapes: &[Shape]", "m[shapes[0].at(1, 2)] = 3;", "it is no local");
    unless("shape: Shape, shape_at: u32", "m[shape.at(1, 2)] = 3;", "the name is taken");
    unless("x: Shape", "m[x.at(1, 2)] = 3;", "a parameter has the local's name");
}
