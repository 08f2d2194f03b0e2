//! The interface from the macros to the runtime: a function's CUDA C++ as fragments of text with holes, and the traits
//! through which rustc fills them. This is plain data; `assemble` reads and joins the fragments.
//!
//! A kernel's or device function's body is emitted once, as a closure from its arguments to its result *and a tuple of
//! slots*. Each slot is a [`Tag`] whose type parameter rustc infers from the position in the body to which it was
//! passed. A [`Visitor`](super::visitor::Visitor) receives the closure: one calls it (the simulator), another reads the slots' types and never
//! calls it (the assembler).

use std::marker::PhantomData;

use phalanx_contract::capability::Need;
use phalanx_contract::fence::FunctionFences;
use phalanx_contract::protocol::ProtocolSummary;
use phalanx_contract::uniformity::{Bound, UniformitySummary};

use super::constant::Constant;
use super::launch_terms::LaunchTerms;
use super::options::KernelOptions;
use super::type_info::{TypeArgument, TypeInfo};
use crate::program::types::DeviceType;

/// A kernel or a device function as the macro printed it. Each function has one `static`, generic or not.
#[derive(Debug)]
pub struct Template {
    /// The name in Rust, without its path.
    pub name: &'static str,
    /// The `module_path!()` of the definition, which distinguishes functions of equal name.
    pub module: &'static str,
    /// The `file!()` of the definition, which `#line` and failures name.
    pub file: &'static str,
    /// Whether the function is launched or called.
    pub role: Role,
    /// Everything before the body's opening brace: return type, name, parameters.
    pub signature: &'static [Fragment],
    /// The body, with its braces.
    pub body: &'static [Fragment],
    /// The sites that can fail, in the order of their numbers in [`Fragment::Site`].
    pub sites: &'static [Site],
    /// The prelude headers that the text needs, by file name (`"groups.cuh"`).
    pub headers: &'static [&'static str],
    /// The identifiers that the text declares: a function of one of these names must be printed under another.
    pub locals: &'static [&'static str],
    /// The name of each entry of [`Definition::values`]; empty for one that is only a length.
    pub constants: &'static [&'static str],
    /// Whether the body has anything that threads do together: a barrier, an operation of a warp, unknown text.
    pub collective: bool,
    /// Whether the rules that make all threads of a warp reach a barrier together are checked.
    pub converged: bool,
    /// What the function does to memory, and its operations at the cluster's barrier, in the order of their numbers in
    /// [`Fragment::Fence`].
    pub fences: FunctionFences,
    /// What the function does that not every GPU can.
    pub needs: &'static [Need],
    /// What the host may check before a launch.
    pub launch: LaunchTerms,
    /// Whether the last parameter in the text is what the caller does with the `Option` that the function returns.
    pub continued: bool,
}

impl Template {
    /// Returns whether a kernel has a parameter that is an integer of 64 bits.
    pub(crate) fn has_wide_integers(&self) -> bool {
        self.body.iter().any(|fragment| matches!(fragment, Fragment::Prologue { has_wide: true, .. }))
    }
}

/// The role of a [`Template`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The function is launched on a device.
    Kernel,
    /// The function is called from kernels and other device functions.
    Device,
}

