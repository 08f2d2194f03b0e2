//! Loads and stores of matrices by a warp, `warp.load_matrix(&tile, row, column)` and its like, and the products of a warpgroup.

use syn::{ExprMethodCall, PathArguments};

use super::Parser;
use super::syntax::{strip, type_argument};
use crate::messages;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::{LeftOperand, Op, RegisterChange, Stored};
use crate::model::{Role, SlotUse};
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses `warp.load_matrix(&tile, row, column)`, whose turbofish, if there is one, is the matrix's type.
    pub(super) fn load_matrix(&mut self, stored: Stored, warp: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let types = match &call.turbofish {
            Some(turbofish) => {
                let ty = type_argument(&PathArguments::AngleBracketed(turbofish.clone()), 0).cloned();
                let Some(ty) = ty.filter(|_| turbofish.args.len() == 1) else {
                    let form = format!("warp.{}::<MatrixA<f16, 16, 16>>(&tile, row, column)", stored.load());
                    return self.error(messages::turbofish(span, stored.load(), &form));
                };
                let Some(ty) = self.value_type(&ty) else { return Expr::error(span) };
                Some((ty, None))
            }
            None => None,
        };
        let Some(operands) = self.place_of_matrix(stored.load(), 3, warp, call, span) else {
            return Expr::error(span);
        };
        let matrix = self.slot(SlotUse::Type);
        match self.op(Op::LoadMatrix { stored, matrix }, operands, span) {
            Expr { kind: ExprKind::Op { op, operands, site, .. }, result_kind, span } => {
                Expr { kind: ExprKind::Op { op, operands, site, types }, result_kind, span }
            }
            refused => refused,
        }
    }

    /// Parses `warp.store_matrix(&tile, row, column, matrix)`.
    pub(super) fn store_matrix(&mut self, stored: Stored, warp: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (operands, matrix) = (self.place_of_matrix(stored.store(), 4, warp, call, span), call.args.get(3));
        let (Some(mut operands), Some(matrix)) = (operands, matrix) else { return Expr::error(span) };
        operands.push(self.value(matrix));
        self.op(Op::StoreMatrix { stored }, operands, span)
    }

    /// Parses `warpgroup.mma_async(sum, &a, &b)`, whose tiles may be transposed and whose left operand may be a matrix in registers, and its
    /// waits, `wait_mma(product)`, `wait_mma_except_last(product)` and `wait_mma_prior::<1>()`.
    pub(super) fn product_method(
        &mut self,
        name: &str,
        warpgroup: Expr,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> Expr {
        let count = |expected: usize| {
            (call.args.len() != expected).then(|| messages::argument_count(span, name, expected, call.args.len()))
        };
        let (wrong, prior) = match name {
            "mma_async" => (count(3), None),
            "wait_mma" => (count(1), None),
            "wait_mma_except_last" => {
                let one = PathArguments::AngleBracketed(syn::parse_quote!(::<1>));
                (count(1), self.length_argument(&one, 0))
            }
            _ => {
                let turbofish = call.turbofish.clone().map(PathArguments::AngleBracketed);
                let prior = turbofish.and_then(|turbofish| self.length_argument(&turbofish, 0));
                let form = || messages::turbofish(span, name, "warpgroup.wait_mma_prior::<1>()");
                (if prior.is_none() { Some(form()) } else { count(0) }, prior)
            }
        };
        if let Some(diag) = wrong {
            return self.error(diag);
        }
        let mut operands = vec![warpgroup];
        operands.extend(call.args.first().map(|value| self.value(value)));
        let in_registers = call.args.get(1).is_some_and(|left| self.is_in_registers(left));
        if in_registers {
            operands.extend(call.args.get(1).map(|matrix| self.value(matrix)));
        }
        let mut tiles = Vec::new();
        for tile in call.args.iter().skip(operands.len() - 1) {
            let Some((tile, stored)) = self.operand_tile(tile) else { return Expr::error(span) };
            let Kind::Memory(Memory::SharedArray | Memory::SharedSlice) = tile.result_kind else {
                return self.error(messages::matrix_memory(tile.span, tile.result_kind));
            };
            operands.push(tile);
            tiles.push(stored);
        }
        let right = tiles.pop().unwrap_or(Stored::ByRows);
        let left = tiles.pop().map_or(LeftOperand::Registers, LeftOperand::Tile);
        let op = match name {
            "mma_async" => Op::MmaAsync { product: self.slot(SlotUse::Type), left, right },
            _ => match prior {
                Some(one) if name == "wait_mma_except_last" => Op::MmaWaitExceptLast { one },
                prior => Op::MmaWait { prior },
            },
        };
        self.op(op, operands, span)
    }

    /// Parses `warpgroup.increase_registers::<232>()` and its opposite, which only kernels have.
    pub(super) fn register_change(
        &mut self,
        change: RegisterChange,
        warpgroup: Expr,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> Expr {
        let name = change.name();
        if !call.args.is_empty() {
            return self.error(messages::argument_count(span, name, 0, call.args.len()));
        }
        let turbofish = call.turbofish.clone().map(PathArguments::AngleBracketed);
        let Some(count) = turbofish.and_then(|turbofish| self.length_argument(&turbofish, 0)) else {
            return self.error(messages::turbofish(span, name, &format!("warpgroup.{name}::<40>()")));
        };
        match self.function.role {
            Role::Kernel => self.op(Op::ChangeRegisters { change, count }, vec![warpgroup], span),
            Role::Device | Role::Method => self.error(messages::registers_in_function(span, name)),
        }
    }

    /// Parses `&tile` or `tile.transposed()`.
    fn operand_tile(&mut self, argument: &syn::Expr) -> Option<(Expr, Stored)> {
        const FORM: &str = "warpgroup.mma_async(sum, &a, &b)";
        let Some(tile) = transposed(argument) else {
            return Some((self.shared_argument(argument, FORM)?, Stored::ByRows));
        };
        let tile = match tile {
            syn::Expr::Path(_) => self.expr(tile),
            syn::Expr::Reference(_) => self.shared_argument(tile, FORM)?,
            tile => {
                let and = syn::Token![&](SpanRange::of(tile).lo);
                self.shared_argument(&syn::parse_quote!(#and #tile), FORM)?
            }
        };
        (tile.result_kind != Kind::Unknown).then_some((tile, Stored::Transposed))
    }

    /// Whether a left operand is a value, and not a reference to memory.
    fn is_in_registers(&mut self, operand: &syn::Expr) -> bool {
        if transposed(operand).is_some() {
            return false;
        }
        match strip(operand) {
            syn::Expr::Reference(_) => false,
            // A tile without `&` is refused as one.
            syn::Expr::Index(index) => !matches!(self.place(&index.expr).result_kind, Kind::Memory(_)),
            name @ syn::Expr::Path(_) => !matches!(self.place(name).result_kind, Kind::Memory(_)),
            _ => true,
        }
    }

    /// Parses the place of a matrix, after the warp: the shared memory, the row and the column.
    fn place_of_matrix(
        &mut self,
        name: &str,
        arguments: usize,
        warp: Expr,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> Option<Vec<Expr>> {
        if call.args.len() != arguments {
            self.diags.push(messages::argument_count(span, name, arguments, call.args.len()));
            return None;
        }
        let tile = self.shared_argument(&call.args[0], &format!("warp.{name}(&tile, row, column)"))?;
        let Kind::Memory(Memory::SharedArray | Memory::SharedSlice) = tile.result_kind else {
            self.diags.push(messages::matrix_memory(tile.span, tile.result_kind));
            return None;
        };
        let mut operands = vec![warp, tile];
        for index in call.args.iter().skip(1).take(2) {
            let index = self.beside(index);
            self.require_value(&index);
            operands.push(index);
        }
        Some(operands)
    }
}

/// Returns the tile of `tile.transposed()`.
fn transposed(argument: &syn::Expr) -> Option<&syn::Expr> {
    match strip(argument) {
        syn::Expr::MethodCall(call)
            if call.method == "transposed" && call.args.is_empty() && call.turbofish.is_none() =>
        {
            Some(strip(&call.receiver))
        }
        _ => None,
    }
}
