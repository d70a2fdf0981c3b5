"""Run the programs that `ambit_program_fuzz --python FILE` has written with PyTorch, and compare.

    python3 torch_oracle.py FILE

A line "S code" is a step, "= slot tolerance dtype sizes requires_grad contiguous values..." what it
gave, "= None" an undefined tensor, "! message" an error. A program ends at its first difference. Where one
of the two refuses what the other does, that is counted and shown once for each op, and no failure:
ambit refuses more on purpose. With a seed as second argument its steps are printed.
"""
import collections
import math
import re
import sys
import warnings

import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")
nan, inf = math.nan, math.inf


def backward(y, x, retain):
    y.sum().backward(retain_graph=retain)
    return None if x.grad is None else x.grad.detach().clone()


def spd(x):
    a = torch.tanh(x.reshape(-1)[:9].reshape(3, 3))
    return a @ a.t() + torch.eye(3, dtype=x.dtype)


def recurrent(kind, x):
    gates = {"lstm": 4, "gru": 3, "rnn_tanh": 1}[kind]

    def wave(sizes, k):
        n = math.prod(sizes)
        return torch.sin(torch.arange(n, dtype=torch.float64) * k).to(x.dtype).reshape(sizes)

    a = torch.tanh(x.reshape(-1)[:12].reshape(2, 2, 3))
    w = [wave((gates * 2, 3), .7), wave((gates * 2, 2), .9), wave((gates * 2,), .3), wave((gates * 2,), .5)]
    h, c = wave((1, 2, 2), 1.1), wave((1, 2, 2), 1.3)
    if kind == "lstm":
        return torch.lstm(a, (h, c), w, True, 1, 0., True, False, False)[0]
    run = torch.gru if kind == "gru" else torch.rnn_tanh
    return run(a, h, w, True, 1, 0., True, False, kind == "gru")[0]


# The operands of calls.cpp, and functions that combine several tensors.
def T(values, dtype, shape, layout, grad):
    t = torch.tensor(values, dtype=torch.float64).to(dtype)
    if grad:
        t.requires_grad_()
    if layout == 1:
        return t.view(shape[::-1]).permute(list(range(len(shape)))[::-1])
    if layout == 2:
        return torch.stack([t, t], -1).view(shape + [2]).select(-1, 0)
    if layout == 3:
        n, c, h, w = shape
        return t.view(n, h, w, c).permute(0, 3, 1, 2)
    return t.view(shape)


def flat(tensors):
    if isinstance(tensors, torch.Tensor):
        tensors = [tensors]
    return torch.cat([t.reshape(-1).double() for t in tensors])


def as_real(t):
    return torch.view_as_real(t.resolve_conj()) if t.is_complex() else t


def wave(like):
    t = torch.arange(like.numel()) * 7 % 11 - 5
    return (t.to(like.dtype) / 4).reshape(like.shape)


def grads(y, xs, order):
    gs = torch.autograd.grad(y, xs, wave(y), True, order > 1, allow_unused=True)
    if order > 1:
        total = (y * 0).sum()
        for g in gs:
            if g is not None and g.requires_grad:
                total = total + (g * wave(g)).sum().to(total.dtype)
        gs = torch.autograd.grad(total, xs, None, True, allow_unused=True)
    return flat([torch.zeros_like(x) if g is None else g for g, x in zip(gs, xs)])


