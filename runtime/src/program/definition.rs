//! Collects and names the user-defined types of a program, and defines them in C++ with assertions that their layout is
//! the same on both sides. Each type is defined once, after the types that it holds. The instructions of products in flight
//! are found by their types, too (`warpgroup`).

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use super::literal;
use super::name::Namer;
use super::type_info::{Case, Content, Field, TypeArgument, TypeInfo, TypeName, UserType};
use super::warpgroup;
use crate::scalar::Scalar;

/// The user-defined types, and the headers that templates need.
#[derive(Default)]
pub(super) struct Types {
    order: Vec<Arc<UserType>>,
    names: BTreeMap<TypeId, String>,
    pub(super) headers: BTreeSet<&'static str>,
    /// The instructions of a warpgroup's products.
    instructions: BTreeSet<String>,
}

impl Types {
    /// Adds a type after the types that it holds.
    pub(super) fn collect(&mut self, ty: &TypeInfo) {
        match &ty.name {
            TypeName::Prelude(_) => {}
            TypeName::Template { name, header, arguments } => {
                self.headers.insert(header);
                if *name == "in_flight" {
                    self.instructions.extend(warpgroup::instruction(arguments));
                }
                for argument in arguments {
                    match argument {
                        TypeArgument::Type(ty) => self.collect(ty),
                        TypeArgument::Value(_) => {}
                    }
                }
            }
            TypeName::User(user) => {
                if self.order.iter().any(|known| known.id == user.id) {
                    return;
                }
                match &user.content {
                    Content::Fields(fields) => fields.iter().for_each(|field| self.collect(&field.ty)),
                    Content::Cases(cases) => {
                        cases.iter().flat_map(|case| &case.fields).for_each(|field| self.collect(&field.ty));
                    }
                    Content::Variants { .. } => {}
                }
                self.order.push(user.clone());
            }
        }
    }

    pub(super) fn choose_names(&mut self, namer: &mut Namer) {
        for user in &self.order {
            self.names.insert(user.id, namer.type_name(user));
        }
    }

    /// Returns the C++ spelling of a type.
    pub(super) fn spell(&self, ty: &TypeInfo) -> String {
        self.spell_beside(ty, &[])
    }

    /// Returns the C++ spelling of a type in a struct with these fields, whose names hide types of the same name.
    fn spell_beside(&self, ty: &TypeInfo, fields: &[Field]) -> String {
        match &ty.name {
            TypeName::Prelude(name) => name.to_string(),
            TypeName::User(user) => {
                let name = self.names.get(&user.id).cloned().unwrap_or_else(|| user.readable_name());
                let is_hidden = fields.iter().any(|field| field.name == name);
                if is_hidden { format!("::{name}") } else { name }
            }
            TypeName::Template { name, arguments, .. } => {
                let argument = |argument: &TypeArgument| match argument {
                    TypeArgument::Type(ty) => self.spell_beside(ty, fields),
                    TypeArgument::Value(value) => value.to_string(),
                };
                match arguments.is_empty() {
                    true => name.to_string(),
                    false => format!("{name}<{}>", arguments.iter().map(argument).collect::<Vec<_>>().join(", ")),
                }
            }
        }
    }

    /// Returns all definitions.
    pub(super) fn text(&self) -> String {
        let definitions = self.order.iter().map(|user| self.definition(user));
        self.instructions.iter().cloned().chain(definitions).collect()
    }

    fn definition(&self, user: &UserType) -> String {
        let name = &self.names[&user.id];
        match &user.content {
            Content::Fields(fields) => self.structure(user, name, fields),
            Content::Cases(cases) => self.cases(user, name, cases),
            Content::Variants { raw, list } => {
                let variants =
                    list.iter().map(|(name, value)| format!("    {name} = {},\n", literal::digits(enumerator(*value))));
                let raw = raw_integer(&self.spell(raw));
                format!("\nenum class {name} : {raw} {{\n{}}};\n", variants.collect::<String>())
            }
        }
    }

