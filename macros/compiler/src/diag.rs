//! Collects what is wrong with a kernel, so that one compile shows all of it, and renders it for rustc. The sentences
//! themselves are in `messages`.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use quote::quote_spanned;

use crate::rules::Rule;
use crate::session::Session;
use crate::span::SpanRange;

/// One fault, with the rule that it breaks.
#[derive(Debug, Clone)]
pub(crate) struct Diag {
    pub(crate) rule: Rule,
    pub(crate) at: SpanRange,
    pub(crate) message: String,
    /// The places that the fault comes from, each with a sentence, and remarks on the fault as a whole.
    pub(crate) notes: Vec<(Option<SpanRange>, String)>,
    pub(crate) help: Option<String>,
}

impl Diag {
    pub(crate) fn new(rule: Rule, at: SpanRange, message: impl Into<String>) -> Self {
        Diag { rule, at, message: message.into(), notes: Vec::new(), help: None }
    }

    pub(crate) fn note(mut self, at: SpanRange, message: impl Into<String>) -> Self {
        self.notes.push((Some(at), message.into()));
        self
    }

    /// A note about the fault as a whole.
    pub(crate) fn remark(mut self, message: impl Into<String>) -> Self {
        self.notes.push((None, message.into()));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The text that rustc shows: the sentence, its rule in brackets, then notes, help and the rule's page on lines of their
    /// own.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{} [{}]", self.message, self.rule);
        for (at, note) in &self.notes {
            text += &match at {
                Some(at) => format!("\nnote: line {}: {note}", at.line()),
                None => format!("\nnote: {note}"),
            };
        }
        if let Some(help) = &self.help {
            text += &format!("\nhelp: {help}");
        }
        // Of what a kernel does: why, and what is right.
        if let Some(page) = self.rule.page() {
            text += &format!("\nnote: see {page}");
        }
        text
    }

    pub(crate) fn to_fault(&self) -> Fault {
        Fault::new(self.rule, self.at, self.text())
    }

    /// `::core::compile_error! { "text" }`, underlined from the first to the last token.
    fn to_tokens(&self) -> TokenStream {
        let SpanRange { lo, hi } = self.at;
        let punct = |ch, spacing, span| {
            let mut punct = Punct::new(ch, spacing);
            punct.set_span(span);
            TokenTree::Punct(punct)
        };
        let mut text = Literal::string(&self.text());
        text.set_span(hi);
        let mut group = Group::new(Delimiter::Brace, TokenTree::Literal(text).into());
        group.set_span(hi);
        let ident = |name, span: Span| TokenTree::Ident(Ident::new(name, span));
        TokenStream::from_iter([
            punct(':', Spacing::Joint, lo),
            punct(':', Spacing::Alone, lo),
            ident("core", lo),
            punct(':', Spacing::Joint, lo),
            punct(':', Spacing::Alone, lo),
            ident("compile_error", lo),
            punct('!', Spacing::Alone, lo),
            TokenTree::Group(group),
        ])
    }
}

impl Diag {
    /// Makes the fault a lint, which rustc reports only if it found no error itself.
    pub(crate) fn unless_rustc_says_more(&self) -> TokenStream {
        let text = self.text();
        quote_spanned! {self.at.lo=>
            #[deny(unused_must_use, reason = "an error of the attribute")]
            const _: () = {
                #[must_use = #text]
                const fn unread() -> u32 { 0 }
                unread();
            };
        }
    }
}

/// One thing that is wrong with an item, as rustc shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    line: usize,
    column: usize,
    rule: Rule,
    text: String,
}

impl Fault {
    pub(crate) fn new(rule: Rule, at: SpanRange, text: String) -> Fault {
        let start = at.lo.start();
        Fault { line: start.line, column: start.column + 1, rule, text }
    }