# PyTorch's own trigamma, the gradient of digamma, has 9 correct digits.
def derived(forward, derivative):
    class Derived(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return g * derivative(ctx.saved_tensors[0])

    return Derived.apply


trigamma = derived(lambda x: torch.special.zeta(2., x), lambda x: torch.polygamma(2, x))
digamma = derived(torch.digamma, trigamma)
lgamma = derived(torch.lgamma, digamma)


def mvlgamma(x, p):
    return p * (p - 1) / 4 * math.log(math.pi) + sum(lgamma(x - k / 2) for k in range(p))


# For a single number the gradient is NaN; PyTorch 1.13's is infinite if the number has no dims.
def spread(f, x, dims, unbiased, keep):
    if x.dim() == 0:
        return f(x.reshape(1), [0], unbiased, False).reshape([])
    return f(x, dims, unbiased, keep)


class Places:
    def __getitem__(self, places):
        return places


S = Places()


def put(x, places, value):
    y = x.clone()
    y[places] = value
    return y


def through(x, view, write):
    base = x * 1
    v = view(base)
    write(v)
    return base * v.sum()


def regular(x):
    return x / 32 + torch.diag(torch.arange(x.size(-1)).to(x.dtype) + 1)


def definite(m):
    return m @ m.mT + torch.eye(m.size(-2), dtype=m.dtype)


# PyTorch 2.15 returns 0 or -0 for numbers in [-lambd, 0], depending on the length; ambit returns 0. PyTorch 1.13 returns
# 0 for NaN.
def softshrink(x, lambd=0.5):
    return torch.where(x.isnan(), x, F.softshrink(x, lambd) + 0.)


# PyTorch 2.15 returns NaN for infinity in float32 and bfloat16, unless the tensor is a single number.
torch_gelu = F.gelu


def gelu(x, approximate="none"):
    return torch.where(x == inf, x, torch_gelu(x, approximate=approximate))


F.gelu = gelu
torch_atan2 = torch.atan2


# PyTorch's second gradient at the origin is NaN; the first is 0. If y is uint8, its gradient of x negates y in uint8.
def atan2(y, x):
    origin = (y == 0) & (x == 0)
    if not origin.any() and y.dtype != torch.uint8:
        return torch_atan2(y, x)
    dtype = torch_atan2(y.detach(), x.detach()).dtype
    y, x = y.to(dtype), x.to(dtype)
    ones = torch.ones_like(origin, dtype=dtype)
    return torch.where(origin, torch_atan2(y.detach(), x.detach()),
                       torch_atan2(torch.where(origin, ones, y), torch.where(origin, ones, x)))


torch.atan2 = atan2
torch_logit = torch.logit


# PyTorch's second gradient outside [eps, 1 - eps] is NaN if it is not finite without eps; the first is 0.
def logit(x, eps=None):
    if eps is None or not x.requires_grad:
        return torch_logit(x, eps)
    inside = (x >= eps) & (x <= 1 - eps)
    return torch.where(inside, torch_logit(torch.where(inside, x, torch.full_like(x, 0.5)), eps),
                       torch_logit(x.detach(), eps))


torch.logit = logit


# PyTorch's second gradient with respect to the exponent is NaN if the base is 0; the first is 0.
def at_zero_base(power):
    def function(base, exponent):
        y = power(base, exponent)
        if not (isinstance(base, torch.Tensor) and isinstance(exponent, torch.Tensor) and exponent.requires_grad and
                not base.requires_grad):
            return y
        zero = (base == 0) & (exponent >= 0)
        others = torch.where(zero, torch.ones_like(zero, dtype=base.dtype), base)
        return torch.where(zero, y.detach(), power(others, exponent)) if zero.any() else y

    return function


torch.pow = at_zero_base(torch.pow)
torch.float_power = at_zero_base(torch.float_power)
torch_norm_except_dim = torch.norm_except_dim


# PyTorch's second gradient of the norm of zeros is NaN; the first is 0.
def norm_except_dim(v, p, dim):
    y = torch_norm_except_dim(v, p, dim)
    zeros = y == 0
    return torch.where(zeros, y.detach(), torch_norm_except_dim(v + zeros.to(v.dtype), p, dim)) if zeros.any() else y


torch.norm_except_dim = norm_except_dim
torch_prelu = F.prelu


# PyTorch's gradient of x at 0 is that of the negative side, but not in its second gradients.
def prelu(x, w):
    y = torch_prelu(x, w)
    if not (x == 0).any():
        return y
    return torch.where(x > 0, x, x * (w if w.numel() == 1 else w.reshape([-1] + [1] * (x.dim() - 2))))


F.prelu = prelu


# PyTorch multiplies the number by the reciprocal, whose second gradient at 0 is infinite. That of ambit is NaN, as that
# of two tensors in PyTorch.
def number_divided_by(x, number):
    dtype = torch.result_type(x, number)
    return torch.full((), number, dtype=dtype if dtype.is_floating_point else torch.float32) / x


torch.Tensor.__rtruediv__ = number_divided_by


# PyTorch's gradient is wrong if an operand was written to after the call; a product's gradient is refused.
def kron(a, b):
    dims = max(a.dim(), b.dim())
    a, b = (t.reshape([1] * (dims - t.dim()) + list(t.shape)) for t in (a, b))
    y = a.reshape([n for size in a.shape for n in (size, 1)]) * b.reshape([n for size in b.shape for n in (1, size)])
    return y.reshape([n * m for n, m in zip(a.shape, b.shape)])


torch.kron = kron
torch_scatter_reduce = torch.scatter_reduce


# PyTorch's gradients of "amax" and "amin" also go to elements of src for which there is no index.
def scatter_reduce(x, dim, index, src, reduce, include_self=True):
    if src.dim() == index.dim():
        src = src[tuple(slice(size) for size in index.shape)]
    return torch_scatter_reduce(x, dim, index, src, reduce, include_self=include_self)


torch.scatter_reduce = scatter_reduce


class Replaced(torch.autograd.Function):
    """Values of other numbers with x's gradient."""
    @staticmethod
    def forward(ctx, x, values):
        return values

    @staticmethod
    def backward(ctx, g):
        return g, None


# PyTorch's gradient is NaN if the result is NaN; that of ambit is shared among the NaN elements.
def with_nan(extreme, limit):
    def function(x, *dims):
        y = extreme(x, *dims)
        if not (x.requires_grad and y.isnan().any()):
            return y
        ordered = Replaced.apply(x, x.detach().nan_to_num(limit, inf, -inf))
        return Replaced.apply(extreme(ordered, *dims), y.detach())

    return function


torch.amax = with_nan(torch.amax, inf)
torch.amin = with_nan(torch.amin, -inf)
torch_addmv = torch.addmv


# If the matrix is empty, the result of PyTorch has the size of the added vector.
def addmv(a, m, v, beta=1, alpha=1):
    return torch_addmv(a.expand(m.size(0)) if m.numel() == 0 else a, m, v, beta=beta, alpha=alpha)


torch.addmv = addmv
torch_softplus = F.softplus


# PyTorch's second gradient at the threshold is 0, although the first is that of the smooth part.
def softplus(x, beta=1, threshold=20):
    y = torch_softplus(x, beta, threshold)
    at = x * beta == threshold
    return torch.where(at, torch_softplus(x, beta, threshold + 1), y) if at.any() else y


F.softplus = softplus
torch_interpolate = F.interpolate


# PyTorch 2.15 omits the vertical pass if an antialiased image is resized to one column, unless the tensor is channels
# last and has more than one channel.
def interpolate(x, antialias=False, **options):
    if not antialias:
        return torch_interpolate(x, **options)
    twice = torch.cat([x, x], 1).contiguous(memory_format=torch.channels_last)
    return torch_interpolate(twice, antialias=True, **options)[:, :x.size(1)].contiguous()


F.interpolate = interpolate


# Convolutions of bfloat16 and their gradients in PyTorch 2.15 have wrong elements for some strides, dilations and
# paddings, with AMX also numbers from unrelated memory. They are computed in float32 here, and rounded once.
def in_float32(convolution):
    def function(x, w, b=None, *parameters):
        operands = [x, w] if b is None else [x, w, b]
        dtypes = {t.dtype for t in operands}
        if dtypes != {torch.bfloat16} and (not torch.is_autocast_cpu_enabled() or
                                           not dtypes <= {torch.bfloat16, torch.float32}):
            return convolution(x, w, b, *parameters)
        with torch.autocast("cpu", enabled=False):
            operands = [t.bfloat16().float() for t in operands]
            return convolution(*operands, *[None] * (3 - len(operands)), *parameters).bfloat16()

    return function


for dims in "1d", "2d", "3d":
    for name in "conv" + dims, "conv_transpose" + dims:
        setattr(F, name, in_float32(getattr(F, name)))


# In PyTorch's gradient for float64 1 / 6 is rounded to float32.
def hardsigmoid(x):
    if x.dtype != torch.float64:
        return F.hardsigmoid(x)
    return torch.where((x > -3) & (x < 3), (x + 3) / 6, F.hardsigmoid(x.detach()))


# PyTorch 1.13 uses wrong strides for rows here.
def in_rows(t):
    return None if t is None else t.contiguous()


def batch_norm(x, mean, var, w, b, training):
    mean, var = (None if t is None else t.detach().clone() for t in (mean, var))
    # With other strides gradients are wrong in PyTorch 1.13.
    x, w, b = in_rows(x), in_rows(w), in_rows(b)
    y = F.batch_norm(x, mean, var, w, b, training, 0.25, 0.125)
    return y if mean is None else flat([y, mean, var])


def attend(q, k, v, mask, causal, scale):
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -inf)
    elif mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~(mask | (torch.arange(mask.size(-1)) == 0)), -inf)
    elif mask is not None:
        scores = scores + mask
    return scores.softmax(-1) @ v


