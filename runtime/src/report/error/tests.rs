//! Errors as their users see them.

use std::error::Error as _;

use super::*;

#[test]
fn an_error_of_the_driver_keeps_its_code_and_its_source() {
    let error = Error::Driver {
        call: "cuMemAllocAsync",
        name: "CUDA_ERROR_OUT_OF_MEMORY".into(),
        code: 2,
        description: "out of memory".into(),
        source: "the driver's own".into(),
    };
    let text = error.to_string();
    assert!(text.starts_with("cuMemAllocAsync failed: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory; drop"), "{text}");
    assert_eq!(error.cuda_code(), Some(2));
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the driver's own"));
    assert_eq!(Error::DriverMissing.cuda_code(), None);
}

#[test]
fn a_main_that_returns_an_error_prints_its_message() {
    assert_eq!(format!("{:?}", Error::DriverMissing), Error::DriverMissing.to_string());
}
