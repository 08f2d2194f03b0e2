"""Measures what a user would call instead: PyTorch, torch.compile, and CUB where there is an nvcc.

`baselines.py problems.json answers.json`: an answer for each problem. A result is compared with one in f64 before it
is timed. The answers so far are written after each problem.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None

WARM, ROUNDS, LEAD, L2 = 5, 31, 1 << 30, 50 << 20
TYPES = {"f32": "float32", "bf16": "bfloat16"}


class Missing(Exception):
    """A library that is not installed here."""


class Cub:
    """CUB's functions, compiled by nvcc into a library beside this file while PyTorch is measured."""

    def __init__(self, folder):
        self.path, self.library, self.compiler = os.path.join(folder, "libcub_baselines.so"), None, None
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        command = [nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC"]
        try:
            self.compiler = subprocess.Popen(command + ["-o", self.path, os.path.join(folder, "cub.cu")])
        except OSError:
            pass

    def function(self, name, *arguments):
        """Returns a function that enqueues `name` with these arguments: tensors and integers."""
        if self.library is None:
            if self.compiler is None or self.compiler.wait() != 0:
                raise Missing("CUB: nvcc is not installed, or did not compile it")
            self.library = ctypes.CDLL(self.path)
        function = getattr(self.library, name)
        words = [ctypes.c_uint64(a.data_ptr() if torch.is_tensor(a) else a) for a in arguments]
        bytes = ctypes.c_uint64(0)
        stream = ctypes.c_uint64(torch.cuda.current_stream().cuda_stream)

        def call(memory):
            pointer = ctypes.c_uint64(memory.data_ptr() if memory is not None else 0)
            status = function(pointer, ctypes.byref(bytes), *words, stream)
            if status != 0:
                raise RuntimeError(f"{name} returned {status}")

        call(None)
        memory = torch.empty(max(bytes.value, 1), dtype=torch.uint8, device="cuda")
        return lambda: call(memory)


def timed(calls):
    """Returns the quartiles in microseconds of calls in rotation."""
    for at in range(WARM):
        calls[at % len(calls)]()
    torch.cuda.synchronize()
    lead, copy = (torch.empty(LEAD, dtype=torch.uint8, device="cuda") for _ in range(2))
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(ROUNDS)]
    for _ in range(2):
        copy.copy_(lead)
    for at, (start, end) in enumerate(events):
        start.record()
        calls[at % len(calls)]()
        end.record()
    torch.cuda.synchronize()
    times = sorted(start.elapsed_time(end) * 1e3 for start, end in events)
    low, median, high = (times[(ROUNDS - 1) * part // 4] for part in (1, 2, 3))
    return {"median": median, "low": low, "high": high}


def reals(*shape, dtype=None):
    return (torch.rand(*shape, device="cuda") * 2 - 1).to(dtype or torch.float32)


def close(got, want, bound, unit=1.0):
    error = ((got.double() - want).abs() / want.abs().clamp(min=unit)).max().item()
    if not error <= bound:
        raise RuntimeError(f"the result is {error} from f64's, and {bound} is allowed")


def equal(got, want):
    if not torch.equal(got, want):
        raise RuntimeError("the result is wrong")


def copies(tensor):
    """As many copies of a tensor as exceed the second-level cache."""
    count = max(1, -(-4 * L2 // (tensor.numel() * tensor.element_size())))
    return [tensor] + [tensor.clone() for _ in range(count - 1)]


def each(function, inputs):
    """A call for each input."""
    return [lambda x=x: function(x) for x in inputs]


def eager_and_compiled(name, function, inputs, check):
    """PyTorch's function, and the same compiled."""
    torch.compiler.reset()
    compiled = torch.compile(function, dynamic=False)
    return [
        (name, lambda: check(function(inputs[0])), lambda: each(function, inputs)),
        ("torch.compile", lambda: check(compiled(inputs[0])), lambda: each(compiled, inputs)),
    ]


# Each function below takes a problem and returns candidates: a name, a function that checks the result, and one that
# returns the calls to time, which are made in rotation.


def elementwise(problem):
    x = reals(problem["len"])
    part = slice(0, 1 << 20)
    check = lambda y: close(y[part], x[part].double() * 1.5 + 0.25, 1e-5)
    return eager_and_compiled("torch", lambda x: x * 1.5 + 0.25, copies(x), check)


def softmax(problem):
    x = reals(problem["rows"], problem["columns"]) * 8
    check = lambda y: close(y[:4], torch.softmax(x[:4].double(), -1), 2e-5, 1 / problem["columns"])
    return eager_and_compiled("torch.softmax", lambda x: torch.softmax(x, -1), copies(x), check)


def rms_norm(problem):
    dtype, columns = getattr(torch, TYPES[problem["type"]]), problem["columns"]
    x, weight = reals(problem["rows"], columns, dtype=dtype) * 4, reals(columns, dtype=dtype)
    want = F.rms_norm(x[:4].double(), (columns,), weight.double(), 1e-6)
    check = lambda y: close(y[:4], want, 1e-5 if dtype == torch.float32 else 4e-2)
    return eager_and_compiled("torch rms_norm", lambda x: F.rms_norm(x, (columns,), weight, 1e-6), copies(x), check)


def histogram(problem):
    bins, length = problem["bins"], problem["len"]
    keys = torch.randint(0, bins, (length,), dtype=torch.int32, device="cuda")
    counts = torch.zeros(bins, dtype=torch.int32, device="cuda")
    want = keys.long().sort().values.unique_consecutive(return_counts=True)[1]

    def check_cub():
        CUB.function("histogram", keys, counts, bins, length)()
        equal(counts.long(), want)

    return [
        ("torch.bincount", lambda: equal(torch.bincount(keys, minlength=bins), want), lambda: [lambda: torch.bincount(keys, minlength=bins)]),
        ("CUB", check_cub, lambda: [CUB.function("histogram", keys, counts, bins, length)]),
    ]


def layer_norm(problem):
    columns = problem["columns"]
    x, weight, bias = reals(problem["rows"], columns) * 4, reals(columns), reals(columns)
    want = F.layer_norm(x[:4].double(), (columns,), weight.double(), bias.double(), 1e-5)
    check = lambda y: close(y[:4], want, 5e-5)
    return eager_and_compiled("torch layer_norm", lambda x: F.layer_norm(x, (columns,), weight, bias, 1e-5), copies(x), check)


def reduce(problem):
    length = problem["len"]
    x = reals(length) + 0.25
    want = x.double().sum()
    sum = torch.zeros(1, device="cuda")

    def check_cub():
        CUB.function("sum", x, sum, length)()
        close(sum[0], want, 1e-4)

    return eager_and_compiled("torch.sum", torch.sum, [x], lambda y: close(y, want, 1e-4)) + [
        ("CUB", check_cub, lambda: [CUB.function("sum", x, sum, length)]),
    ]


def transpose(problem):
    x = reals(problem["width"], problem["width"])
    check = lambda y: equal(y, x.t())
    return eager_and_compiled("torch", lambda x: x.t().contiguous(), copies(x), check)


def scan(problem):
    rows, columns = problem["rows"], problem["columns"]
    x = torch.randint(0, 1 << 12, (rows, columns), dtype=torch.int32, device="cuda")
    function = lambda x: torch.cumsum(x, -1, dtype=torch.int32)
    want = x[:4].double().cumsum(-1)
    y = torch.empty_like(x)

    def check_cub():
        CUB.function("scan", x, y, x.numel())()
        equal(y[0].double(), want[0])

    return eager_and_compiled("torch.cumsum", function, copies(x), lambda y: equal(y[:4].double(), want)) + [
        ("CUB (one row)", check_cub, lambda: [CUB.function("scan", x, y, x.numel())]),
    ]


def plane(problem):
    x = reals(problem["width"], problem["width"])

    def step(x):
        around = x[1:-1, :-2] + x[1:-1, 2:] + (x[:-2, 1:-1] + x[2:, 1:-1])
        next = x.clone()
        next[1:-1, 1:-1] = x[1:-1, 1:-1] + 0.2 * (around - 4 * x[1:-1, 1:-1])
        return next

    want = step(x[:66].double())
    return eager_and_compiled("torch", step, copies(x), lambda y: close(y[:65], want[:65], 1e-5))


def rings(problem):
    x, steps = reals(problem["count"], problem["cells"]), problem["steps"]

    def diffuse(x):
        for _ in range(steps):
            x = x + 0.2 * (x.roll(1, -1) + x.roll(-1, -1) - 2 * x)
        return x

    want = diffuse(x[:2].double())
    check = lambda y: close(y[:2], want, 1e-5)
    return [("torch", lambda: check(diffuse(x)), lambda: [lambda: diffuse(x)])]


def spmv(problem):
    rows = problem["rows"]
    lengths = torch.randint(problem["least"], problem["least"] + problem["spread"], (rows,), device="cuda")
    starts = torch.cat([torch.zeros(1, dtype=torch.int64, device="cuda"), lengths.cumsum(0)]).int()
    length = starts[-1].item()
    columns = torch.randint(0, rows, (length,), dtype=torch.int32, device="cuda")
    # The columns of a row are in order, as cuSPARSE takes them.
    row = torch.repeat_interleave(torch.arange(rows, device="cuda"), lengths)
    columns = ((row * rows + columns).sort().values % rows).int()
    values, x = reals(length), reals(rows)
    matrix = torch.sparse_csr_tensor(starts, columns, values, (rows, rows), check_invariants=False)
    products = values.double() * x.double()[columns.long()]
    want = torch.zeros(rows, dtype=torch.float64, device="cuda").index_add_(0, row, products)
    function = lambda: matrix @ x
    return [("torch.sparse (cuSPARSE)", lambda: close(function(), want, 1e-4), lambda: [function])]


def tile_sort(problem):
    x = torch.randint(-(1 << 31), 1 << 31, (problem["tiles"], problem["tile"]), device="cuda").int()

    def check():
        y = torch.sort(x, -1).values
        if not bool((y[:, 1:] >= y[:, :-1]).all()) or not torch.equal(y.sum(-1), x.sum(-1)):
            raise RuntimeError("the tiles are not sorted")

    return [("torch.sort", check, lambda: each(lambda x: torch.sort(x, -1), copies(x)))]


def top_k(problem):
    k = problem["k"]
    x = reals(problem["rows"], problem["columns"])
    want = x[:4].sort(-1, descending=True).values[:, :k]
    function = lambda x: torch.topk(x, k, sorted=False)
    check = lambda: equal(function(x).values[:4].sort(-1, descending=True).values, want)
    return [("torch.topk", check, lambda: each(function, copies(x)))]


def attention(problem):
    heads, keys, width = problem["heads"], problem["keys"], problem["width"]
    q = reals(1, heads, 1, width, dtype=torch.bfloat16)
    k, v = (reals(1, heads, keys, width, dtype=torch.bfloat16) for _ in range(2))
    function = lambda k: F.scaled_dot_product_attention(q, k, v)
    scores = torch.softmax(q[:, :2].double() @ k[:, :2].double().transpose(-1, -2) / width**0.5, -1)
    want = scores @ v[:, :2].double()
    return [("torch SDPA", lambda: close(function(k)[:, :2], want, 2e-2, 0.01), lambda: each(function, copies(k)))]


def gemm(problem):
    m, n, k = problem["m"], problem["n"], problem["k"]
    if problem["type"] == "i8":
        a, b = (torch.randint(-128, 128, (rows, k), dtype=torch.int8, device="cuda") for rows in (m, n))
    else:
        dtype = torch.float8_e4m3fn if problem["type"] == "e4m3" else torch.bfloat16
        a, b = (reals(rows, k).to(dtype) for rows in (m, n))
    want = a[:4].double() @ b.double().T
    count = max(1, -(-4 * L2 // (a.element_size() * (m * k + n * k) + 2 * m * n)))
    sets = [(a.clone(), b.clone()) for _ in range(count)]
    if problem["type"] == "i8":
        name, function, unit = "torch._int_mm (cuBLASLt)", lambda a, b: torch._int_mm(a, b.T), 1.0
    elif problem["type"] == "e4m3":
        one = torch.ones((), device="cuda")
        scaled = dict(scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
        name, function, unit = "torch._scaled_mm (cuBLASLt)", lambda a, b: torch._scaled_mm(a, b.T, **scaled), 64.0
    else:
        out = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
        name, function, unit = "torch.mm (cuBLAS)", lambda a, b: torch.mm(a, b.T, out=out), 1.0
    calls = [lambda a=a, b=b: function(a, b) for a, b in sets]
    return [(name, lambda: close(calls[0]()[:4], want, 1e-2, unit), lambda: calls)]


def batched_gemm(problem):
    matrices, m, n, k = (problem[name] for name in ("matrices", "m", "n", "k"))
    a, b = (reals(matrices, rows, k, dtype=torch.bfloat16) for rows in (m, n))
    want = a[:, :4].double() @ b.double().transpose(-1, -2)
    count = max(1, -(-4 * L2 // (2 * matrices * (m * k + n * k + m * n))))
    sets = [(a.clone(), b.clone()) for _ in range(count)]
    out = torch.empty(matrices, m, n, dtype=torch.bfloat16, device="cuda")
    calls = [lambda a=a, b=b: torch.bmm(a, b.transpose(-1, -2), out=out) for a, b in sets]
    return [("torch.bmm (cuBLAS)", lambda: close(calls[0]()[:, :4], want, 1e-2), lambda: calls)]


def grouped_gemm(problem):
    lengths, n, k = problem["lengths"], problem["n"], problem["k"]
    ends = torch.tensor(lengths, device="cuda").cumsum(0).int()
    a, b = reals(sum(lengths), k, dtype=torch.bfloat16), reals(len(lengths), n, k, dtype=torch.bfloat16)
    rows = lengths[0]
    want = a[rows - 4 : rows + 4].double()
    want = torch.cat([want[:4] @ b[0].double().T, want[4:] @ b[1].double().T])
    out = torch.empty(sum(lengths), n, dtype=torch.bfloat16, device="cuda")
    parts = list(zip(a.split(lengths), b, out.split(lengths)))

    def loop():
        for x, w, y in parts:
            torch.mm(x, w.T, out=y)
        return out

    grouped = lambda: torch._grouped_mm(a, b.transpose(-1, -2), offs=ends)
    check = lambda call: lambda: close(call()[rows - 4 : rows + 4], want, 1e-2)
    return [
        ("torch._grouped_mm", check(grouped), lambda: [grouped]),
        ("torch.mm for each group (cuBLAS)", check(loop), lambda: [loop]),
    ]


def layer(problem):
    m, n, k = problem["m"], problem["n"], problem["k"]
    a, b = (reals(rows, k, dtype=torch.bfloat16) for rows in (m, n))
    bias, residual = reals(n, dtype=torch.bfloat16), reals(m, n, dtype=torch.bfloat16)
    activation = F.silu if problem["activation"] == "silu" else lambda x: F.gelu(x, approximate="tanh")
    scale = 4 / k**0.5

    def function(a, b=b, bias=bias, residual=residual):
        return activation(a @ b.T * scale + bias) + residual

    want = function(a[:4].double(), b.double(), bias.double(), residual[:4].double())
    # The sums are rounded to bf16 between the operations.
    check = lambda y: close(y[:4], want, 4e-2)
    out = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
    alone = lambda: torch.mm(a, b.T, out=out)
    product = lambda: close(alone()[:4], a[:4].double() @ b.double().T, 1e-2)
    return eager_and_compiled("torch", function, [a], check) + [("torch.mm alone (cuBLAS)", product, lambda: [alone])]


def normed_gemm(problem):
    m, n, k = problem["m"], problem["n"], problem["k"]
    x, gamma, w = (reals(*shape, dtype=torch.bfloat16) for shape in ((m, k), (k,), (n, k)))

    def function(x, gamma=gamma, w=w):
        return F.rms_norm(x, (k,), gamma, 1e-6) @ w.T

    want = function(x[:4].double(), gamma.double(), w.double())
    # The normalized rows are rounded to bf16.
    check = lambda y: close(y[:4], want, 4e-2, k**0.5 / 3)
    out = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
    alone = lambda: torch.mm(x, w.T, out=out)
    product = lambda: close(alone()[:4], x[:4].double() @ w.double().T, 1e-2)
    return eager_and_compiled("torch", function, [x], check) + [("torch.mm alone (cuBLAS)", product, lambda: [alone])]


def attended(q, k, v, causal):
    """The last four queries of the first head of a sequence, in f64: `[len, width]` of each operand."""
    scores = q[-4:].double() @ k.double().T / q.shape[-1] ** 0.5
    if causal:
        scores += torch.full_like(scores, -torch.inf).triu(k.shape[0] - 3)
    return torch.softmax(scores, -1) @ v.double()


def flash_attention(problem):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    heads, key_heads, causal = problem["heads"], problem["key_heads"], problem["causal"]
    (length,) = problem["lengths"]
    q, k, v = (reals(1, h, length, problem["width"], dtype=torch.bfloat16) for h in (heads, key_heads, key_heads))
    want = attended(q[0, 0], k[0, 0], v[0, 0], causal)

    def backend(which):
        def call():
            with sdpa_kernel(which):
                shared = {"enable_gqa": True} if heads != key_heads else {}
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal, **shared)

        return lambda: close(call()[0, 0, -4:], want, 2e-2, 0.1), lambda: [call]

    backends = [("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)]
    return [(f"torch SDPA ({name})", *backend(which)) for name, which in backends]


def packed_attention(problem):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    lengths, causal = problem["lengths"], problem["causal"]
    heads = (problem["heads"], problem["key_heads"], problem["key_heads"])
    q, k, v = (reals(sum(lengths), h, problem["width"], dtype=torch.bfloat16) for h in heads)
    starts = F.pad(torch.tensor(lengths, device="cuda").cumsum(0), (1, 0)).int()
    last = lengths[0]
    want = attended(q[:last, 0], k[:last, 0], v[:last, 0], causal)

    def flash():
        longest = max(lengths)
        return torch.ops.aten._flash_attention_forward(q, k, v, starts, starts, longest, longest, 0.0, causal, False)[0]

    parts = [[x.transpose(0, 1)[None] for x in one] for one in zip(*(x.split(lengths) for x in (q, k, v)))]

    def loop():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return [F.scaled_dot_product_attention(*x, is_causal=causal, enable_gqa=True) for x in parts]

    return [
        ("FlashAttention-2, varlen", lambda: close(flash()[last - 4 : last, 0], want, 2e-2, 0.1), lambda: [flash]),
        ("torch SDPA for each (cuDNN)", lambda: close(loop()[0][0, 0, -4:], want, 2e-2, 0.1), lambda: [loop]),
    ]


def measure(problem):
    answer = {"measured": [], "failed": [], "missing": []}
    if torch is None:
        return {**answer, "missing": ["PyTorch is not installed"]}
    try:
        candidates = globals()[problem["operation"]](problem)
    except Exception as error:  # one library's trouble is not another's
        return {**answer, "failed": [f"{problem['operation']}: {error}"]}
    for name, check, calls in candidates:
        try:
            check()
            answer["measured"].append({"name": name, "times": timed(calls())})
        except Missing as error:
            answer["missing"].append(str(error))
        except Exception as error:
            answer["failed"].append(f"{name}: {error}")
    return answer


if __name__ == "__main__":
    CUB = Cub(os.path.dirname(os.path.abspath(sys.argv[1])))
    with open(sys.argv[1]) as file:
        problems = json.load(file)
    answers = []
    for problem in problems:
        print("library:", problem, file=sys.stderr, flush=True)
        answers.append(measure(problem))
        # Whoever reads the answers sees all of them or those before.
        with open(sys.argv[2] + ".new", "w") as file:
            json.dump(answers, file)
        os.replace(sys.argv[2] + ".new", sys.argv[2])
        if torch is not None:
            torch.cuda.empty_cache()