def heads(q, k, v, E, H, w, b, bk, bv, zero, out, ob, qw, kw, vw, mask, ignored, separate, weights, averaged):
    if ignored is not None:
        ignored = ignored & (torch.arange(ignored.size(-1)) != 0)
    y, a = F.multi_head_attention_forward(
        q, k, v, E, H, w, b, bk, bv, zero, 0.0, out, ob, training=True, key_padding_mask=ignored,
        need_weights=weights, attn_mask=mask, use_separate_proj_weight=separate, q_proj_weight=qw,
        k_proj_weight=kw, v_proj_weight=vw, average_attn_weights=averaged)
    return flat([y, a]) if weights else y


def row_major(t, slots):
    """Return a result that is not a view with the strides that it has in ambit. Functions of it are then
    views in both libraries; with its operand's strides PyTorch might have to copy."""
    def shares(other):
        return other is not None and other is not t and other.storage().data_ptr() == t.storage().data_ptr()

    if t.is_contiguous() or t._base is not None or any(map(shares, slots)):
        return t
    return t.contiguous() if not t.is_leaf else t.detach().contiguous().requires_grad_(t.requires_grad)


def differs(t, code, dtype, sizes, grad, tolerance, values, has_empty_operand):
    if str(t.dtype) != "torch." + dtype:
        return f"dtype {t.dtype}, ambit {dtype}"
    if list(t.shape) != sizes:
        return f"sizes {list(t.shape)}, ambit {sizes}"
    # PyTorch's formulas may save an operand only for its shape, and so record a constant gradient, or record none if
    # there are no elements.
    if t.requires_grad != grad and "create_graph" not in code and t.numel() and not has_empty_operand:
        return f"requires_grad {t.requires_grad}, ambit {grad}"
    got = t.detach().double().reshape(-1)
    want = torch.tensor(values, dtype=torch.float64)
    finite = want[torch.isfinite(want)].abs()
    scale = max(1.0, finite.max().item() if len(finite) else 1.0)
    # Two libraries round differently; float16 and bfloat16 once or twice, which the tolerance includes.
    factor = 4 if tolerance < 2**-10 else 1
    close = (got == want) | (got.isnan() & want.isnan()) | ((got - want).abs() <= factor * tolerance * scale)
    if close.all():
        return None
    i = (~close).nonzero()[0].item()
    return f"element {i}: {got[i].item()!r}, ambit {want[i].item()!r}, tolerance {tolerance * scale:.3g}"


