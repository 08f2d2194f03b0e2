//! Translates syn's syntax tree to the model. Parsing goes on after an error: it is reported, an error expression takes
//! the place of what has it, and the rest is parsed too. No other folder reads syn's syntax tree.

mod adapted_loops;
mod aggregate;
mod array_methods;
mod atomic;
pub(crate) mod attributes_inside;
mod barrier;
mod call;
pub(crate) mod called_tokens;
mod chosen_memory;
mod closure;
mod compared_iterators;
mod comparisons;
pub(crate) mod computing;
mod computing_values;
mod control;
mod conversions;
mod copied_items;
mod copy;
mod counted_loops;
mod desugared_methods;
mod elsewhere;
mod expr;
pub(crate) mod files;
mod filled_arrays;
mod flattened;
mod float_patterns;
mod format;
pub(crate) mod impl_parameters;
pub(crate) mod implementation;
pub(crate) mod imported;
mod indexed_types;
pub(crate) mod inline;
mod inline_cuda;
mod inner_attributes;
mod inner_items;
pub(crate) mod instance;
mod item_names;
mod item_references;
mod iter_consumers;
mod iter_parts;
mod iter_sources;
mod iter_steps;
mod lengths;
mod lent_parts;
mod listed;
mod local_parts;
mod local_types;
mod loop_items;
mod macro_call;
mod matrix;
mod method;
mod modules;
mod name;
mod named_iterators;
mod named_places;
mod named_ranges;
pub(crate) mod nested_functions;
mod operand_order;
mod operand_types;
mod operator_traits;
mod operators;
mod optional_references;
pub(crate) mod options;
mod overloads;
mod parameters;
mod passed;
mod pattern;
pub(crate) mod provided_methods;
pub(crate) mod readable;
mod reference;
mod referenced_fields;
mod refused_functions;
pub(crate) mod refused_method;
mod results;
pub(crate) mod same_file;
mod scalar_functions;
mod shown_arrays;
mod signature;
mod slice;
mod slice_constants;
mod slice_patterns;
mod split_slices;
mod stand_ins;
mod stated_totals;
mod stepped_iterators;
mod stmt;
mod syntax;
mod tensor;
mod tuples_of_options;
mod ty;
mod unchecked;
mod unroll;
mod variants;
mod vector;
mod warp;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::expr::{BinaryOp, Block, Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::options::Options;
use crate::model::ty::ValueType;
use crate::model::{
    Constant, Function, Local, LocalId, LoopId, Role, Site, SiteId, SiteMessage, SlotId, SlotUse, TypeId, ValueId,
};
use crate::span::SpanRange;

/// The largest number of passes: the kind of one local may depend on that of another, but long chains do not occur.
const PASSES: usize = 4;

/// Parses a function under one of the attributes, whose options these are. Errors are reported to `diags`.
pub(crate) fn function(item: &syn::ItemFn, role: Role, options: Options, diags: &mut Diags) -> Function {
    let (sig, block) = (&item.sig, &item.block);
    let text = readable::identity_of(&quote!(#sig #block));
    let constant = sig.constness.is_some().then(|| quote!(#sig #block));
    let item = &slice_constants::replaced(parameters::named(closure::in_place(&impl_parameters::named(
        inner_items::at_the_top(item.clone()),
    ))));
    // `let mut best = None;` holds a token or plain data, `let x = &memory[i];` is a row or an element, and the result of a device
    // function is a value or a token, as the uses further down show. Then the function is parsed once more with that known.
    let mut known = Vec::new();
    let mut passes = 0;
    loop {
        let mut faults = diags.nested();
        let (function, learned) = pass(item, role, &options, known, &mut faults);
        passes += 1;
        if !learned || passes == PASSES {
            diags.append(faults);
            return Function { text, options, constant, ..function };
        }
        known = function.locals.iter().map(|local| local.kind).collect();
    }
}

/// Parses the function with what is known of the locals' kinds. Returns whether it learned more.
fn pass(item: &syn::ItemFn, role: Role, options: &Options, known: Vec<Kind>, diags: &mut Diags) -> (Function, bool) {
    let mut parser = Parser::new(item, role, options, known, diags);
    parser.signature(item);
    inner_attributes::refuse(item, parser.diags);
    let stated = stated_totals::with_stated_result(item);
    let mut body = parser.block(stated.as_ref().unwrap_or(&item.block));
    let result = parser.function.ret.as_ref().map(|ret| signature::shape_kind(&ret.shape));
    if let (Some(expected), Some(tail)) = (result, &mut body.tail) {
        parser.expect_token(tail, expected);
    }
    parser.function.body = body;
    parser.function.listed = listed::of(&parser.function);
    (parser.function, parser.learned)
}

/// The function under construction, and the names in scope.
struct Parser<'d> {
    diags: &'d mut Diags,
    options: &'d Options,
    function: Function,
    scopes: Vec<Scope>,
    jump_targets: Vec<JumpTarget>,
    next_loop: usize,
    /// The number of closures around the current expression, which is not followed in a closure.
    closures: usize,
    /// The locals that the first alternative of a pattern binds, while the others are parsed: the alternatives share
    /// them.
    alternatives: Vec<LocalId>,
    /// Whether the arms of a `?` are being parsed.
    in_question: bool,
    /// Where the closure that was parsed last changes a variable around it.
    changed_by_closure: Option<SpanRange>,
    /// The `move` closures with names that change what they have copied, and where.
    changing_closures: BTreeMap<LocalId, SpanRange>,
    /// Which closures fill an array, and so are bodies of loops.
    filling: filled_arrays::Filling,
    /// The barrier to which tokens without a brand belong.
    elision: barrier::Elision,
    /// The kinds of the locals that an earlier pass found, by number.
    known: Vec<Kind>,
    /// Whether this pass found the kind of a local that began as a `None`.
    learned: bool,
    /// How many bounds of parts of local arrays have names.
    bounds_made: usize,
    /// The names of parts of local arrays.
    local_parts: BTreeMap<LocalId, local_parts::LocalPart>,
    /// The locals that are `&memory[i]`, of which an array's element is a row.
    rows: BTreeSet<LocalId>,
    /// The locals without a type that are results of device functions, which count as values until a wait takes them.
    results: BTreeSet<LocalId>,
    /// The types of locals that the text shows by their values.
    hints: BTreeMap<LocalId, operand_types::TypeHint>,
    /// The variables whose declaration shows that they are an `Option`.
    optional: BTreeSet<LocalId>,
    /// The type of the parameters of the closure that is parsed next, if the text shows it.
    closure_hint: Option<operand_types::TypeHint>,
    file: operand_types::FileText,
    /// The types that were reported, because they are none of kernels: one error for each is enough.
    reported_types: BTreeSet<String>,
    /// The locals that are options of copies, where the user wrote options of references to elements.
    optional_copies: BTreeSet<LocalId>,
    /// The locals that are bound to a token of a phase barrier, which is a value, or to an option of one.
    phase_tokens: BTreeSet<LocalId>,
}

/// The names of one lexical scope, and its locals in order of declaration.
#[derive(Default)]
struct Scope {
    names: BTreeMap<Binding, LocalId>,
    declared: Vec<LocalId>,
}

/// A name with its hygiene: in a kernel that `macro_rules!` makes, the macro's `x` is not its caller's.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Binding {
    name: String,
    /// The macro expansion that the name comes from. On stable, only the debug form of a span shows it: `#4
    /// bytes(1..2)`. Without it, as in unit tests, all names come from one expansion.
    context: String,
}

impl Binding {
    fn of(name: &Ident) -> Binding {
        let span = format!("{:?}", name.span());
        let context = span.split(' ').next().filter(|word| word.starts_with('#')).unwrap_or_default();
        Binding { name: name.to_string(), context: context.into() }
    }
}

/// A loop or labelled block that `break` can leave.
struct JumpTarget {
    id: LoopId,
    label: Option<Binding>,
    /// Whether it is a loop: a `break` without a label and `continue` leave the innermost one.
    is_loop: bool,
    /// The kind of the values that the `break`s seen so far carry.
    value: Option<Kind>,
}

impl<'d> Parser<'d> {
    fn new(item: &syn::ItemFn, role: Role, options: &'d Options, known: Vec<Kind>, diags: &'d mut Diags) -> Self {
        let function = Function {
            name: item.sig.ident.clone(),
            title: item.sig.ident.to_string(),
            vis: quote::ToTokens::to_token_stream(&item.vis),
            attrs: signature::attributes(&item.attrs, &signature::OF_ITEMS),
            lints: signature::attributes(&item.attrs, &signature::OF_BODIES),
            role,
            options: Default::default(),
            generics: Default::default(),
            params: Vec::new(),
            ret: None,
            locals: Vec::new(),
            slots: Vec::new(),
            types: Vec::new(),
            values: Vec::new(),
            sites: Vec::new(),
            shared: Vec::new(),
            calls_library: false,
            refused: BTreeMap::new(),
            has_open_operators: false,
            is_operator: false,
            claims: Vec::new(),
            brands: 0,
            text: 0,
            constant: None,
            dynamic_shared: false,
            definitions: Default::default(),
            listed: Default::default(),
            unrolled: Default::default(),
            block_waivers: Vec::new(),
            body: Block {
                statements: Vec::new(),
                tail: None,
                span: SpanRange::of(&item.sig.ident),
                declared: Vec::new(),
            },
        };
        Parser {
            diags,
            options,
            function,
            scopes: vec![Scope::default()],
            jump_targets: Vec::new(),
            next_loop: 0,
            closures: 0,
            alternatives: Vec::new(),
            in_question: false,
            changed_by_closure: None,
            changing_closures: BTreeMap::new(),
            filling: Default::default(),
            elision: Default::default(),
            known,
            learned: false,
            bounds_made: 0,
            local_parts: BTreeMap::new(),
            rows: BTreeSet::new(),
            results: BTreeSet::new(),
            reported_types: BTreeSet::new(),
            optional_copies: BTreeSet::new(),
            phase_tokens: BTreeSet::new(),
            hints: BTreeMap::new(),
            optional: BTreeSet::new(),
            closure_hint: None,
            file: Default::default(),
        }
    }

    fn declare(&mut self, name: &Ident, mutable: Option<Span>, kind: Kind, ty: Option<ValueType>) -> LocalId {
        if name.to_string().starts_with("__phalanx") {
            self.diags.push(messages::reserved_name(SpanRange::of(name), &name.to_string()));
        }
        let id = LocalId(self.function.locals.len());
        let kind = match (kind, self.known.get(id.0)) {
            (Kind::OptionalToken(None), Some(known)) => *known,
            (kind, _) => kind,
        };
        self.function.locals.push(Local {
            name: name.clone(),
            mutable,
            kind,
            ty,
            slot: None,
            is_array: false,
            rows: None,
            by_reference: false,
            filled_by: None,
        });
        // The function's own scope is always there.
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(Binding::of(name), id);
            scope.declared.push(id);
        }
        id
    }

    fn lookup(&self, name: &Ident) -> Option<LocalId> {
        let name = &Binding::of(name);
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name).copied())
    }

