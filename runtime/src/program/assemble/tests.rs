//! Templates written by hand, as the macros would print them, joined and compared with the text they must become.

use super::super::template::Template;
use super::*;
use crate::program::launch_terms::LaunchTerms;
use crate::program::template::{Role, SharedInfo, Site, SiteMessage};
use crate::program::types::{DeviceType, constant};

const KERNEL: KernelOptions = KernelOptions { cluster: Some([2, 1, 1]), ..KernelOptions::NONE };

fn types(names: &[&'static str]) -> Vec<Slot> {
    names.iter().map(|name| Slot::Type(TypeInfo::prelude::<u32>(name))).collect()
}

fn definition(template: &'static Template, instance: &'static str, slots: Vec<Slot>) -> Definition {
    Definition {
        template,
        options: KERNEL,
        instance,
        slots,
        types: vec![],
        values: vec![],
        shared: vec![SharedInfo { size: 8, align: 4 }],
    }
}

static SQUARE: Template = Template {
    name: "square",
    module: "demo::math",
    file: "src/math.rs",
    role: Role::Device,
    signature: &[
        Fragment::Line(3),
        Fragment::Text("__device__ "),
        Fragment::Named(0),
        Fragment::Text(" "),
        Fragment::Name,
        Fragment::Text("("),
        Fragment::Named(0),
        Fragment::Text(" of)"),
    ],
    body: &[
        Fragment::Text("{"),
        Fragment::Line(4),
        Fragment::Text("    return of "),
        Fragment::Site(0),
        Fragment::Text("/ "),
        Fragment::Literal { slot: 0, digits: "2" },
        Fragment::Text(";"),
        Fragment::Line(5),
        Fragment::Text("}"),
    ],
    sites: &[Site { line: 4, column: 9, message: SiteMessage::None }],
    headers: &["scalar.cuh"],
    locals: &["of"],
    constants: &[],
    collective: false,
    converged: true,
    fences: phalanx_contract::fence::FunctionFences::NONE,
    needs: &[],
    launch: LaunchTerms::NONE,
    continued: false,
};

fn square_u32() -> Definition {
    let mut square = definition(&SQUARE, "square<u32>", types(&["u32"]));
    square.types.push(u32::info());
    square
}

fn square_f32() -> Definition {
    let mut square = definition(&SQUARE, "square<f32>", types(&["f32"]));
    square.types.push(f32::info());
    square
}

static TWICE: Template = Template {
    name: "twice",
    module: "demo",
    file: "src/main.rs",
    role: Role::Kernel,
    signature: &[
        Fragment::Line(3),
        Fragment::Text("extern \"C\" __global__ void "),
        Fragment::Name,
        Fragment::Text("(slice<u32> v)"),
    ],
    body: &[
        Fragment::Text("{"),
        Fragment::Line(4),
        Fragment::Text("    auto a = v"),
        Fragment::Site(0),
        Fragment::Text("["),
        Fragment::Literal { slot: 0, digits: "0" },
        Fragment::Text("];"),
        Fragment::Line(5),
        Fragment::Text("    auto b = "),
        Fragment::Callee(1),
        Fragment::Text("("),
        Fragment::Callee(2),
        Fragment::Text("(a));"),
        Fragment::Line(6),
        Fragment::Text("}"),
    ],
    sites: &[Site { line: 4, column: 14, message: SiteMessage::None }],
    headers: &["memory.cuh", "scalar.cuh"],
    locals: &["a", "b"],
    constants: &[],
    collective: false,
    converged: true,
    fences: phalanx_contract::fence::FunctionFences::NONE,
    needs: &[],
    launch: LaunchTerms::NONE,
    continued: false,
};

static CHOOSES: Template = Template {
    name: "chooses",
    body: &[
        Fragment::Text("{ "),
        Fragment::Alone {
            callees: &[0],
            text: &[Fragment::Text("if (test) "), Fragment::Callee(0), Fragment::Text("(1); else ")],
        },
        Fragment::Text("{} }"),
    ],
    sites: &[],
    locals: &[],
    ..TWICE
};

/// Gives what it does with an `Option` to a function.
static GIVES: Template = Template {
    name: "gives",
    body: &[
        Fragment::Text("{ "),
        Fragment::Callee(0),
        Fragment::Text("(1"),
        Fragment::Then { callee: 0, has_arguments: true, inside: &[1] },
        Fragment::Text("next); "),
        Fragment::Callee(0),
        Fragment::Text("("),
        Fragment::Then { callee: 0, has_arguments: false, inside: &[] },
        Fragment::Text("next); }"),
    ],
    sites: &[],
    locals: &[],
    ..TWICE
};

/// Joins values by closures of which two can fail: one itself, one in a function.
static JOINS: Template = Template {
    name: "joins",
    body: &[
        Fragment::Text("{ "),
        Fragment::Operator { text: &[Fragment::Text("a")] },
        Fragment::Operator { text: &[Fragment::Text("b"), Fragment::Site(0)] },
        Fragment::Operator { text: &[Fragment::Callee(0)] },
        Fragment::Operator { text: &[Fragment::Callee(1)] },
        Fragment::Text(" }"),
    ],
    sites: &[Site { line: 4, column: 9, message: SiteMessage::None }],
    locals: &[],
    ..TWICE
};

static TAKES: Template =
    Template { name: "takes", signature: &[Fragment::Name], body: &[], continued: true, sites: &[], ..SQUARE };

static BARRIER: Template = Template { name: "barrier", signature: &[Fragment::Name], collective: true, ..SQUARE };

/// Calls [`BARRIER`].
static CALLER: Template =
    Template { name: "caller", signature: &[Fragment::Name], body: &[Fragment::Callee(0)], sites: &[], ..SQUARE };

#[test]
fn functions_that_take_what_their_caller_does() {
    fn takes() -> Definition {
        definition(&TAKES, "takes", types(&["u32"]))
    }
    fn barrier() -> Definition {
        definition(&BARRIER, "barrier", types(&["u32"]))
    }
    let text = |callee: fn() -> Definition, inside: fn() -> Definition| {
        let slots = vec![Slot::Callee(callee), Slot::Callee(inside)];
        Program::assemble(definition(&GIVES, "gives", slots)).unwrap().cuda_source().to_string()
    };
    let holds = |text: String, line: &str| assert!(text.contains(line), "{text}");
    holds(text(takes, square_u32), "{ takes(1, next); takes(next); }");
    holds(text(square_u32, takes), "{ square_u32(1).then(next); square_u32().then(next); }");
    // What threads do together they do behind the call.
    holds(text(takes, barrier), "{ takes(1).then(next); takes(next); }");
}

#[test]
fn what_threads_do_together_is_not_printed_twice() {
    fn barrier() -> Definition {
        definition(&BARRIER, "barrier", types(&["u32"]))
    }
    fn caller() -> Definition {
        definition(&CALLER, "caller", vec![Slot::Callee(barrier)])
    }
    let text = |callee: fn() -> Definition| {
        Program::assemble(definition(&CHOOSES, "chooses", vec![Slot::Callee(callee)]))
            .unwrap()
            .cuda_source()
            .to_string()
    };
    assert!(text(square_u32).contains("{ if (test) square_u32(1); else {} }"), "{}", text(square_u32));
    assert!(text(barrier).contains("{ {} }"), "{}", text(barrier));
    assert!(text(caller).contains("{ {} }"), "{}", text(caller));
}

#[test]
fn closures_that_cannot_fail_are_marked() {
    static SAFE: Template = Template { name: "safe", body: &[Fragment::Text("{}")], sites: &[], ..SQUARE };
    fn safe() -> Definition {
        Definition { template: &SAFE, ..square_u32() }
    }
    let program = Program::assemble(definition(&JOINS, "joins", vec![Slot::Callee(safe), Slot::Callee(square_u32)]));
    let program = program.unwrap();
    let text = program.cuda_source();
    let body = text.lines().find(|line| line.contains("detail::total")).unwrap_or(text);
    assert!(body.contains("detail::total(a)") && body.contains("detail::total(safe_u32)"), "{text}");
    assert_eq!(text.matches("detail::total").count(), 2, "{text}");
}

#[test]
fn functions_are_joined_with_their_holes_filled() {
    let mut slots = types(&["usize"]);
    slots.extend([Slot::Callee(square_u32), Slot::Callee(square_u32)]);
    let program = Program::assemble(definition(&TWICE, "twice", slots)).unwrap();
    let expected = r#"#define PHALANX_CLUSTER 2, 1, 1
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

#line 3 "src/math.rs"
__device__ u32 square_u32(u32 of) {
    return of / u32(2);
}

#line 3 "src/main.rs"
extern "C" __global__ void twice(slice<u32> v) {
    auto a = v [usize(0)];
    auto b = square_u32(square_u32(a));
}
"#;
    assert_eq!(program.cuda_source(), expected);
    assert_eq!(program.static_shared_bytes(), 32, "each function's once, rounded up to 16");
    assert_eq!((program.name(), program.entry()), ("twice", "twice"));
}

/// Has text for the case that a number lies in an interval.
static UNROLLS: Template = Template {
    name: "unrolls",
    body: &[
        Fragment::Text("{ "),
        Fragment::Within { number: 0, least: 2, most: 8, text: &[Fragment::Text("few "), Fragment::Digits(0)] },
        Fragment::Text(" }"),
    ],
    sites: &[],
    locals: &[],
    ..TWICE
};

#[test]
fn texts_for_numbers_in_an_interval() {
    let text = |number: i128| {
        let values = vec![crate::program::types::number(number)];
        let definition = Definition { values, ..definition(&UNROLLS, "unrolls", types(&["u32"])) };
        Program::assemble(definition).unwrap().cuda_source().to_string()
    };
    assert!([2, 8].iter().all(|&number| text(number).contains(&format!("{{ few {number} }}"))), "{}", text(2));
    assert!([1, 9, 0, -1, i128::MAX, i128::MIN].iter().all(|&number| text(number).contains("{  }")), "{}", text(9));
}

#[test]
fn file_names_are_plain_in_line_directives() {
    for (file, shown) in [
        ("src/main.rs", "src/main.rs"),
        ("src\\main.rs", "src/main.rs"),
        ("src/a \"b\"\n/größe.rs", "src/a 'b'?/größe.rs"),
        ("src/what??/main.rs", "src/what?_/main.rs"),
    ] {
        assert_eq!(line_name(file), shown);
    }
}

#[test]
fn a_site_that_is_taken_moves_by_a_space() {
    // Both fail in column 15 of line 4 of their files, so `v [` above was shifted.
    let mut slots = types(&["usize"]);
    slots.extend([Slot::Callee(square_u32), Slot::Callee(square_u32)]);
    let program = Program::assemble(definition(&TWICE, "twice", slots)).unwrap();
    let find = |column: u32| program.sites().find(4 << 16 | column).map(|at| at.to_string());
    assert_eq!(find(15).as_deref(), Some("src/math.rs:4:9"));
    assert_eq!(find(16).as_deref(), Some("src/main.rs:4:14"));
}

#[test]
fn two_instances_get_two_names() {
    let mut slots = types(&["usize"]);
    slots.extend([Slot::Callee(square_u32), Slot::Callee(square_f32)]);
    let program = Program::assemble(definition(&TWICE, "twice", slots)).unwrap();
    assert!(program.cuda_source().contains("__device__ f32 square_f32(f32 of)"));
    assert!(program.cuda_source().contains("__device__ u32 square_u32(u32 of)"));
    assert!(program.cuda_source().contains("square_u32(square_f32(a))"));
}

static DOUBLE: Template = Template {
    name: "double",
    module: "demo",
    file: "src/main.rs",
    role: Role::Kernel,
    signature: &[Fragment::Text("void "), Fragment::Name, Fragment::Text("()")],
    body: &[
        Fragment::Text("{ square<"),
        Fragment::Digits(0),
        Fragment::Text(">("),
        Fragment::Constant(0),
        Fragment::Text("); }"),
    ],
    sites: &[],
    headers: &[],
    locals: &[],
    constants: &["COUNT"],
    collective: false,
    converged: true,
    fences: phalanx_contract::fence::FunctionFences::NONE,
    needs: &[],
    launch: LaunchTerms::NONE,
    continued: false,
};

#[test]
fn words_of_cpp_are_not_names() {
    let mut double = definition(&DOUBLE, "double", vec![]);
    double.values.push(constant(&64usize));
    let program = Program::assemble(double).unwrap();
    assert_eq!(program.entry(), "demo_double");
    assert_eq!(
        program.cuda_source(),
        "#define PHALANX_CLUSTER 2, 1, 1\n\nusing namespace phalanx;\n\nvoid demo_double() { square<64>(COUNT); }\n"
    );
}

/// If a convergence rule is switched off, in the kernel or in a callee, no barrier relies on whole warps.
#[test]
fn barriers_of_warps_that_may_diverge() {
    static DIVERGENT: Template = Template { converged: false, ..SQUARE };
    fn divergent() -> Definition {
        Definition { template: &DIVERGENT, ..square_u32() }
    }
    let is_defined = |callee: fn() -> Definition| {
        let mut slots = types(&["usize"]);
        slots.extend([Slot::Callee(square_u32), Slot::Callee(callee)]);
        let program = Program::assemble(definition(&TWICE, "twice", slots)).unwrap();
        program.cuda_source().contains("#define PHALANX_DIVERGENT\n")
    };
    assert!(is_defined(divergent) && !is_defined(square_u32));
}

static LOOP: Template = Template { name: "forever", role: Role::Device, ..DOUBLE_AS_DEVICE };
const DOUBLE_AS_DEVICE: Template = Template {
    name: "",
    module: "demo",
    file: "src/main.rs",
    role: Role::Device,
    signature: &[],
    body: &[],
    sites: &[],
    headers: &[],
    locals: &[],
    constants: &[],
    collective: false,
    converged: true,
    fences: phalanx_contract::fence::FunctionFences::NONE,
    needs: &[],
    launch: LaunchTerms::NONE,
    continued: false,
};

fn forever() -> Definition {
    definition(&LOOP, "forever", vec![Slot::Callee(forever)])
}

#[test]
fn recursion_is_an_error_that_names_the_cycle() {
    let error = Program::assemble(definition(&DOUBLE, "double", vec![Slot::Callee(forever)])).unwrap_err();
    assert_eq!(error.to_string(), "device functions cannot be recursive: forever calls forever");
}

#[test]
fn only_a_kernel_is_a_program() {
    let error = Program::assemble(forever()).unwrap_err();
    assert_eq!(error.to_string(), "`forever` is a device function; only a `#[cluster_kernel]` can be launched");
}