    /// Returns the rule that is broken.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns the line of the first token at fault, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column of the first token at fault, from 1 as rustc counts it.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the whole message: the sentence with its rule in brackets, then notes and help on lines of their own.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// All faults of one function.
#[derive(Debug)]
pub(crate) struct Diags {
    session: Session,
    list: Vec<Diag>,
}

/// Faults were reported: nothing is to be generated.
#[derive(Debug)]
pub(crate) struct Reported;

impl Diags {
    pub(crate) fn new(session: Session) -> Self {
        Diags { session, list: Vec::new() }
    }

    pub(crate) fn session(&self) -> Session {
        self.session
    }

    /// Collects faults that may be dropped or appended here, in the same session.
    pub(crate) fn nested(&self) -> Self {
        Diags::new(self.session)
    }

    /// Whether faults of this rule are reported.
    pub(crate) fn reports(&self, rule: Rule) -> bool {
        self.session.without != Some(rule)
    }

    pub(crate) fn push(&mut self, diag: Diag) {
        if self.reports(diag.rule) {
            self.list.push(diag);
        }
    }

    /// The last one as tokens.
    pub(crate) fn last(&self) -> TokenStream {
        self.list.last().map(Diag::to_tokens).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether there is such a fault, given by its rule and its place.
    pub(crate) fn any(&self, is_meant: impl Fn(Rule, SpanRange) -> bool) -> bool {
        self.list.iter().any(|diag| is_meant(diag.rule, diag.at))
    }

    /// Whether all faults so far are such faults, each given by its rule and its place.
    pub(crate) fn is_right_but_for(&self, waived: impl Fn(Rule, SpanRange) -> bool) -> bool {
        self.list.iter().all(|diag| waived(diag.rule, diag.at))
    }

    /// Forgets such faults, each given by its rule and its place; says whether there were any.
    pub(crate) fn waive(&mut self, waived: impl Fn(Rule, SpanRange) -> bool) -> bool {
        let before = self.list.len();
        self.list.retain(|diag| !waived(diag.rule, diag.at));
        self.list.len() != before
    }

    /// Takes all faults out, in source order.
    pub(crate) fn take(&mut self) -> Vec<Diag> {
        Diags { session: self.session, list: std::mem::take(&mut self.list) }.sorted()
    }

    pub(crate) fn append(&mut self, mut other: Diags) {
        self.list.append(&mut other.list);
    }

    /// Reports a fault after which the pipeline cannot continue.
    pub(crate) fn refuse(&mut self, diag: Diag) -> Reported {
        self.push(diag);
        Reported
    }

    /// Stops the pipeline between two of its stages if anything was reported.
    pub(crate) fn gate(&self) -> Result<(), Reported> {
        if self.list.is_empty() { Ok(()) } else { Err(Reported) }
    }

    /// The faults in source order; of those that say the same of one place, or of what one line does, the first.
    fn sorted(mut self) -> Vec<Diag> {
        self.list.sort_by_key(|diag| (diag.at.line(), diag.at.column()));
        let mut seen = BTreeSet::new();
        let column = |diag: &Diag| diag.rule.requirement().is_none().then(|| diag.at.column());
        self.list.retain(|diag| seen.insert((diag.at.line(), column(diag), diag.text())));
        self.list
    }

    /// Joins faults, in source order, that are to be one error.
    pub(crate) fn joined(self, join: impl FnOnce(Vec<Diag>) -> Vec<Diag>) -> Self {
        Diags { session: self.session, list: join(self.sorted()) }
    }

    /// `compile_error!`s in source order.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.sorted().iter().map(Diag::to_tokens).collect()
    }

    /// Returns the faults as data.
    pub(crate) fn into_faults(self) -> Vec<Fault> {
        self.sorted().iter().map(Diag::to_fault).collect()
    }

    #[cfg(test)]
    pub(crate) fn rules(&self) -> Vec<Rule> {
        self.list.iter().map(|diag| diag.rule).collect()
    }
}