    /// Returns the local that an expression names.
    fn named_local(&self, expr: &syn::Expr) -> Option<LocalId> {
        let syn::Expr::Path(path) = syntax::strip(expr) else { return None };
        self.lookup(path.path.get_ident()?)
    }

    /// Runs `f` in a lexical scope of its own and returns the locals that it declared.
    fn scoped<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> (R, Vec<LocalId>) {
        self.scopes.push(Scope::default());
        let result = f(self);
        let declared = self.scopes.pop().map(|scope| scope.declared).unwrap_or_default();
        (result, declared)
    }

    fn new_loop(&mut self) -> LoopId {
        self.next_loop += 1;
        LoopId(self.next_loop - 1)
    }

    fn slot(&mut self, what: SlotUse) -> SlotId {
        self.function.slots.push(what);
        SlotId((self.function.slots.len() - 1) as u16)
    }

    /// Adds a site that can fail.
    fn site(&mut self, at: SpanRange) -> SiteId {
        self.site_with(at, SiteMessage::None)
    }

    fn site_with(&mut self, at: SpanRange, message: SiteMessage) -> SiteId {
        self.function.sites.push(Site { at, message });
        SiteId((self.function.sites.len() - 1) as u16)
    }

    fn division_site(&mut self, op: BinaryOp, at: SpanRange) -> Option<SiteId> {
        op.divides().then(|| self.site(at))
    }

