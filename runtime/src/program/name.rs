//! Chooses the names of functions, types and constants in the text. Rust identifies functions by path and instance, the
//! text by one flat name; a name is kept where possible, so that the text reads like the Rust source. The macro names
//! locals.

use std::collections::BTreeSet;

use super::template::{Definition, Role};
use super::type_info::UserType;

/// The words that C++ reserves; in Rust some are raw identifiers.
const WORDS: &str = " \
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class compl \
    concept const_cast consteval constexpr constinit co_await co_return co_yield decltype default delete double \
    dynamic_cast explicit export float friend goto inline int long mutable namespace new noexcept not not_eq \
    nullptr operator or or_eq private protected public register reinterpret_cast requires short signed sizeof \
    static_assert static_cast switch template this thread_local throw typedef typeid typename union unsigned \
    using void volatile wchar_t xor xor_eq const continue do else enum extern false for if return static struct true \
    try virtual while \
    ";

/// The functions that NVRTC declares without any header, most of them with C linkage as kernels have; they also exist
/// with an `f` appended. Found by asking NVRTC 13.5.
const BUILT_IN: &str = " \
    NULL launch_block phalanx phalanx_dynamic_shared phalanx_launch abs acos acosh asin asinh assert atan atan2 atanh blockDim blockIdx cbrt ceil clock clock64 clock_t copysign cos \
    cosh cospi cudaError cudaError_t cudaStream_t cyl_bessel_i0 cyl_bessel_i1 dim3 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fast fdim \
    floor fma fmax fmin fmod free frexp gridDim hypot ilogb j0 j1 jn labs ldexp lgamma \
    llabs llmax llmin llrint llround log log10 log1p log2 logb lrint lround main malloc max memcpy memset min \
    modf nan nearbyint nextafter norm norm3d norm4d normcdf normcdfinv pow printf ptrdiff_t rcbrt remainder \
    remquo rhypot rint rnorm rnorm3d rnorm4d round rsqrt scalbln scalbn sin sincos sincospi sinh sinpi size_t \
    sqrt std tan tanh tgamma threadIdx trunc ullmax ullmin umax umin va_arg va_copy va_end va_list va_start vprintf warpSize y0 y1 yn \
    ";

/// The vector types of NVRTC, with one to four members: `float4`.
const VECTORS: &str = "char uchar short ushort int uint long ulong longlong ulonglong float double";

/// The device functions that a type of the same name would hide: `atomicAdd`.
const ATOMICS: &str = "Add Sub Exch Min Max Inc Dec CAS And Or Xor";

/// The names that the prelude may declare: every identifier before a parenthesis or after a type's keyword, and enumerators. They are more
/// than are declared, which only costs a longer name, and miss none that a function's name could hide. A list, because a program's
/// first launch waits for this.
const PRELUDE: &str = include_str!("name/prelude.txt");

/// The prefixes of NVRTC's macros. No module starts with them, so a name with its module does not clash.
const PREFIXES: [&str; 2] = ["CUDA", "NV_"];

/// The names that are taken, and those that must not be used.
pub(super) struct Namer {
    taken: BTreeSet<String>,
}

impl Namer {
    /// Creates a namer for a program whose functions declare these names, which must not hide any of the program's.
    pub(super) fn new<'a>(locals: impl Iterator<Item = &'a str>) -> Namer {
        Namer { taken: locals.map(String::from).collect() }
    }

    /// Returns a name for `definition`: its own if that is free, or else with its module, or else also with a number.
    pub(super) fn name(&mut self, definition: &Definition) -> String {
        let template = definition.template;
        self.first_free(&(template.name.replace("::", "_") + &arguments(definition)), [template.module])
    }

    /// Returns a name for a user-defined type, which includes those of its generic arguments: its own if that is free,
    /// or else with the innermost module, or else with all modules.
    pub(super) fn type_name(&mut self, ty: &UserType) -> String {
        let innermost = ty.module.rsplit("::").next().unwrap_or_default();
        self.first_free(&ty.readable_name(), [innermost, ty.module])
    }

    /// Returns a name for a constant of the program, which functions call `wanted`.
    pub(super) fn constant(&mut self, wanted: &str) -> String {
        self.first_free(wanted, ["constant"])
    }

    /// Returns `own` if that is free, or else the name with the first of `modules` that makes it so, or else also with
    /// a number.
    fn first_free<'m>(&mut self, own: &str, modules: impl IntoIterator<Item = &'m str>) -> String {
        let own = identifier(own);
        let with = |module: &str| identifier(&format!("{}_{own}", module.replace("::", "_")));
        let modules: Vec<String> = modules.into_iter().map(with).collect();
        let last = modules.last().unwrap_or(&own).clone();
        let numbered = (2..).map(|n| format!("{last}_{n}"));
        let mut candidates = [own].into_iter().chain(modules).chain(numbered);
        let name = candidates.find(|name| !is_reserved(name) && !self.taken.contains(name));
        let name = name.expect("numbers do not end");
        self.taken.insert(name.clone());
        name
    }
}

