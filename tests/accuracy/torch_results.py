"""Write PyTorch's results for `ambit accuracy --results FOLDER`, in the order of its inputs.

python tests/accuracy/torch_results.py FOLDER [--every N] [--dtype float32] [--gradients]
ambit accuracy --results FOLDER [--every N] [--dtype float32] [--gradients]
"""
import argparse
import pathlib

import torch
import torch.nn.functional as F

# The names of `ambit accuracy` whose function is not torch.<name>.
OTHERS = {
    "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
    "mish": F.mish, "selu": F.selu, "elu": F.elu, "softplus": F.softplus, "logsigmoid": F.logsigmoid,
}
PLAIN = """exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh
cosh tanh sigmoid asinh acosh atanh erf erfc lgamma digamma sinc logit""".split()
WITH_GRADIENTS = """exp expm1 log1p sin cos asin atan sinh cosh tanh sigmoid lgamma""".split()


def magnitudes(dtype, every):
    if dtype == torch.float32:
        return torch.arange(0, 0x7F800001, every, dtype=torch.int32).view(torch.float32)
    infinity = 0x7C00 if dtype == torch.float16 else 0x7F80
    return torch.arange(0, infinity + 1, dtype=torch.int16).view(dtype)


def results(function, x, gradients):
    if not gradients:
        return function(x)
    x = x.detach().requires_grad_()
    y = function(x)
    y.backward(torch.ones_like(y))
    return x.grad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=61)
    parser.add_argument("--dtype", default="float32", choices=["float32", "float16", "bfloat16"])
    parser.add_argument("--gradients", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    x = magnitudes(getattr(torch, options.dtype), options.every)
    functions = {name: getattr(torch, name) for name in PLAIN} | OTHERS
    for name, function in functions.items():
        if options.gradients and name not in WITH_GRADIENTS and name not in OTHERS:
            continue
        path = options.folder / f"{name}{'_grad' if options.gradients else ''}.{options.dtype}"
        with path.open("wb") as file:
            for sign in (1, -1):
                for part in (x * sign).split(1 << 20):
                    y = results(function, part, options.gradients).contiguous()
                    file.write(y.view(torch.uint8).numpy().tobytes())


main()
