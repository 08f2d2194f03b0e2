//! What to do about an error of the CUDA driver, by the number of its `CUresult` (cuda.h): those that a program meets for a reason of its own or of
//! the machine's.

/// Returns the advice that follows the driver's own text, or nothing.
pub(super) fn advice(code: u32) -> &'static str {
    match code {
        // CUDA_ERROR_OUT_OF_MEMORY
        2 => {
            "; drop buffers, of other programs on the GPU too, or make them smaller; `device.managed(len)` may be larger than the GPU's memory"
        }
        // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
        803 | 804 => {
            "; libcuda and the kernel's driver do not belong together: restart the machine after an update of the driver, and take the folder of a \
             CUDA compatibility package out of LD_LIBRARY_PATH"
        }
        // CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_NOT_LICENSED
        46 | 102 => {
            "; another process may have the GPU for itself (`nvidia-smi` shows its compute mode and who uses it)"
        }
        // CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_CONTAINED
        214 | 220 | 721 => {
            "; the hardware has failed: `nvidia-smi -q` says how often, and the GPU is to be reset before it is used again"
        }
        // CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ASSERT, and from
        // CUDA_ERROR_HARDWARE_STACK_ERROR to CUDA_ERROR_LAUNCH_FAILED
        700 | 702 | 709 | 710 | 714..=719 => {
            "; nothing on this GPU works any longer in this process: restart it. What kernels do is checked, but not `cuda!`, `get_unchecked` and memory \
             by its address: `compute-sanitizer ./program` names the line"
        }
        // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED and those behind it
        900..=908 => {
            "; another library captures a CUDA graph meanwhile, in which this call has no place: make it before or after the capture"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_can_do_is_said() {
        for (code, words) in [
            (2, "drop buffers"),
            (46, "nvidia-smi"),
            (700, "restart it"),
            (719, "compute-sanitizer"),
            (803, "LD_LIBRARY_PATH"),
            (901, "before or after the capture"),
        ] {
            assert!(advice(code).starts_with("; ") && advice(code).contains(words), "{code}: {}", advice(code));
        }
        assert_eq!(advice(1), "", "an invalid value is a fault of the library");
    }
}