/// A fragment of the CUDA C++ text, which is text or a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fragment {
    /// Text that is printed unchanged.
    Text(&'static str),
    /// Starts a new line of text that `#line` assigns to this line of [`Template::file`].
    Line(u32),
    /// The C++ name of a slot's type.
    Type(u16),
    /// A literal of a slot's type, standalone: `u32(5)`, `f32(0.5f)`.
    Literal {
        /// The slot that knows the type.
        slot: u16,
        /// The literal's digits in Rust, without underscores or suffix (hexadecimal, octal and binary allowed).
        digits: &'static str,
    },
    /// The C++ name of an entry of [`Definition::types`].
    Named(u16),
    /// The declaration of an entry of [`Definition::values`], if the function declares it: a whole line.
    Declare(u16),
    /// An entry of [`Definition::values`]: the name under which it was declared, or an enum's variant.
    Constant(u16),
    /// The digits of an entry of [`Definition::values`]: `64`.
    Digits(u16),
    /// A value of a struct: `Point{.x = f32(1.0f), .y = y}`. C++ requires the fields in the order of declaration, which
    /// the slot's type knows.
    Struct {
        /// The slot that knows the type.
        slot: u16,
        /// The C++ name of the variant, of an enum with fields; otherwise empty.
        variant: &'static str,
        /// The C++ names of fields, in any order, with their values.
        fields: &'static [(&'static str, &'static [Fragment])],
        /// The name of the value that provides the fields that are not listed.
        base: Option<&'static [Fragment]>,
    },
    /// The declaration of an entry of [`Definition::shared`].
    Shared {
        /// The index of the entry.
        index: u16,
        /// The array's C++ type.
        ty: &'static [Fragment],
        /// The array's name.
        name: &'static str,
    },
    /// Text for the case that no callee at these slots has anything that threads do together.
    Alone {
        /// The slots.
        callees: &'static [u16],
        /// The text.
        text: &'static [Fragment],
    },
    /// Text for the case that an entry of [`Definition::values`], which is a number, lies in an interval.
    Within {
        /// The entry.
        number: u16,
        /// The least number.
        least: u64,
        /// The largest number.
        most: u64,
        /// The text.
        text: &'static [Fragment],
    },
    /// A closure that joins two values, which `detail::total` marks if nothing in it can fail.
    Operator {
        /// The text of the closure.
        text: &'static [Fragment],
    },
    /// Joins a call to what its caller does with the `Option`: `, ` if the callee is [`Template::continued`], or else `).then(`.
    Then {
        /// The slot of the callee.
        callee: u16,
        /// Whether the callee has other arguments.
        has_arguments: bool,
        /// The slots of the functions that the caller calls there. It does so behind the call if threads do something together in one.
        inside: &'static [u16],
    },
    /// The name in the signature under which this function itself is printed.
    Name,
    /// The bounds in a kernel's signature that its [`KernelOptions`] give: `__launch_bounds__(256)`.
    Bounds,
    /// The statements with which the program begins a kernel, after the opening brace.
    Prologue {
        /// The names of the slices and integers among its parameters, in order: `a, b, n`.
        known: &'static str,
        /// Whether one of them is an integer of 64 bits.
        has_wide: bool,
        /// Whether one of them is a slice of arrays.
        has_arrays: bool,
    },
    /// The name under which a slot's device function was printed.
    Callee(u16),
    /// An operator, of one or two operands: of numbers one of C++, and of other values a call of the slot's device function.
    Operation {
        /// The slot.
        callee: u16,
        /// The operator in C++, and its site.
        symbol: (&'static str, Option<u16>),
        /// The operands.
        operands: &'static [&'static [Fragment]],
    },
    /// Prints nothing: marks that the next character of text is the site of this entry of [`Template::sites`]. The
    /// prelude's operators learn this position from `__builtin_LINE` and `__builtin_COLUMN`.
    Site(u16),
    /// The ending of the name of an operation at the cluster's barrier, for the fence of this barrier of [`Template::fences`].
    Fence(u16),
    /// Text for the case that the host makes these checks of [`Template::launch`].
    AtLaunch(&'static [u16], &'static [Fragment]),
    /// The number in the program of this check of [`Template::launch`].
    LaunchCheck(u16),
}

/// A site in a body that can fail at run time, or that prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The line in [`Template::file`], counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The message of the site.
    pub message: SiteMessage,
}

impl Site {
    /// A site that has only the language's own message.
    pub const fn silent(line: u32, column: u32) -> Site {
        Site { line, column, message: SiteMessage::None }
    }