SHORT = (torch.float16, torch.bfloat16)
NO_KERNEL = re.compile("not implemented for|expected scalar type|same dtype|expected m1 and m2|must have the same")
# In float16 and bfloat16 PyTorch's layer_norm subtracts rounded numbers, so that equal numbers have small results other
# than 0; its matrix_exp is never finite, its grid_sample rounds positions, and oneDNN's transposed convolutions have
# wrong sizes.
UNFIT = re.compile("layer_norm|matrix_exp|conv_transpose|grid_sample")


def run(code, scope):
    """Run a step. Return None, "upcast" if PyTorch has no kernel for float16 or bfloat16, so that it ran in
    float32, or "skipped" for a gradient of such a kernel. Other exceptions of PyTorch are raised."""
    r = scope["r"]
    narrow = {i: r[i] for i in {int(i) for i in re.findall(r"r\[(\d+)\]", code)}
              if r[i] is not None and r[i].dtype in SHORT}
    try:
        if narrow and UNFIT.search(code):
            raise RuntimeError("not implemented for reduced floating-point types as it should be")
        exec(code, scope)
        return None
    except Exception as e:
        made = re.match(r"(?:with torch.autocast.*?: )?r\[(\d+)\] = (?!backward)", code)
        if not narrow or not made or not NO_KERNEL.search(str(e)):
            raise
    if "grad" in code:
        return "skipped"
    for i, t in narrow.items():
        r[i] = t.float()
    try:
        exec(code, scope)
    finally:
        for i, t in narrow.items():
            r[i] = t
    return "upcast"


# Gradients at bounds and of equal elements are those of PyTorch 2.15; older versions differ, also in the second
# gradients of celu and elu at 0.
IS_OLD = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < (2, 15)
CHANGED = re.compile(r"\b(clamp|clip|fmax|fmin|atan2|hinge_embedding_loss|margin_ranking_loss|"
                     r"cosine_embedding_loss|triplet_margin_loss|c?elu|selu|hardswish|huber_loss)")
# Values that differ in older versions: as_strided_scatter of an input with a storage offset; complex dot products,
# which are 0 in Debian's 1.13; bicubic interpolation of float16 and bfloat16, whose weights 1.13 rounds to the dtype;
# the dtype of ldexp, which is at least float32 in 1.13.
CHANGED_VALUES = re.compile(
    r"\bas_strided_scatter\b|\bvdot\b|\blinalg\.vecdot\(z|torch\.dot\(z|mode='bicubic'|\btorch\.ldexp\b")


