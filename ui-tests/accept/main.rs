//! The closest correct kernel to each rejected one: all of them compile, and NVRTC takes their text. One module a file of
//! `reject`; `ui.rs` checks that each rule about tokens has its pair.

#![allow(dead_code, unused_variables, unused_assignments, unused_mut, unreachable_code, reason = "minimal kernels")]

mod access_before_previous;
mod arrive_while_pending;
mod attribute_option;
mod attributes_inside;
mod barrier_copy;
mod barrier_count;
mod barrier_elements;
mod barrier_in_a_call;
mod barrier_init_not_elected;
mod barrier_of_a_copy;
mod barrier_of_functions;
mod barrier_reinit;
mod barrier_scope;
mod barrier_stale_token;
mod barrier_token_mixed;
mod barrier_uninitialized;
mod barrier_unpublished;
mod barrier_use_after_drop;
mod bodies_of_functions;
mod collective_in_a_call;
mod collective_while_pending;
mod constant_options;
mod copy_in_flight;
mod copy_length;
mod copy_of_functions;
mod copy_published;
mod cuda;
mod cuda_is_rustc_s;
mod data_of_clusters;
mod derive;
mod divergent_aligned;
mod divergent_collective;
mod divergent_exit;
mod divergent_in_a_call;
mod enums;
mod exit_before_peers_done;
mod forgotten_in_a_call;
mod format_string;
mod found_in_iterators;
mod grid_barrier;
mod handshake;
mod launch_limit;
mod lints;
mod mapped_in_calls;
mod matrices;
mod memory_of_functions;
mod mma_in_flight;
mod mma_of_functions;
mod multicast_unarmed;
mod numbered_iterations;
mod operators;
mod ordinary_rust;
mod overwrite_while_read;
mod parts_by_rank;
mod parts_in_calls;
mod product_sums;
mod product_types;
mod rank_out_of_range;
mod registers;
mod relaxed_publishes;
mod remote_before_entry;
mod results_of_methods;
mod ring_count;
mod ring_deadlock;
mod ring_overtaken;
mod ring_overwrite;
mod ring_read;
mod ring_undrained;
mod rings_beside;
mod rings_elsewhere;
mod rings_handed;
mod rings_met;
mod rings_of_constants;
mod rings_of_files;
mod rings_of_states;
mod rings_of_structs;
mod rings_together;
mod rows_in_calls;
mod shared_in_calls;
mod shared_slices;
mod tensor_maps;
mod tiles;
mod token_conditions;
mod token_escapes;
mod token_forgotten;
mod token_never_waited;
mod token_on_its_way;
mod token_reused;
mod unchecked;
mod unchecked_is_unsafe;
mod uninit_shared_read;
mod unordered_remote_write;
mod unpublished_remote_read;
mod unsupported_borrow;
mod unsupported_signature;
mod unsupported_syntax;
mod unsynchronized_access;
mod values_of_constants;
mod write_after_arrive;
mod wrong_group;

