"""RMS norm of float32 tensors, and ramps, by kernels that are written in Rust."""

import torch

from . import _native


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """Normalizes the rows of `x` on its device's current stream, without a copy and without waiting.

    A kernel that fails raises its report at a later call on the stream, or at `synchronize`.
    """
    for name, tensor in (("x", x), ("weight", weight)):
        if tensor.device.type != "cuda" or tensor.dtype != torch.float32 or not tensor.is_contiguous():
            found = f"a {tensor.dtype} on {tensor.device}"
            raise TypeError(f"{name} must be a contiguous float32 tensor on a GPU, but is {found}")
    if weight.device != x.device:
        raise ValueError(f"weight must be on {x.device}, but is on {weight.device}")
    out = torch.empty_like(x)
    columns = x.shape[-1] if x.dim() else 1
    device, stream = _place(x.device)
    _native.rms_norm(
        x.data_ptr(), weight.data_ptr(), out.data_ptr(), x.numel(), weight.numel(), columns, eps, device, stream
    )
    return out


def ramp(length: int, step: float = 1.0, device=None) -> torch.Tensor:
    """Returns 0, `step`, 2 * `step` and so on, in memory that the Rust library allocated. DLPack hands it over without a copy."""
    return torch.utils.dlpack.from_dlpack(_native.ramp(length, step, *_place(torch.device(device or "cuda"))))


def ramp_(x: torch.Tensor, step: float = 1.0) -> torch.Tensor:
    """Writes the same to `x`, which DLPack lends without a copy, and waits for it."""
    _native.fill_ramp(x.__dlpack__(), step, *_place(x.device))
    return x


def synchronize(device=None) -> None:
    """Waits for the current stream, and raises the report of a kernel that failed on it."""
    _native.synchronize(*_place(torch.device(device or "cuda")))


def _place(device: torch.device):
    index = torch.cuda.current_device() if device.index is None else device.index
    return index, torch.cuda.current_stream(index).cuda_stream
