//! Conditions on constants of the user's program, which rustc evaluates for the checks.

/// Whether the constant is below a bound, has one of these values, or, if that is asked, is no power of two.
///
/// ```
/// use phalanx_contract::constant::is_one_of;
///
/// assert!(is_one_of(3, 0, &[1, 3], false) && !is_one_of(2, 0, &[1, 3], false));
/// assert!(is_one_of(6, 0, &[1], true) && !is_one_of(8, 0, &[1], true));
/// assert!(is_one_of(31, 32, &[], false) && !is_one_of(32, 32, &[], false));
/// ```
pub const fn is_one_of(constant: i128, below: i128, values: &[i128], or_no_power_of_two: bool) -> bool {
    if constant < below {
        return true;
    }
    let mut at = 0;
    while at < values.len() {
        if values[at] == constant {
            return true;
        }
        at += 1;
    }
    or_no_power_of_two && !(constant > 0 && constant & (constant - 1) == 0)
}

/// Refuses, at compile time, a fault that the function has with the values of its constants.
#[track_caller]
pub const fn refuse(message: &str) {
    panic!("{}", message);
}