/// Returns the generic arguments of a device function's instance: `_f32_4`. A kernel keeps its name.
fn arguments(definition: &Definition) -> String {
    let instance = match (definition.template.role, definition.instance.split_once('<')) {
        (Role::Device, Some((_, arguments))) => arguments,
        _ => return String::new(),
    };
    let words = instance.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let last = words.map(|word| word.rsplit("::").next().unwrap_or(word)).filter(|word| !word.is_empty());
    last.map(|word| format!("_{word}")).collect()
}

/// Returns a Rust identifier as C++ accepts it. Raw identifiers lose their mark, letters beyond ASCII become their code
/// points, and names that C++ reserves (two underscores, or one at the start) are avoided. The macros do the same to
/// locals.
fn identifier(name: &str) -> String {
    let name = name.replace("r#", "");
    let ascii = |c: char| match c.is_ascii_alphanumeric() || c == '_' {
        true => c.to_string(),
        false => format!("u{:x}", u32::from(c)),
    };
    let words: Vec<String> = name.chars().map(ascii).collect::<String>().split('_').map(String::from).collect();
    let kept: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    if kept.is_empty() { "unnamed".into() } else { kept.join("_") }
}

fn is_reserved(name: &str) -> bool {
    let listed = |list: &str, name: &str| list.split_whitespace().any(|word| word == name);
    let of_float = name.strip_suffix('f').unwrap_or(name);
    let prefixed = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let vector = name.strip_suffix(['1', '2', '3', '4']).is_some_and(|name| listed(VECTORS, name));
    let atomic = name.strip_prefix("atomic").is_some_and(|name| listed(ATOMICS, name));
    let built_in = vector || atomic || listed(BUILT_IN, name) || listed(BUILT_IN, of_float);
    prefixed || built_in || listed(WORDS, name) || listed(PRELUDE, name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{env, fs};

    use super::*;
    use crate::program::cuda::HEADERS;

    #[test]
    fn the_prelude_s_names_are_listed() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
        if !repository.exists() {
            // The bundle runs this without the repository.
            return eprintln!("skipped: {} is not here", repository.display());
        }
        let names: BTreeSet<&str> = HEADERS.iter().flat_map(|header| header.text.lines().flat_map(declared)).collect();
        let text = names.iter().fold(String::new(), |text, name| text + name + "\n");
        if env::var_os("UPDATE_GOLDEN").is_some_and(|value| value != "0") {
            fs::write(repository.join("src/program/name/prelude.txt"), text).unwrap();
        } else {
            assert_eq!(PRELUDE, text, "the prelude declares other names; run this with UPDATE_GOLDEN=1");
        }
    }

    #[test]
    fn finds_what_a_header_declares() {
        let text = "struct f32 { float v; };\nstruct alignas(sizeof(T) * N) vector {\nusing usize = u64; // lerp(x)\ninline f32 sqrt(f32 x);\n\
                    template <class To>\nPHALANX_UNARY(cbrt, cbrtf)\nenum order { relaxed };\n";
        let names: BTreeSet<&str> = text.lines().flat_map(declared).collect();
        assert_eq!(
            names,
            BTreeSet::from([
                "PHALANX_UNARY",
                "cbrt",
                "cbrtf",
                "enum",
                "f32",
                "usize",
                "sqrt",
                "vector",
                "relaxed",
                "order"
            ])
        );
    }

    /// Returns what a line declares.
    fn declared(line: &str) -> Vec<&str> {
        let mut names = Vec::new();
        // The enumerators of an `enum` of several lines are in a namespace of their own, where no function's name is looked up.
        if line.starts_with("enum ") {
            names.extend(line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()));
        }
        let code = line.split("//").next().unwrap_or_default();
        // The names of a template's parameters are local to it.
        let code = match code.trim_start().strip_prefix("template <class ") {
            Some(parameters) => parameters.split_once('>').map_or("", |(_, rest)| rest),
            None => code,
        };
        // A macro of the prelude defines the names it mentions.
        let defines = code.starts_with("PHALANX_");
        let mut previous = "";
        let mut rest = code;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let word = &rest[start..];
            let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            // In `struct alignas(16) name`, the keyword still precedes the name.
            if word == "alignas" {
                rest = after.rsplit_once(')').map_or("", |(_, rest)| rest);
                continue;
            }
            if defines
                || after.starts_with('(')
                || matches!(previous, "struct" | "class" | "using" | "enum" | "concept")
            {
                names.push(word);
            }
            (previous, rest) = (word, after);
        }
        names
    }

    #[test]
    fn every_rust_identifier_becomes_one_of_cpp() {
        let names = [
            ("r#match", "match"),
            ("größe", "gruf6udfe"),
            ("__syncthreads", "syncthreads"),
            ("a__b", "a_b"),
            ("_", "unnamed"),
        ];
        for (rust, cpp) in names {
            assert_eq!(identifier(rust), cpp);
        }
    }

    #[test]
    fn keeps_off_what_cpp_has() {
        for name in [
            "double",
            "exp",
            "expf",
            "this_cluster",
            "slice",
            "uint4",
            "atomicCAS",
            "vector",
            "phalanx_launch",
            "NULL",
            "relaxed",
            "none",
        ] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["share", "square", "histogram", "f"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
