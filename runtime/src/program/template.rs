//! What the macros hand to the runtime: a function's CUDA C++ as pieces of text with holes, and the traits through
//! which rustc fills them. Plain data; nothing here reads or joins the pieces (`assemble` does).
//!
//! A kernel's or device function's body is emitted once, as a closure from its arguments to its result *and a tuple
//! of slots*. Each slot is a [`Tag`] whose type parameter rustc infers from the place in the body that it was passed
//! to. A [`Visitor`] receives the closure: one calls it (the simulator), another reads the slots' types and never
//! calls it (the assembler).

use std::marker::PhantomData;

use phalanx_contract::Groups;
use phalanx_contract::protocol::ProtocolSummary;
use phalanx_contract::uniformity::{Bound, Need, Uniformity, UniformitySummary};

use super::constant::Constant;
use super::options::KernelOptions;
use super::type_info::{TypeArgument, TypeInfo};
use crate::program::types::DeviceType;

/// A kernel or a device function as the macro printed it. One `static` a function, generic or not.
#[derive(Debug)]
pub struct Template {
    /// The name in Rust, without its path.
    pub name: &'static str,
    /// `module_path!()` where it is defined: tells functions of one name apart.
    pub module: &'static str,
    /// `file!()` where it is defined: what `#line` and failures name.
    pub file: &'static str,
    /// Whether it is launched or called.
    pub role: Role,
    /// Everything before the body's opening brace: return type, name, parameters.
    pub signature: &'static [Piece],
    /// The body, with its braces.
    pub body: &'static [Piece],
    /// Places that can fail, in the order of their numbers in [`Piece::Site`].
    pub sites: &'static [Site],
    /// Prelude headers that the text needs, by file name (`"groups.cuh"`).
    pub headers: &'static [&'static str],
    /// Identifiers that the text declares: a function of one of these names must be printed under another.
    pub locals: &'static [&'static str],
    /// What to call each entry of [`Definition::values`]; nothing for one that is a length only.
    pub constants: &'static [&'static str],
    /// The rules are on by which all threads of a warp come to a barrier together.
    pub converged: bool,
}

/// What a [`Template`] is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Launched on a device.
    Kernel,
    /// Called from kernels and other device functions.
    Device,
}

/// A part of the CUDA C++ text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Printed as it is.
    Text(&'static str),
    /// Starts a new line of text that `#line` assigns to this line of [`Template::file`].
    Line(u32),
    /// The C++ name of a slot's type.
    Type(u16),
    /// A literal of a slot's type, standing alone: `u32(5)`, `f32(0.5f)`.
    Literal {
        /// The slot that knows the type.
        slot: u16,
        /// The literal's digits in Rust, without underscores or suffix (hexadecimal, octal and binary allowed).
        digits: &'static str,
    },
    /// The C++ name of an entry of [`Definition::types`].
    Named(u16),
    /// Where an entry of [`Definition::values`] is declared, if it is one that the function declares: a whole line.
    Declare(u16),
    /// An entry of [`Definition::values`]: the name that it was declared under, or an enum's variant.
    Constant(u16),
    /// An entry of [`Definition::values`], digits only: `64`.
    Digits(u16),
    /// A value of a struct: `Point{.x = f32(1.0f), .y = y}`. C++ wants the fields in the order of declaration, which the
    /// slot's type knows.
    Struct {
        /// The slot that knows the type.
        slot: u16,
        /// C++ names of fields, in any order, with their values.
        fields: &'static [(&'static str, &'static [Piece])],
        /// What the fields that are not listed are taken from: a name.
        base: Option<&'static [Piece]>,
    },
    /// The declaration of an entry of [`Definition::shared`].
    Shared {
        /// Which.
        index: u16,
        /// Its C++ type.
        ty: &'static [Piece],
        /// Its name.
        name: &'static str,
    },
    /// In the signature: the name that this function itself is printed under.
    Name,
    /// In a kernel's signature: what its [`KernelOptions`] say there, `__launch_bounds__(256)`.
    Bounds,
    /// In a kernel, after its opening brace: what the program needs done before anything else.
    Prologue,
    /// The name that a slot's device function was printed under.
    Callee(u16),
    /// Nothing: marks that the next character of text is where [`Template::sites`] entry fails. The prelude's
    /// operators learn this place from `__builtin_LINE` and `__builtin_COLUMN`.
    Site(u16),
}

