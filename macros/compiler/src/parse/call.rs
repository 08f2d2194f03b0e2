//! Calls of paths: operations of the language, and device functions.

use proc_macro2::Ident;
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprCall, PathSegment};

use super::Parser;
use super::operand_types::TypeHint;
use super::scalar_functions::is_number;
use super::syntax::{Arguments, type_argument};
use crate::messages;
use crate::model::array_functions::makes_array;
use crate::model::barrier::Barrier;
use crate::model::expr::{Callee, Expr, ExprKind, FunctionPath, LiteralType};
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::name::{Meaning, Space};
use crate::model::op::{Op, Variant};
use crate::model::ty::{self, ValueType};
use crate::model::{RefusedMethod, Role, SlotUse};
use crate::span::SpanRange;

/// Traits whose functions are known as methods alone. None of them can be a user's with device functions, which have other names
/// (`implementation`).
const TRAITS_OF_RUST: [&str; 12] = [
    "Ord",
    "PartialOrd",
    "PartialEq",
    "Eq",
    "Into",
    "TryInto",
    "From",
    "TryFrom",
    "Default",
    "Clone",
    "ToString",
    "Iterator",
];

impl Parser<'_> {
    pub(super) fn call(&mut self, call: &ExprCall, span: SpanRange) -> Expr {
        let syn::Expr::Path(path) = &*call.func else {
            return self.error(messages::not_a_path(SpanRange::of(&call.func)));
        };
        let Some(last) = path.path.segments.last() else { return Expr::error(span) };
        if let Some(refused) = self.refused_of_rust(path) {
            return refused;
        }
        if let Some(imported) = self.imported_call(call, span) {
            return imported;
        }
        if let Some(local) = path.path.get_ident().and_then(|ident| self.lookup(ident))
            && self.function.kind(local) == Kind::Closure
        {
            let arguments = call.args.iter().map(|argument| self.value(argument)).collect();
            let kind = ExprKind::CallClosure { closure: local, arguments, site: self.site(span) };
            return Expr { kind, result_kind: Kind::Value, span };
        }
        // What was to be a closure is refused already.
        if path
            .path
            .get_ident()
            .and_then(|ident| self.lookup(ident))
            .is_some_and(|local| self.function.kind(local) == Kind::Unknown)
        {
            return Expr::error(span);
        }
        if let Some(size) = self.size_of_type(&path.path, call, span) {
            return size;
        }
        if let Some(checked) = self.checked_from(&path.path, &call.args, span) {
            return checked;
        }
        if let Some(known) = self.number_function(&path.path, &call.args, span) {
            return known;
        }
        if let Some(hidden) = self.hidden_function(&path.path) {
            return hidden;
        }
        if let Some(exchange) = self.exchange(call, span) {
            return exchange;
        }
        if let Some(operation) = self.operation(path, last, &call.args, span) {
            return operation;
        }
        if let Some(vector) = self.vector_constructor(path, call, span) {
            return vector;
        }
        if let Some(default) = self.default_value(path, call, span) {
            return default;
        }
        if let Some(method) = method_by_path(path, call) {
            return Expr { span, ..self.method_call(&method, span) };
        }
        match self.function_of_rust(path, &call.args, span) {
            Some(refused) => refused,
            None => self.device_call(path, last, &call.args, span),
        }
    }

    /// Refuses functions of Rust's library for which the language has another form. rustc would only say that they are no device functions.
    fn function_of_rust(&mut self, path: &syn::ExprPath, arguments: &Arguments, span: SpanRange) -> Option<Expr> {
        let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let argument = match arguments.first() {
            Some(syn::Expr::Path(argument)) => argument.path.get_ident().and_then(|ident| self.lookup(ident)),
            _ => None,
        };
        let is_token = || argument.is_some_and(|local| matches!(self.function.kind(local), Kind::Token(_)));
        let refused = match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["drop"] | ["mem", "drop" | "forget"] | ["std" | "core", "mem", "drop" | "forget"] if is_token() => {
                self.diags.push(messages::dropped_by_call(span));
                // It has the token now, so that nothing else is wrong with that.
                return None;
            }
            [.., owner, name] => {
                let of_number = is_number(owner).then(|| messages::instead_of_number_function(name)).flatten();
                let of_trait = TRAITS_OF_RUST.contains(&owner).then_some("call it as a method: `a.cmp(&b)`");
                messages::function_of_rust(span, &format!("{owner}::{name}"), of_number.or(of_trait)?)
            }
            _ => return None,
        };
        Some(self.error(refused))
    }

    /// Parses `size_of::<T>()` and `align_of::<T>()`, which are constants that rustc evaluates as they stand.
    fn size_of_type(&mut self, path: &syn::Path, call: &ExprCall, span: SpanRange) -> Option<Expr> {
        let last = path.segments.last()?;
        let before: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let is_of_rust = matches!(
            before.iter().map(String::as_str).collect::<Vec<_>>()[..],
            ["size_of" | "align_of"]
                | ["mem", "size_of" | "align_of"]
                | ["std" | "core", "mem", "size_of" | "align_of"]
        );
        let ty = type_argument(&last.arguments, 0).filter(|_| is_of_rust && call.args.is_empty())?;
        let of_ty: String = ty.to_token_stream().to_string().chars().filter(|letter| !letter.is_whitespace()).collect();
        let of_ty = of_ty.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        let constant = self.constant(call.to_token_stream(), &format!("{}_{of_ty}", last.ident));
        Some(Expr { kind: ExprKind::Constant(constant), result_kind: Kind::Value, span })
    }

    /// Parses `Default::default()`, whose type rustc infers, as the library's function; and what that consists of, the value that the type's
    /// `Default` has on the host, which is a constant of the text.
    fn default_value(&mut self, path: &syn::ExprPath, call: &ExprCall, span: SpanRange) -> Option<Expr> {
        if path.qself.is_some() || !call.args.is_empty() {
            return None;
        }
        let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["phalanx", "__private", function @ ("start_of_sum" | "start_of_product")] => {
                let digits = if function == "start_of_sum" { "-0.0" } else { "1" }.into();
                let kind = ExprKind::Float { digits, ty: LiteralType::Start(self.slot(SlotUse::Type)) };
                Some(Expr { kind, result_kind: Kind::Value, span })
            }
            ["phalanx", "__private", "default_of"] => {
                let ty = type_argument(&path.path.segments.last()?.arguments, 0)?;
                let constant = self.constant(quote!(<#ty as ::core::default::Default>::default()), "default");
                Some(Expr { kind: ExprKind::Constant(constant), result_kind: Kind::Value, span })
            }
            ["Default", "default"] | ["std" | "core", "default", "Default", "default"] => {
                let mut of = path.path.clone();
                let name = of.segments.pop()?.ident;
                of.segments.pop_punct();
                let item = of.segments.last()?.ident.clone();
                self.claim(&of, Meaning::Item { name: item, space: Space::Type, in_path: true });
                let owner = quote_spanned!(name.span()=> ::phalanx::__private::DefaultValue);
                Some(self.device_callee(Callee::Associated(owner, name, Default::default()), Vec::new(), span))
            }
            // rustc then says of the trait that the type has none, and not of a method.
            [.., owner, "default"] if self.has_default_of_rust(owner) => {
                let mut of = path.path.clone();
                let name = of.segments.pop()?.ident;
                of.segments.pop_punct();
                let value = quote_spanned!(name.span()=> <#of as ::core::default::Default>::default());
                let constant = self.constant(value, "default");
                Some(Expr { kind: ExprKind::Constant(constant), result_kind: Kind::Value, span })
            }
            _ => None,
        }
    }

    /// Parses the call of a function of the language, by its name.
    fn operation(
        &mut self,
        path: &syn::ExprPath,
        last: &PathSegment,
        arguments: &Arguments,
        span: SpanRange,
    ) -> Option<Expr> {
        if let Some(variant) = self.known(&path.path, Space::Variant) {
            return Some(match variant {
                "Some" => self.some(arguments, span),
                "Ok" => self.outcome(Variant::Ok, &arguments.iter().collect::<Vec<_>>(), span),
                _ => self.outcome(Variant::Err, &arguments.iter().collect::<Vec<_>>(), span),
            });
        }
        Some(match self.function_named(path)? {
            "this_cluster" => self.nullary(Op::This(Group::Cluster), "this_cluster", arguments, span),
            "this_thread_block" => self.nullary(Op::This(Group::ThreadBlock), "this_thread_block", arguments, span),
            "this_grid" => self.nullary(Op::This(Group::Grid), "this_grid", arguments, span),
            "coalesced_threads" => self.nullary(Op::This(Group::Coalesced), "coalesced_threads", arguments, span),
            "tiled_partition" => self.tiled_partition(last, arguments, span),
            "shared_array" => self.error(messages::unbound_shared_array(span)),
            name if Barrier::by_origin(name).is_some() => self.error(messages::unbound_barrier(span, name)),
            "dynamic_shared" => self.dynamic_shared(last, arguments, span),
            "dynamic_shared_slice" => self.dynamic_shared_slice(last, arguments, span),
            "fence" => self.fence(arguments, span),
            "nanosleep" => self.nanosleep(arguments, span),
            "launch_dependents" => self.nullary(Op::LaunchDependents, "launch_dependents", arguments, span),
            "wait_previous" => self.wait_previous(arguments, span),
            name => return self.partition(name, arguments, span).or_else(|| self.copy(last, arguments, span)),
        })
    }

    fn nullary(&mut self, op: Op, name: &str, arguments: &Arguments, span: SpanRange) -> Expr {
        if !arguments.is_empty() {
            return self.error(messages::argument_count(span, name, 0, arguments.len()));
        }
        self.op(op, Vec::new(), span)
    }

    /// Parses `wait_previous()`, which stands in the kernel itself: its callers would not see a wait that a function or a closure hides.
    fn wait_previous(&mut self, arguments: &Arguments, span: SpanRange) -> Expr {
        if self.function.role != Role::Kernel || self.closures > 0 {
            return self.error(messages::wait_previous_in_function(span));
        }
        self.nullary(Op::WaitPrevious, "wait_previous", arguments, span)
    }

    fn nanosleep(&mut self, arguments: &Arguments, span: SpanRange) -> Expr {
        /// The most nanoseconds that a thread sleeps, whatever it asks for (PTX ISA, nanosleep).
        const LONGEST: u64 = 1_000_000;
        let (Some(duration), 1) = (arguments.first(), arguments.len()) else {
            return self.error(messages::argument_count(span, "nanosleep", 1, arguments.len()));
        };
        let duration = self.beside(duration);
        self.require_value(&duration);
        if duration.integer().is_some_and(|nanoseconds| nanoseconds > LONGEST) {
            return self.error(messages::long_sleep(duration.span));
        }
        self.op(Op::Nanosleep, vec![duration], span)
    }

    /// Makes an operation from its facts, with the kind of its result, and with a site if it can fail.
    pub(super) fn op(&mut self, op: Op, operands: Vec<Expr>, span: SpanRange) -> Expr {
        let facts = op.facts();
        if facts.convergence.group().is_some() {
            if self.closures > 0 && !self.is_in_filling() {
                return self.error(messages::collective_in_closure(span));
            }
            if self.function.role == Role::Method {
                return self.error(messages::collective_in_method(span));
            }
        }
        let site = (facts.fails || op.recorded().is_some()).then(|| self.site(span));
        Expr { kind: ExprKind::Op { op, operands, site, types: None }, result_kind: facts.result, span }
    }

    /// Parses `shared_array::<T, N>()` as the value of a `let`, which gives the array its name in the text.
    pub(super) fn shared_array_call(&mut self, expr: &syn::Expr) -> Option<Expr> {
        let syn::Expr::Call(call) = expr else { return None };
        let syn::Expr::Path(path) = &*call.func else { return None };
        let last = path.path.segments.last().filter(|last| last.ident == "shared_array")?;
        self.function_named(path)?;
        Some(self.shared_array(last, &call.args, SpanRange::of(expr)))
    }

    fn shared_array(&mut self, segment: &PathSegment, arguments: &Arguments, span: SpanRange) -> Expr {
        const FORM: &str = "shared_array::<T, N>()";
        let element = type_argument(&segment.arguments, 0).cloned();
        let (Some(element), true) = (element, arguments.is_empty()) else {
            return self.error(messages::turbofish(span, "shared_array", FORM));
        };
        let Some(ty) = self.memory_type(&element) else { return Expr::error(span) };
        let Some(length) = self.length_argument(&segment.arguments, 1) else {
            return self.error(messages::turbofish(span, "shared_array", FORM));
        };
        self.function.shared.push((ty.tokens.clone(), length));
        let op = Op::SharedArray(self.function.shared.len() - 1);
        let kind = ExprKind::Op { op, operands: Vec::new(), site: None, types: Some((ty, Some(length))) };
        Expr { kind, result_kind: op.facts().result, span }
    }

    /// Parses the type of an element of shared memory, which a tuple is not.
    fn memory_type(&mut self, element: &syn::Type) -> Option<ValueType> {
        let mut innermost = element;
        while let syn::Type::Array(array) = innermost {
            innermost = &array.elem;
        }
        if matches!(innermost, syn::Type::Tuple(_)) {
            self.diags.push(messages::tuple_in_memory(SpanRange::of(innermost)));
            return None;
        }
        self.value_type(element)
    }

    fn dynamic_shared(&mut self, segment: &PathSegment, arguments: &Arguments, span: SpanRange) -> Expr {
        let element = type_argument(&segment.arguments, 0).cloned();
        let (Some(element), true) = (element, arguments.is_empty()) else {
            return self.error(messages::turbofish(span, "dynamic_shared", "dynamic_shared::<T>()"));
        };
        let Some(ty) = self.memory_type(&element) else { return Expr::error(span) };
        self.function.dynamic_shared = true;
        let op = Op::DynamicShared;
        let kind = ExprKind::Op { op, operands: Vec::new(), site: None, types: Some((ty, None)) };
        Expr { kind, result_kind: op.facts().result, span }
    }

    fn dynamic_shared_slice(&mut self, segment: &PathSegment, arguments: &Arguments, span: SpanRange) -> Expr {
        const FORM: &str = "dynamic_shared_slice::<T>(byte_offset, length)";
        let element = type_argument(&segment.arguments, 0).cloned();
        let (Some(element), 2) = (element, arguments.len()) else {
            return self.error(messages::turbofish(span, "dynamic_shared_slice", FORM));
        };
        let Some(ty) = self.element_type(&element) else { return Expr::error(span) };
        self.function.dynamic_shared = true;
        let operands: Vec<Expr> = arguments.iter().map(|argument| self.beside(argument)).collect();
        operands.iter().for_each(|operand| self.require_value(operand));
        let (op, site) = (Op::DynamicSharedSlice, Some(self.site(span)));
        Expr {
            kind: ExprKind::Op { op, operands, site, types: Some((ty, None)) },
            result_kind: op.facts().result,
            span,
        }
    }

    fn some(&mut self, arguments: &Arguments, span: SpanRange) -> Expr {
        let (Some(argument), 1) = (arguments.first(), arguments.len()) else {
            return self.error(messages::argument_count(span, "Some", 1, arguments.len()));
        };
        let token = self.expr(argument);
        match token.result_kind {
            Kind::Token(group) => {
                Expr { kind: ExprKind::Some(Box::new(token)), result_kind: Kind::OptionalToken(Some(group)), span }
            }
            Kind::OptionalToken(Some(_)) => self.escape(token, "an `Option` of an `Option`"),
            Kind::Unknown => Expr::error(span),
            _ => {
                let mut value = token;
                self.plain_option(&mut value);
                self.require_value(&value);
                let value = self.with_type(value);
                Expr { kind: ExprKind::Some(Box::new(value)), result_kind: Kind::Value, span }
            }
        }
    }

    fn device_call(
        &mut self,
        path: &syn::ExprPath,
        last: &PathSegment,
        arguments: &Arguments,
        span: SpanRange,
    ) -> Expr {
        let name = last.ident.to_string();
        // A device function's name does not begin with a capital letter.
        if name.starts_with(char::is_uppercase) {
            return self.tuple_struct(path, arguments, span);
        }
        if path.path.get_ident() == Some(&self.function.name) {
            return self.error(messages::recursion(span, &name));
        }
        let Some(callee) = callee(path, last) else { return self.error(messages::not_a_path(SpanRange::of(path))) };
        let makes_array = makes_array(&callee);
        let mut parsed: Vec<Expr> = Vec::new();
        for argument in arguments {
            if makes_array {
                // What the closure is given: an element, or an index.
                let hint = parsed.first().map_or(TypeHint::Integer, |array| self.hint_of_element(array));
                self.closure_hint = Some(hint);
            } else if matches!(argument, syn::Expr::Closure(closure) if closure.inputs.len() == 1) {
                self.closure_hint = self.own_type_given(&name, parsed.len());
            }
            let whole = self.lent_array(&name, parsed.len(), argument);
            parsed.push(whole.unwrap_or_else(|| self.argument(argument)));
            self.closure_hint = None;
        }
        self.device_callee(callee, parsed, span)
    }

    /// Makes a call of a device function. Its result is a value, unless a type that is written where it is used says
    /// that it is a token.
    pub(super) fn device_callee(&mut self, callee: Callee, arguments: Vec<Expr>, span: SpanRange) -> Expr {
        if let Callee::Method(name, _) | Callee::Associated(_, name, _) = &callee {
            self.function.calls_library |= messages::is_of_library(&name.to_string()) || name == "from";
        }
        if let Callee::Method(name, _) = &callee
            && let Some(instead) = messages::instead_of_method(&name.to_string())
        {
            let (arguments, message) = (arguments.len().saturating_sub(1), messages::method_of_rust(&name.to_string()));
            let refused = RefusedMethod { name: name.clone(), arguments, message, instead };
            self.function.refused.entry(name.to_string()).or_insert(refused);
        }
        let slot = self.slot(SlotUse::Callee);
        Expr { kind: ExprKind::Call { callee, slot, arguments }, result_kind: Kind::Value, span }
    }
}

/// Returns `a.total_cmp(&b)` for `f32::total_cmp(&a, &b)`, a method of Rust's numbers that is written in the kernel language.
fn method_by_path(path: &syn::ExprPath, call: &ExprCall) -> Option<syn::ExprMethodCall> {
    let [.., owner, method] = &path.path.segments.iter().collect::<Vec<_>>()[..] else { return None };
    let (is_method, name) = (is_number(&owner.ident.to_string()), method.ident.to_string());
    if !is_method || !messages::is_of_library(&name) || name.starts_with("from_") {
        return None;
    }
    let mut arguments = call.args.iter();
    let receiver = match arguments.next()? {
        syn::Expr::Reference(reference) => &reference.expr,
        value => value,
    };
    let method = &method.ident;
    syn::parse2(quote_spanned!(method.span()=> (#receiver).#method(#(#arguments),*))).ok()
}

/// Returns the callee that a path names: a function, or an associated function if the path begins with a type.
fn callee(path: &syn::ExprPath, last: &PathSegment) -> Option<Callee> {
    let segments = &path.path.segments;
    let before = segments.len().checked_sub(2).map(|index| segments[index].ident.to_string());
    let of_type = before.is_some_and(|before| before.starts_with(char::is_uppercase) || ty::scalar(&before).is_some());
    if path.qself.is_none() && !of_type {
        let mut function = path.path.clone();
        let turbofish = function.segments.last_mut().map(|last| std::mem::take(&mut last.arguments));
        let is_import = function.segments.iter().all(|segment| segment.arguments.is_none());
        // `self` and `crate` are not functions.
        let name = syn::parse2::<Ident>(last.ident.to_token_stream()).ok().filter(|_| is_import)?;
        let (path, turbofish) = (function.to_token_stream(), turbofish.to_token_stream());
        return Some(Callee::Function(FunctionPath { path, name, turbofish }));
    }
    let mut owner = path.clone();
    // The name is kept apart; the path before it stays.
    owner.path.segments.pop();
    let owner = match &path.qself {
        Some(qself) => {
            let (ty, within) = (&qself.ty, owner.path.segments.iter());
            let of = qself.as_token.map(|of| quote!(#of #(#within)::*));
            quote!(<#ty #of>)
        }
        None => {
            owner.path.segments.pop_punct();
            owner.to_token_stream()
        }
    };
    Some(Callee::Associated(owner, last.ident.clone(), last.arguments.to_token_stream()))
}