    /// A site with a sentence as its message.
    pub const fn text(line: u32, column: u32, text: &'static str) -> Site {
        Site { line, column, message: SiteMessage::Text(text) }
    }

    /// A site whose message is in a slot.
    pub const fn slot(line: u32, column: u32, slot: u16) -> Site {
        Site { line, column, message: SiteMessage::Slot(slot) }
    }
}

/// The message of a [`Site`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteMessage {
    /// The site has only the language's own message.
    None,
    /// The message is a sentence.
    Text(&'static str),
    /// The message of an `assert!`, `panic!`, `println!` or similar macro is in this slot.
    Slot(u16),
}

/// A template with the types and values that rustc inferred for one instance of it.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The template.
    pub template: &'static Template,
    /// The options that the kernel's attribute fixes; a device function has none.
    pub options: KernelOptions,
    /// The `std::any::type_name` of the function's marker type, which distinguishes instances of a generic function.
    pub instance: &'static str,
    /// The contents of each slot, in order.
    pub slots: Vec<Slot>,
    /// The types that the signature or the body names: generic parameters, aliases.
    pub types: Vec<TypeInfo>,
    /// The constants that the body names, including const generics.
    pub values: Vec<Constant>,
    /// The function's own `shared_array`s, in order.
    pub shared: Vec<SharedInfo>,
}

impl Definition {
    /// Returns whether a parameter has elements that could be loaded by wider instructions than their alignment says: arrays and
    /// structs.
    pub(crate) fn has_wide_elements(&self) -> bool {
        let of = |fragment: &Fragment| match *fragment {
            Fragment::Type(slot) => match self.slots.get(usize::from(slot))? {
                Slot::Type(info) => Some(info),
                Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_) => None,
            },
            Fragment::Named(index) => self.types.get(usize::from(index)),
            _ => None,
        };
        let has_arrays =
            self.template.body.iter().any(|fragment| matches!(fragment, Fragment::Prologue { has_arrays: true, .. }));
        has_arrays || self.template.signature.iter().filter_map(of).any(|ty| ty.align < 16 && ty.size > ty.align)
    }
}

/// A `shared_array`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedInfo {
    /// The size in bytes.
    pub size: usize,
    /// The alignment in bytes.
    pub align: usize,
}

impl SharedInfo {
    /// Returns the description of an array of this type.
    pub const fn of<A>() -> SharedInfo {
        const { assert!(size_of::<A>() > 0, "a shared array has at least one element") };
        SharedInfo { size: size_of::<A>(), align: align_of::<A>() }
    }
}

/// Formats a message from the bytes of its values; returns `None` if their number is wrong.
///
/// # Safety
/// The bytes are those that the kernel wrote at the message's site.
pub type Format = unsafe fn(&[u8]) -> Option<String>;

/// The contents of one slot, as rustc inferred them.
#[derive(Debug, Clone)]
pub enum Slot {
    /// The type of a literal, a local or an array.
    Type(TypeInfo),
    /// A device function; called to get its definition.
    Callee(fn() -> Definition),
    /// An operator of C++ in the place of a function.
    BuiltIn,
    /// A message; called to format its values.
    Message(Format),
}

/// A kernel or device function, identified by its marker type.
pub trait Function {
    /// Whether it is an operator of C++.
    const BUILT_IN: bool = false;
    /// Returns the text with the contents of its holes, for this instance.
    fn definition() -> Definition;
}

/// The summary of a function for its callers, which is the same for all its instances.
pub trait Summary {
    /// The scope at which the result of each call of a device function in the body is uniform.
    const RESULTS: &'static [Bound] = &[];
    /// The summary of the function's uniformity.
    const UNIFORMITY: UniformitySummary = UniformitySummary::UNKNOWN;
    /// The device functions that it calls, as far as their summaries matter.
    const CALLEES: &'static [ProtocolSummary] = &[];
    /// The summary of its accesses to distributed shared memory.
    const PROTOCOL: ProtocolSummary = ProtocolSummary::UNKNOWN;
    /// Whether a method names shared memory.
    const NAMES_MEMORY: bool = false;
    /// Whether it, or a function that it passes memory to, does with memory what a thread's own array does not have: copies, atomics, loads of
    /// vectors.
    const NEEDS_MEMORY: bool = false;
    /// Whether it, or a function that it passes memory to, gives a method memory that the method may change.
    const CHANGED_BY_METHOD: bool = false;
    /// The identity of its text and its module; zero for what has none.
    const TEXT: u64 = 0;
}