/// A place in a body that can fail at run time, or that prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// Line in [`Template::file`], from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is said there.
    pub message: SiteMessage,
}

/// What is said at a [`Site`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteMessage {
    /// What the language itself says.
    None,
    /// A sentence.
    Text(&'static str),
    /// For `assert!`, `panic!`, `println!` and their like, the slot of the message.
    Slot(u16),
}

/// A template with what rustc inferred for one instance of it.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The text.
    pub template: &'static Template,
    /// What its attribute fixed: of a device function, nothing.
    pub options: KernelOptions,
    /// `std::any::type_name` of the function's marker type: tells instances of a generic function apart.
    pub instance: &'static str,
    /// One for each slot, in order.
    pub slots: Vec<Slot>,
    /// Types that the signature or the body names: generic parameters, aliases.
    pub types: Vec<TypeInfo>,
    /// Constants that the body names, const generics among them.
    pub values: Vec<Constant>,
    /// Its own `shared_array`s, in order.
    pub shared: Vec<SharedInfo>,
}

/// A `shared_array`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedInfo {
    /// In bytes.
    pub size: usize,
    /// In bytes.
    pub align: usize,
}

impl SharedInfo {
    /// Of an array of this type.
    pub const fn of<A>() -> SharedInfo {
        const { assert!(size_of::<A>() > 0, "a shared array has at least one element") };
        SharedInfo { size: size_of::<A>(), align: align_of::<A>() }
    }
}

/// Makes the text of a message from the bytes of its values; `None` if they are not as many as they should be.
///
/// # Safety
/// The bytes are what the kernel wrote at the message's site.
pub type Format = unsafe fn(&[u8]) -> Option<String>;

/// The contents of one slot, as rustc inferred them.
#[derive(Debug, Clone)]
pub enum Slot {
    /// A literal, a local, an array.
    Type(TypeInfo),
    /// A device function; called to get its definition.
    Callee(fn() -> Definition),
    /// A message; called to make text of its values.
    Message(Format),
}

/// A kernel or device function, by its marker type.
pub trait Function {
    /// Its text with the holes' fillings, for this instance.
    fn definition() -> Definition;
}

/// The summary of a function that its callers need, the same for all its instances.
pub trait Summary {
    /// How many threads agree on the result of each call of a device function in it.
    const RESULTS: &'static [Bound] = &[];
    /// What its callers must know of what threads agree on.
    const UNIFORMITY: UniformitySummary = UniformitySummary::UNKNOWN;
    /// The device functions that it calls, as far as it asks about them.
    const CALLEES: &'static [ProtocolSummary] = &[];
    /// What its callers must know of what it does to distributed shared memory.
    const PROTOCOL: ProtocolSummary = ProtocolSummary::UNKNOWN;
}

/// A function that kernels call, by its marker type.
#[diagnostic::on_unimplemented(
    message = "kernels and device functions call device functions only",
    label = "this function is not marked with `#[device]`",
    note = "write `#[device]` above it if it is yours; a kernel is launched, not called",
    note = "what there is of Rust's own functions, docs/language.md lists"
)]
pub trait DeviceFunction: Function {
    /// `Self`. A projection, so that rustc says no more where the function is none.
    type Marker;

    /// Itself.
    fn marker(self) -> Self::Marker;
}

/// Enters a device function in its slot, to be called.
#[inline(always)]
pub fn callee<F: DeviceFunction>(_slot: &Callee<F>, marker: F) -> F::Marker {
    marker.marker()
}