    fn type_name(&mut self, tokens: TokenStream) -> TypeId {
        let text = tokens.to_string();
        let known = self.function.types.iter().position(|known| known.to_string() == text);
        TypeId(known.unwrap_or_else(|| {
            self.function.types.push(tokens);
            self.function.types.len() - 1
        }) as u16)
    }

    /// Adds a constant under a name for the text. Each constant is kept once.
    fn constant(&mut self, tokens: TokenStream, name: &str) -> ValueId {
        let name = name.to_string();
        self.value_hole(Constant {
            tokens,
            name,
            declared: true,
            ty: None,
            in_pattern: false,
            is_variant: false,
            literal: None,
        })
    }

    fn length_hole(&mut self, tokens: TokenStream) -> ValueId {
        self.digits_hole(tokens, "usize")
    }

    /// Adds a constant of which the text has only the digits.
    fn digits_hole(&mut self, tokens: TokenStream, ty: &'static str) -> ValueId {
        let name = String::new();
        let literal = syn::parse2::<syn::LitInt>(tokens.clone()).and_then(|literal| literal.base10_parse()).ok();
        self.value_hole(Constant {
            tokens,
            name,
            declared: false,
            ty: Some(ty),
            in_pattern: false,
            is_variant: false,
            literal,
        })
    }