    /// Defines an enum with fields. A field of a variant is uninitialized where the value is another variant.
    fn cases(&self, user: &UserType, name: &str, cases: &[Case]) -> String {
        let mut out = format!("\nstruct {name} {{\n");
        let (mut fields, mut functions, mut equal) = (String::new(), String::new(), String::new());
        let operator = "__device__ __forceinline__ friend bool operator==";
        for (number, Case { name: case, fields: of }) in cases.iter().enumerate() {
            out += &format!("    struct {case}_fields {{\n");
            for Field { name: field, ty, .. } in of {
                out += &format!("        {} {field};\n", self.spell_beside(ty, of));
            }
            if user.is_compared {
                out += &format!("        {operator}(const {case}_fields&, const {case}_fields&) = default;\n");
                equal += &format!(" && (a.variant != {number} || a.as_{case} == b.as_{case})");
            }
            out += "    };\n";
            fields += &format!("    {case}_fields as_{case};\n");
            functions += &format!(
                "    __device__ __forceinline__ bool is_{case}() const {{ return variant == {number}; }}\n    \
                 __device__ __forceinline__ static {name} of_{case}({case}_fields fields) {{\n        {name} value;\n        \
                 value.variant = {number};\n        value.as_{case} = fields;\n        return value;\n    }}\n"
            );
        }
        // Without `PartialEq`, only patterns compare it, with variants that have no fields.
        out + "    unsigned variant;\n"
            + &fields
            + &functions
            + &format!(
                "    {operator}(const {name}& a, const {name}& b) {{ return a.variant == b.variant{equal}; }}\n}};\n"
            )
    }

    fn structure(&self, user: &UserType, name: &str, fields: &[Field]) -> String {
        let UserType { align, is_compared, is_ordered, is_reversed, .. } = *user;
        let natural = fields.iter().map(|field| field.ty.align).max();
        let aligned = if natural < Some(align) { format!("alignas({align}) ") } else { String::new() };
        let mut out = format!("\nstruct {aligned}{name} {{\n");
        let mut proof = String::new();
        let mut size = 0;
        for Field { name: field, offset, ty } in fields {
            let write = writeln!(out, "    {} {field};", self.spell_beside(ty, fields))
                .and_then(|()| writeln!(proof, "static_assert(PHALANX_OFFSET_OF({name}, {field}) == {offset});"));
            write.expect("a String takes every write");
            size = offset + ty.size;
        }
        if is_compared {
            let operator = "__device__ __forceinline__ friend bool operator==";
            writeln!(out, "    {operator}(const {name}&, const {name}&) = default;")
                .expect("a String takes every write");
        }
        if is_reversed {
            let operator = "__device__ __forceinline__ friend bool operator";
            for symbol in ["<", "<=", ">", ">="] {
                out += &format!(
                    "    {operator}{symbol}(const {name}& a, const {name}& b) {{ return b._0 {symbol} a._0; }}\n"
                );
            }
        } else if is_ordered {
            out.push_str(&orders(name, fields));
        }
        out + "};\n" + &format!("static_assert(sizeof({name}) == {size} && alignof({name}) == {align});\n") + &proof
    }
}

/// Returns the comparisons of a struct, the first field that differs first, as Rust's derive has them: no order exists beside a NaN.
fn orders(name: &str, fields: &[Field]) -> String {
    let operator = |symbol: &str, strictly: &str| {
        let (last, others) = fields.split_last().map_or((None, fields), |(last, others)| (Some(last), others));
        let tests = others.iter().map(|Field { name: field, .. }| {
            format!("        if (!(a.{field} == b.{field})) return a.{field} {strictly} b.{field};\n")
        });
        let last = match last {
            Some(Field { name: field, .. }) => format!("a.{field} {symbol} b.{field}"),
            None => (symbol != strictly).to_string(),
        };
        format!(
            "    __device__ __forceinline__ friend bool operator{symbol}(const {name}& a, const {name}& b) {{\n{}        return {last};\n    }}\n",
            tests.collect::<String>()
        )
    };
    [("<", "<"), ("<=", "<"), (">", ">"), (">=", ">")].map(|(symbol, strictly)| operator(symbol, strictly)).concat()
}

/// Returns the value of a variant as an integer of either signedness.
fn enumerator(value: i128) -> Scalar {
    match u128::try_from(value) {
        Ok(value) => Scalar::Unsigned(value, ""),
        Err(_) => Scalar::Signed(value, ""),
    }
}

/// Returns the raw type of a strong integer type, with which an enum must be declared.
fn raw_integer(strong: &str) -> &'static str {
    match strong {
        "i8" => "signed char",
        "i16" => "short",
        "i32" => "int",
        "i64" | "isize" => "long long",
        "u8" => "unsigned char",
        "u16" => "unsigned short",
        "u32" => "unsigned",
        _ => "unsigned long long",
    }
}