def operation(code):
    return re.sub(r"r\[\d+\]|-?\d+(\.\d*)?|\s", "", code)[:60]


def main(path):
    programs = steps = 0
    found = collections.OrderedDict()
    refused = collections.Counter()
    ways = collections.Counter()  # of steps with reduced floating-point types
    first = {}

    def refuse(what):
        refused[what] += 1
        first.setdefault(what, seed)

    r, code, seed, ended, changed, how = [], "", 0, False, False, None
    for line in open(path):
        kind, text = line[0], line[2:].rstrip("\n")
        if kind == "P":
            r, seed, ended, changed = [None] * 200, text, False, False
            programs += 1
            if len(sys.argv) > 2:
                ended = text != sys.argv[2]
            scope = dict(globals(), r=r)
        elif ended:
            continue
        elif kind == "S":
            code, error, how = text, None, None
            if len(sys.argv) > 2:
                print(code)
            steps += 1
            changed = changed or IS_OLD and bool(CHANGED.search(code))
            # A tensor written by an in-place comparison has no gradient in ambit; in PyTorch its gradient is zeros or
            # the previous one.
            if re.search(r"\.(lt|le|gt|ge|eq|ne|logical_\w+)_\(", code):
                ended = True
                continue
            try:
                how = run(code, scope)
            except Exception as e:  # any exception of PyTorch
                error = e
        elif kind == "!":
            if error is None:
                refuse("ambit alone: " + operation(code) + "   " + text[:110])
            # A failed in-place op of PyTorch may have written a part.
            ended = error is None or "_(" in code
        elif error is not None:
            refuse("torch alone: " + operation(code) + "   " + str(error).split("\n")[0][:110])
            ended = True
        elif text == "None":
            pass
        else:
            slot, tolerance, dtype, sizes, grad, contiguous, *values = text.split(" ")
            made = slot != "-1"
            if not made:
                m = re.match(r"(?:with torch.no_grad\(\): )?r\[(\d+)\]", code)
                slot = m.group(1)
            numbers = [float(v) for v in values]
            short = getattr(torch, dtype) in SHORT
            if how:
                ways[how] += 1
            if how == "skipped":
                r[int(slot)] = torch.tensor(numbers).to(getattr(torch, dtype)).reshape(eval(sizes))
                continue
            if how == "upcast" and short:
                r[int(slot)] = r[int(slot)].to(getattr(torch, dtype))
            elif short and "T(" not in code:
                ways["native"] += 1
            t = r[int(slot)]
            if t is not None and t._is_zerotensor():  # a gradient without memory
                t = r[int(slot)] = torch.zeros(t.shape, dtype=t.dtype)
            # The dtypes under autocast are PyTorch's for CUDA, on every device; PyTorch has other lists for the cpu.
            if "autocast" in code and t is not None and str(t.dtype) != "torch." + dtype:
                ended = True
                continue
            if made and t is not None and contiguous == "1":
                t = r[int(slot)] = row_major(t, r)
            if t is None:  # its gradient is zeros
                what = any(float(v) for v in values) and "None"
            else:
                operands = [r[int(i)] for i in re.findall(r"r\[(\d+)\]", code)]
                is_empty = any(o is not None and o.numel() == 0 for o in operands)
                what = differs(t, code, dtype, eval(sizes), grad == "1", float(tolerance), numbers, is_empty)
            is_old_value = IS_OLD and CHANGED_VALUES.search(code)
            if what and (is_old_value or changed and ("grad" in code or "backward" in code)):
                ended = True
                ways["changed"] += 1
            elif what:
                ended = True
                found.setdefault(operation(code), (seed, code, what))
            elif t is not None and t.requires_grad and grad == "0":  # the constant gradient above
                r[int(slot)] = t.detach()
    for name, count in refused.most_common():
        print(f"{count:6} seed {first[name]}: {name}")
    for name, (seed, code, what) in found.items():
        print(f"seed {seed}: {code}\n    torch {what}")
    print(f"float16 and bfloat16 results by PyTorch's kernels: {ways['native']}, computed in float32 without such kernels: "
          f"{ways['upcast']}, gradients left out: {ways['skipped']}; of functions that have changed since this PyTorch: {ways['changed']}")
    print(f"{programs} programs, {steps} steps, {len(found)} kinds of difference")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