/// Where the macro refused a type in a signature, `<Refused<{ compile_error!("...") }> as RefusedType>::Type` stands for it:
/// to rustc an error of which all is said.
#[derive(Debug)]
pub struct Refused<const FAULT: usize>;

/// See [`Refused`].
pub trait RefusedType {
    /// Never named.
    type Type;
}

impl RefusedType for Refused<0> {
    type Type = ();
}

/// What a call names that is a function and no device function.
#[derive(Debug)]
pub struct PlainFunction;

impl Function for PlainFunction {
    fn definition() -> Definition {
        unreachable!("rustc refuses the call")
    }
}

/// In place of a marker, whatever its turbofish.
#[derive(Debug)]
pub struct Unmarked<A = (), B = (), C = (), D = ()>(PhantomData<(A, B, C, D)>);

impl<A, B, C, D> Unmarked<A, B, C, D> {
    /// In place of a marker's.
    pub fn __phalanx_marker() -> PlainFunction {
        PlainFunction
    }
}

impl Summary for Unmarked {}

/// A slot: names a type that rustc infers. Never holds a value.
#[derive(Debug)]
pub struct Tag<T>(PhantomData<fn() -> T>);

impl<T> Default for Tag<T> {
    fn default() -> Self {
        Tag(PhantomData)
    }
}

/// A slot for a device function's marker type.
#[derive(Debug)]
pub struct Callee<F>(PhantomData<fn() -> F>);

impl<F> Default for Callee<F> {
    fn default() -> Self {
        Callee(PhantomData)
    }
}

/// A slot for the type that an `Option` holds.
#[derive(Debug)]
pub struct OptionSlot<T>(PhantomData<fn() -> T>);

impl<T> Default for OptionSlot<T> {
    fn default() -> Self {
        OptionSlot(PhantomData)
    }
}

/// A type that an `Option` in a kernel may hold: plain data or an arrival token.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be held by an `Option` in a kernel")]
pub trait Optional {
    /// Its spelling and size.
    fn info() -> TypeInfo;
}

impl<T: DeviceType> Optional for T {
    fn info() -> TypeInfo {
        <T as DeviceType>::info()
    }
}

/// `None`.
#[inline(always)]
pub fn none<T: Optional>(_slot: &OptionSlot<T>) -> Option<T> {
    None
}

impl<T: Optional> Filled for OptionSlot<T> {
    fn describe() -> Slot {
        let arguments = vec![TypeArgument::Type(<T as Optional>::info())];
        Slot::Type(TypeInfo::template::<Option<T>>("option", "option.cuh", arguments))
    }
}

/// Passes a value through and lets rustc write its type into the slot.
#[inline(always)]
pub fn typed<T: DeviceType>(_slot: &Tag<T>, value: T) -> T {
    value
}

/// Fills a slot whose value the body does not use.
#[inline(always)]
pub fn unused(_slot: &Tag<Unused>) {}

/// The type of a value that is not used.
#[derive(Debug)]
pub enum Unused {}

impl DeviceType for Unused {
    fn info() -> TypeInfo {
        TypeInfo::prelude::<()>("void")
    }
}

/// The result of a device function that the macro took for a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plain value",
    note = "write the type of an arrival token that a device function returns: `let token: ArrivalToken<Cluster> = ...`"
)]
pub trait Plain {}

impl Plain for () {}
impl<T: DeviceType> Plain for T {}

/// Passes a plain value through.
#[inline(always)]
pub fn plain<T: Plain>(value: T) -> T {
    value
}

/// Passes a value of the language through, to where `()` is none.
#[inline(always)]
pub fn value<T: DeviceType>(value: T) -> T {
    value
}

/// Refuses, at compile time, a call of a function that executes a collective of a group with a pending arrival.
pub const fn no_collective(collectives: Groups, pending: Groups) {
    const MESSAGE: &str = concat!(
        "this function executes a collective of a group that has an arrival pending here [collective_while_pending]\n\
         help: wait for the arrival before the call",
        see_page!("collective_while_pending")
    );
    if collectives.intersects(pending) {
        panic!("{}", MESSAGE);
    }
}