/// A function that kernels call, identified by its marker type.
#[diagnostic::on_unimplemented(
    message = "kernels and device functions can only call device functions",
    label = "this function is not marked with `#[device]`",
    note = "write `#[device]` above it if it is yours; a kernel is launched, not called",
    note = "docs/language.md lists the functions of Rust's own that kernels can call"
)]
pub trait DeviceFunction: Function {
    /// The type `Self`, as a projection, so that rustc says no more if the function is not a device function.
    type Marker;

    /// Returns the marker itself.
    fn marker(self) -> Self::Marker;
}

/// Writes a device function's marker into its slot, and returns it for the call.
#[inline(always)]
pub fn callee<F: DeviceFunction>(_slot: &Callee<F>, marker: F) -> F::Marker {
    marker.marker()
}

/// The marker of a function that is called but is not a device function.
#[derive(Debug)]
pub struct PlainFunction;

impl Function for PlainFunction {
    fn definition() -> Definition {
        unreachable!("rustc refuses the call")
    }
}

/// Takes the place of a marker, whatever its turbofish.
#[derive(Debug)]
pub struct Unmarked<A = (), B = (), C = (), D = ()>(PhantomData<(A, B, C, D)>);

impl<A, B, C, D> Unmarked<A, B, C, D> {
    /// Takes the place of a marker's function.
    pub fn __phalanx_marker() -> PlainFunction {
        PlainFunction
    }
}

impl Summary for Unmarked {}

/// A slot: names a type that rustc infers. It never holds a value.
///
/// It is an array because rustc asks less of the elements of `[]` than of the argument of a generic type, and goes through all
/// questions without an answer at each expression. For the same reason each slot is a variable of its own: the type of a tuple of
/// all of them would be gone through at each use.
pub type Tag<T> = [T; 0];

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
    /// Returns the spelling and size of the `Option`.
    fn info() -> TypeInfo;
}

impl<T: DeviceType> Optional for T {
    fn info() -> TypeInfo {
        <T as DeviceType>::info()
    }
}

/// Returns `None`.
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

/// Returns a value unchanged, and lets rustc infer the slot's type from it.
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

/// The result of a device function that the macro assumed to be a plain value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plain value",
    note = "write the type of an arrival token that a device function returns: `let token: ArrivalToken<Cluster> = ...`"
)]
pub trait Plain {}

impl Plain for () {}
impl<T: DeviceType> Plain for T {}

/// Returns a plain value unchanged.
#[inline(always)]
pub fn plain<T: Plain>(value: T) -> T {
    value
}

/// The result of a device function that becomes a variable of the language.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plain value",
    note = "a function that returns nothing has no value to bind",
    note = "write the type of an arrival token that a device function returns: `let token: ArrivalToken<Cluster> = ...`"
)]
pub trait Bindable {}

impl<T: DeviceType> Bindable for T {}

/// Returns a value of the language unchanged, where `()` is not a value.
#[inline(always)]
pub fn value<T: Bindable>(value: T) -> T {
    value
}

/// A slot, by its type.
pub trait Filled {
    /// Returns the contents of the slot.
    fn describe() -> Slot;
}

/// Appends the contents of a slot. The call is at the source position that fills the slot, so that an error is reported
/// there, and only once.
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
        if F::BUILT_IN { Slot::BuiltIn } else { Slot::Callee(F::definition) }
    }
}
