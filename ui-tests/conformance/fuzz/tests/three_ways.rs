//! A few random programs, and those by hand, in all forms (`cargo xtask fuzz` runs more), and the tests before loops.

use phalanx::Device;
use phalanx_fuzz::compare::compare;
use phalanx_fuzz::{PROGRAMS, host, input};

#[test]
fn programs_mean_the_same_in_all_forms() {
    let with_host = host::has_compiler();
    if !with_host {
        assert!(std::env::var_os("CXX").is_none(), "CXX cannot be run");
        eprintln!("not compared as C++: no `c++` here; `cargo xtask test` fetches one");
    }
    let report = compare(PROGRAMS, &input::inputs(), &Device::simulator(), with_host).unwrap();
    let unexpected = report.unexpected();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n\n"));
    assert!(report.comparisons > 1000, "only {} comparisons", report.comparisons);
}

#[test]
fn a_test_before_a_loop_holds_only_if_all_of_its_indexes_are_within_bounds() {
    if host::has_compiler() {
        println!("{}", host::intervals().unwrap());
    }
}