    fn value_hole(&mut self, constant: Constant) -> ValueId {
        let text = constant.tokens.to_string();
        let same = |known: &Constant| known.ty == constant.ty && known.tokens.to_string() == text;
        let known = self.function.values.iter().position(same);
        ValueId(known.unwrap_or_else(|| {
            self.function.values.push(constant);
            self.function.values.len() - 1
        }) as u16)
    }

    /// Makes a token of a device function's result, which otherwise counts as a value, if its use expects a token of a
    /// known group because a type is written there. The host body makes rustc agree.
    fn expect_token(&mut self, expr: &mut Expr, expected: Kind) {
        if !matches!(expected, Kind::Token(_) | Kind::OptionalToken(Some(_))) {
            return;
        }
        match &mut expr.kind {
            ExprKind::Call { .. } => expr.result_kind = expected,
            ExprKind::Block(block) | ExprKind::Unsafe(block) => {
                if let Some(tail) = &mut block.tail {
                    self.expect_token(tail, expected);
                    expr.result_kind = tail.result_kind;
                }
            }
            ExprKind::Match { arms, slot, .. } => {
                arms.iter_mut().for_each(|arm| self.expect_token(&mut arm.body, expected));
                let result_kind = arms.iter().map(|arm| arm.body.result_kind);
                expr.result_kind = result_kind.reduce(Kind::join).unwrap_or(Kind::Never);
                if let (Kind::Token(_) | Kind::OptionalToken(_), Some(slot)) = (expr.result_kind, slot.take()) {
                    self.function.slots[usize::from(slot.0)] = SlotUse::Unused;
                }
            }
            ExprKind::If { then, otherwise: Some(otherwise), slot, .. } => {
                if let Some(tail) = &mut then.tail {
                    self.expect_token(tail, expected);
                }
                self.expect_token(otherwise, expected);
                let then = then.tail.as_ref().map_or(Kind::Never, |tail| tail.result_kind);
                expr.result_kind = then.join(otherwise.result_kind);
                // The result was taken for a value.
                if let (Kind::Token(_) | Kind::OptionalToken(_), Some(slot)) = (expr.result_kind, slot.take()) {
                    self.function.slots[usize::from(slot.0)] = SlotUse::Unused;
                }
            }
            _ => {}
        }
    }

    fn error(&mut self, diag: Diag) -> Expr {
        let at = diag.at;
        self.diags.push(diag);
        Expr::error(at)
    }
}