/// Every kernel of the modules.
fn kernels() -> impl Iterator<Item = phalanx::Program> {
    let modules = [
        access_before_previous::KERNELS,
        arrive_while_pending::KERNELS,
        attribute_option::KERNELS,
        attributes_inside::KERNELS,
        barrier_copy::KERNELS,
        barrier_count::KERNELS,
        barrier_elements::KERNELS,
        barrier_in_a_call::KERNELS,
        barrier_init_not_elected::KERNELS,
        barrier_of_a_copy::KERNELS,
        barrier_of_functions::KERNELS,
        barrier_reinit::KERNELS,
        barrier_scope::KERNELS,
        barrier_stale_token::KERNELS,
        barrier_token_mixed::KERNELS,
        barrier_uninitialized::KERNELS,
        barrier_unpublished::KERNELS,
        barrier_use_after_drop::KERNELS,
        bodies_of_functions::KERNELS,
        collective_in_a_call::KERNELS,
        collective_while_pending::KERNELS,
        constant_options::KERNELS,
        copy_in_flight::KERNELS,
        copy_length::KERNELS,
        copy_of_functions::KERNELS,
        copy_published::KERNELS,
        cuda::KERNELS,
        cuda_is_rustc_s::KERNELS,
        data_of_clusters::KERNELS,
        derive::KERNELS,
        divergent_aligned::KERNELS,
        divergent_collective::KERNELS,
        divergent_exit::KERNELS,
        divergent_in_a_call::KERNELS,
        enums::KERNELS,
        exit_before_peers_done::KERNELS,
        forgotten_in_a_call::KERNELS,
        format_string::KERNELS,
        found_in_iterators::KERNELS,
        grid_barrier::KERNELS,
        handshake::KERNELS,
        launch_limit::KERNELS,
        lints::KERNELS,
        mapped_in_calls::KERNELS,
        matrices::KERNELS,
        mma_in_flight::KERNELS,
        mma_of_functions::KERNELS,
        multicast_unarmed::KERNELS,
        memory_of_functions::KERNELS,
        numbered_iterations::KERNELS,
        operators::KERNELS,
        ordinary_rust::KERNELS,
        overwrite_while_read::KERNELS,
        parts_by_rank::KERNELS,
        parts_in_calls::KERNELS,
        product_sums::KERNELS,
        product_types::KERNELS,
        rank_out_of_range::KERNELS,
        registers::KERNELS,
        relaxed_publishes::KERNELS,
        remote_before_entry::KERNELS,
        results_of_methods::KERNELS,
        ring_count::KERNELS,
        ring_deadlock::KERNELS,
        ring_overtaken::KERNELS,
        ring_overwrite::KERNELS,
        ring_read::KERNELS,
        ring_undrained::KERNELS,
        rings_beside::KERNELS,
        rings_elsewhere::KERNELS,
        rings_handed::KERNELS,
        rings_met::KERNELS,
        rings_of_constants::KERNELS,
        rings_of_files::KERNELS,
        rings_of_states::KERNELS,
        rings_of_structs::KERNELS,
        rings_together::KERNELS,
        rows_in_calls::KERNELS,
        shared_in_calls::KERNELS,
        shared_slices::KERNELS,
        tensor_maps::KERNELS,
        tiles::KERNELS,
        token_conditions::KERNELS,
        token_escapes::KERNELS,
        token_forgotten::KERNELS,
        token_never_waited::KERNELS,
        token_on_its_way::KERNELS,
        token_reused::KERNELS,
        unchecked::KERNELS,
        unchecked_is_unsafe::KERNELS,
        uninit_shared_read::KERNELS,
        unordered_remote_write::KERNELS,
        unsynchronized_access::KERNELS,
        unpublished_remote_read::KERNELS,
        unsupported_borrow::KERNELS,
        unsupported_signature::KERNELS,
        unsupported_syntax::KERNELS,
        values_of_constants::KERNELS,
        write_after_arrive::KERNELS,
        wrong_group::KERNELS,
    ];
    modules.into_iter().flatten().map(|program| program().expect("the kernel assembles"))
}

#[test]
fn every_accepted_kernel_compiles_to_a_cubin() {
    for program in kernels() {
        match program.compile("sm_90a") {
            Ok(cubin) => assert!(cubin.starts_with(b"\x7fELF"), "{} is no CUBIN", program.name()),
            Err(phalanx::Error::NvrtcMissing { .. }) if std::env::var_os("PHALANX_REQUIRE_NVRTC").is_none() => {
                eprintln!("NVRTC is not here: the text is not compiled");
                return;
            }
            Err(error) => panic!("{error}\n{}", program.cuda_source()),
        }
    }
}

/// GPUs other than Hopper with its own instructions: an A100, an L40S, Hopper without them, and Blackwell's.
const OTHERS: [&str; 7] = ["sm_80", "sm_89", "sm_90", "sm_100f", "sm_103a", "sm_120f", "sm_121a"];

/// Each kernel compiles for another architecture, in turn, or for all of them if PHALANX_ALL_ARCHITECTURES is set; or the check that a launch makes
/// says which line cannot.
#[test]
fn every_accepted_kernel_compiles_for_the_architectures_that_it_runs_on() {
    use phalanx::{Error, LaunchError};
    let all = std::env::var_os("PHALANX_ALL_ARCHITECTURES").is_some();
    let (mut compiled, mut refused) = ([0; OTHERS.len()], [0; OTHERS.len()]);
    for (turn, program) in kernels().enumerate() {
        for (at, architecture) in OTHERS.iter().enumerate().filter(|(at, _)| all || turn % OTHERS.len() == *at) {
            match program.check_architecture(architecture) {
                Ok(()) => {}
                Err(Error::Launch {
                    reason:
                        LaunchError::Capability { .. }
                        | LaunchError::NoSuffix { .. }
                        | LaunchError::NarrowFloats { .. }
                        | LaunchError::NoClusters { .. },
                    ..
                }) => {
                    refused[at] += 1;
                    continue;
                }
                Err(error) => panic!("{error}"),
            }
            match program.compile(architecture) {
                Ok(_) => compiled[at] += 1,
                Err(Error::NvrtcMissing { .. }) if std::env::var_os("PHALANX_REQUIRE_NVRTC").is_none() => {
                    return eprintln!("NVRTC is not here: the text is not compiled");
                }
                // What is written by hand is not known to any check.
                Err(_) if program.cuda_source().contains("asm") => {}
                Err(error) => panic!("{architecture}: {error}\n{}", program.cuda_source()),
            }
        }
    }
    println!("{OTHERS:?}: {compiled:?} compiled, {refused:?} refused");
    assert!(compiled.iter().all(|count| *count > 5), "{compiled:?} of {OTHERS:?}");
    assert!(refused[..2].iter().all(|count| *count > 5), "an A100 has no clusters: {refused:?}");
}
