//! Rings of phase barriers: verdicts on skeletons, and the comparison with a machine that shares no code with the check.

mod agreement;
mod cases;
mod changed_lines;
mod counters;
mod explicit;
mod extraction;
mod flat;
mod growth;
mod innocent;
mod kernels;
mod lanes;
mod launches;
mod loops;
mod multicast;
mod mutants;
mod ordered;
mod peers;
mod persistent;
mod polls;
mod products;
mod races;
mod skeletons;
mod staged;
mod tiles;
mod together;
mod words;
