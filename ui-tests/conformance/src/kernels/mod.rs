//! The corpus of single features, one file per area of the language.

#![allow(
    clippy::excessive_precision,
    clippy::manual_range_contains,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::precedence,
    clippy::upper_case_acronyms,
    nonstandard_style,
    reason = "kernels write what is to be tested"
)]

pub mod accuracy;
mod alternatives;
mod appended;
mod async_copies;
mod async_peers;
mod atomics;
mod block_phases;
mod by_hand;
mod calls;
mod captures;
mod casts;
mod chains;
mod cluster_phases;
mod combinators;
mod constant_stages;
mod constants;
mod continuations;
mod control;
mod corners;
mod cuda_functions;
mod early_ends;
mod edges;
mod elements;
mod enums;
#[macro_use]
mod failing;
mod deferred;
mod dependent;
mod failures;
mod fast;
pub mod fences;
mod fields;
mod floats;
mod folds;
mod forgotten;
mod fp8;
mod generics;
mod grid_barriers;
mod groups;
mod guide;
mod half_atomics;
mod halves;
mod integers;
mod iterations;
mod keys;
mod lanes_as_indexes;
mod lanes_in_loops;
mod large_shared;
mod launch_checks;
mod launch_conditions;
mod launch_structs;
mod launch_values;
mod launch_vectors;
mod layouts;
mod left_early;
mod literals;
mod litmus;
mod loads_ahead;
mod macro_made;
mod matrices;
mod memory;
mod methods_of_rust;
mod mixtures;
mod multicast;
mod named_numbers;
mod names;
mod nanosleep;
mod narrow_lanes;
mod neighbours;
mod odd_places;
mod operators;
mod options;
mod order;
mod orders;
mod ordinary;
mod ordinary_calls;
mod ordinary_imports;
mod ordinary_sequences;
mod ordinary_values;
mod overloads;
mod patterns;
mod persistent;
mod phase_barriers;
mod phase_tokens;
mod phases;
mod pipelines;
mod provided;
mod provided_traits;
mod ranks;
mod references;
mod relaxed;
mod rows;
mod searches;
mod shuffles;
mod stages;
mod straight;
mod struct_order;
mod structs;
mod swizzled_rows;
mod table;
mod tensor_fill;
mod tensor_maps;
mod text;
mod tiles;
mod timelines;
mod timers;
mod tokens;
mod twins;
mod type_names;
mod unchecked;
mod uniform_variants;
mod variants;
mod vectors;
mod warp_guide;
mod warp_values;
mod warpgroup_functions;
mod warpgroup_registers;
mod warpgroup_sums;
mod warpgroup_transposed;
mod warpgroups;
mod warps;
mod weak;
mod whole_warps;
mod words;

use crate::Module;

/// Returns all modules.
pub fn modules() -> Vec<Module> {
    let modules = [
        guide::modules(),
        warp_guide::modules(),
        warp_values::modules(),
        groups::modules(),
        grid_barriers::modules(),
        block_phases::modules(),
        phase_barriers::modules(),
        async_copies::modules(),
        async_peers::modules(),
        pipelines::modules(),
        tensor_fill::modules(),
        tensor_maps::modules(),
        multicast::modules(),
        persistent::modules(),
        phase_tokens::modules(),
        cluster_phases::modules(),
        stages::modules(),
        constant_stages::modules(),
        tiles::modules(),
        rows::modules(),
        searches::modules(),
        shuffles::modules(),
        folds::modules(),
        timelines::modules(),
        tokens::modules(),
        alternatives::modules(),
        atomics::modules(),
        control::modules(),
        corners::modules(),
        cuda_functions::modules(),
        order::modules(),
        patterns::modules(),
        calls::modules(),
        captures::modules(),
        names::modules(),
        narrow_lanes::modules(),
        nanosleep::modules(),
        named_numbers::modules(),
        neighbours::modules(),
        timers::modules(),
        fields::modules(),
        dependent::modules(),
        forgotten::modules(),
        options::modules(),
        generics::modules(),
        literals::modules(),
        litmus::modules(),
        weak::modules(),
        loads_ahead::modules(),
        macro_made::modules(),
        matrices::modules(),
        memory::modules(),
        methods_of_rust::modules(),
        odd_places::modules(),
        early_ends::modules(),
        elements::modules(),
        enums::modules(),
        iterations::modules(),
        keys::modules(),
        chains::modules(),
        continuations::modules(),
        combinators::modules(),
        ordinary::modules(),
        ordinary_calls::modules(),
        ordinary_imports::modules(),
        ordinary_sequences::modules(),
        ordinary_values::modules(),
        operators::modules(),
        by_hand::modules(),
        casts::modules(),
        integers::modules(),
        floats::modules(),
        fp8::modules(),
        half_atomics::modules(),
        halves::modules(),
        accuracy::modules(),
        fast::modules(),
        fences::modules(),
        failures::modules(),
        straight::modules(),
        deferred::modules(),
        left_early::modules(),
        overloads::modules(),
        structs::modules(),
        swizzled_rows::modules(),
        struct_order::modules(),
        phases::modules(),
        references::modules(),
        relaxed::modules(),
        provided::modules(),
        ranks::modules(),
        layouts::modules(),
        constants::modules(),
        lanes_as_indexes::modules(),
        lanes_in_loops::modules(),
        launch_checks::modules(),
        launch_conditions::modules(),
        launch_structs::modules(),
        launch_values::modules(),
        launch_vectors::modules(),
        large_shared::modules(),
        mixtures::modules(),
        unchecked::modules(),
        text::modules(),
        uniform_variants::modules(),
        variants::modules(),
        vectors::modules(),
        orders::modules(),
        type_names::modules(),
        warpgroups::modules(),
        warpgroup_functions::modules(),
        warpgroup_registers::modules(),
        warpgroup_sums::modules(),
        warpgroup_transposed::modules(),
        whole_warps::modules(),
        words::modules(),
        appended::modules(),
    ];
    modules.into_iter().flatten().collect()
}