/// Refuses, at compile time, an `unchecked(collective_while_pending)` that none of the calls needs.
#[track_caller]
pub const fn one_collective(broken_by: &[Groups]) {
    let mut at = 0;
    while at < broken_by.len() && broken_by[at].is_empty() {
        at += 1;
    }
    assert!(
        at < broken_by.len(),
        "`collective_while_pending` is not broken here [unchecked]\nhelp: remove it from `unchecked`, so that the rule stays checked"
    );
}

/// Refuses, at compile time, a call of a function with a collective in a method or a closure.
pub const fn no_collective_at_all(collectives: Groups) {
    assert!(
        collectives.is_empty(),
        "this function executes a collective, and must not be called in a method or a closure: their callers may not be the whole group [collective_in_method]"
    );
}

/// Refuses, at compile time, a method whose result decides about a collective and is not uniform at this height of
/// `Uniformity`. Which function the method is, rustc finds out with the kernel's instances.
#[inline(always)]
pub fn agreed_result<const HEIGHT: u8, F: Summary>(_slot: &Callee<F>) {
    const MESSAGE: &str = concat!(
        "whether a collective is reached depends on the result of this method, which may differ between threads of the \
         group [divergent_collective]\n\
         help: if all threads of the group get the same result, say so: `group.uniform(result)`",
        see_page!("divergent_collective")
    );
    const {
        if !F::UNIFORMITY.result.meets(Need::of(Uniformity::from_height(HEIGHT))) {
            panic!("{}", MESSAGE);
        }
    }
}

/// A slot, by its type.
pub trait Filled {
    /// What is known of it.
    fn describe() -> Slot;
}

/// Appends what is known of a slot. One call a slot, at the place in the source that fills it: what cannot fill it is
/// told there, and once.
pub fn describe<S: Filled>(_slot: &S, out: &mut Vec<Slot>) {
    out.push(S::describe());
}

impl<T: DeviceType> Filled for Tag<T> {
    fn describe() -> Slot {
        Slot::Type(T::info())
    }
}

impl<F: Function> Filled for Callee<F> {
    fn describe() -> Slot {
        Slot::Callee(F::definition)
    }
}

/// Receives a body. `Args` is the tuple of its arguments, `R` its result.
pub trait Visitor<'a, Args: 'a, R> {
    /// What becomes of it.
    type Output;
    /// The body, and what describes its slots, whose types are known by now.
    fn visit<S, F, D>(self, body: F, describe: D) -> Self::Output
    where
        S: Default,
        F: Fn(Args) -> (R, S) + Copy + Send + Sync + 'a,
        D: Fn(&S, &mut Vec<Slot>);
}

/// Calls the body.
#[derive(Debug)]
pub struct Call<Args>(pub Args);

impl<'a, Args: 'a, R> Visitor<'a, Args, R> for Call<Args> {
    type Output = R;
    #[inline(always)]
    fn visit<S, F, D>(self, body: F, _describe: D) -> R
    where
        S: Default,
        F: Fn(Args) -> (R, S) + Copy + Send + Sync + 'a,
        D: Fn(&S, &mut Vec<Slot>),
    {
        body(self.0).0
    }
}

/// Reads the types of the body's slots; never calls it.
#[derive(Debug)]
pub struct Describe;

impl<'a, Args: 'a, R> Visitor<'a, Args, R> for Describe {
    type Output = Vec<Slot>;
    fn visit<S, F, D>(self, _body: F, describe: D) -> Vec<Slot>
    where
        S: Default,
        F: Fn(Args) -> (R, S) + Copy + Send + Sync + 'a,
        D: Fn(&S, &mut Vec<Slot>),
    {
        let mut slots = Vec::new();
        describe(&S::default(), &mut slots);
        slots
    }
}
