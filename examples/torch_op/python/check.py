"""Compares the operator with PyTorch's own on a GPU: on the current stream, on another one, in a graph, and when it fails."""

import sys

import torch

import phalanx_torch_op as op


def expected(x, weight, eps=1e-6):
    wide = x.double()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * weight.double()).float()


def close(found, x, weight):
    torch.testing.assert_close(found, expected(x, weight), rtol=2e-5, atol=1e-5)


def main():
    torch.manual_seed(1)
    x = torch.randn(512, 4096, device="cuda")
    weight = torch.randn(4096, device="cuda")
    close(op.rms_norm(x, weight), x, weight)
    print("the current stream: equal to PyTorch within rounding")

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = x * 2
        found = op.rms_norm(y, weight)
        z = found + 1
    side.synchronize()
    close(z - 1, x * 2, weight)
    print("another stream, between two operators of PyTorch: the same")

    try:
        op.rms_norm(x, weight[:100].contiguous())
        op.synchronize()
    except RuntimeError as error:
        assert "out of bounds for length 100" in str(error), error
        print("a failure is raised:", str(error).splitlines()[0])
    else:
        sys.exit("a kernel that fails raised nothing")
    close(op.rms_norm(x, weight), x, weight)

    try:
        op.rms_norm(x.cpu(), weight)
    except TypeError as error:
        print("a tensor of the CPU is refused:", error)
    else:
        sys.exit("a tensor of the CPU was taken")

    graph = torch.cuda.CUDAGraph()
    source = torch.empty_like(x)
    with torch.cuda.graph(graph):
        captured = op.rms_norm(source, weight) + 1
    for _ in range(3):
        source.copy_(torch.randn_like(x))
        graph.replay()
        torch.cuda.synchronize()
        close(captured - 1, source, weight)
    print("a captured graph, replayed three times: the same")

    for length in (1, 1000, 1 << 20):
        found = op.ramp(length, 0.5)
        torch.testing.assert_close(found, torch.arange(length, device="cuda") * 0.5)
        kept = found[length // 2 :] + 1
        del found
        torch.testing.assert_close(kept - 1, torch.arange(length // 2, length, device="cuda") * 0.5)
    y = torch.empty(3, 500, device="cuda")
    torch.testing.assert_close(op.ramp_(y).view(-1), torch.arange(1500.0, device="cuda"))
    print("memory by DLPack, in and out: the same")
    for wrong, words in ((y.t(), "make it contiguous"), (y.half(), "elements of f16, not f32")):
        try:
            op.ramp_(wrong)
        except RuntimeError as error:
            assert words in str(error), error
            print("a tensor is refused:", error)
        else:
            sys.exit("a tensor was taken that cannot be")

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for name, run in (("ours", lambda: op.rms_norm(x, weight)), ("PyTorch", lambda: torch.nn.functional.rms_norm(x, (4096,), weight, 1e-6))):
        for _ in range(10):
            run()
        start.record()
        for _ in range(200):
            run()
        end.record()
        torch.cuda.synchronize()
        print(f"{name}: {start.elapsed_time(end) * 5:.1f} us a call")


main()
