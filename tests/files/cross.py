#!/usr/bin/env python3
"""PyTorch's half of pytorch_cross_test.cpp: cross.py write|read|continue|schedule FOLDER.

write: files for ambit to read. read: checks files that ambit wrote. continue: makes one step from
ambit's checkpoints, which ambit compares with its own; schedule: the same for learning rates.
"""
import sys
import warnings
from collections import OrderedDict
from pathlib import Path

import torch

warnings.simplefilter("ignore", UserWarning)  # schedulers here step without their optimizers

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128"]


def values(dtype):
    return torch.arange(-3, 4).to(getattr(torch, dtype))


def net():
    return torch.nn.Sequential(OrderedDict(fc=torch.nn.Linear(3, 2), norm=torch.nn.BatchNorm2d(2)))


VERSION = tuple(int(n) for n in torch.__version__.split(".")[:2])
# Optimizers whose state has numbers, which PyTorch stores in the default dtype and ambit in float64.
NUMBERS = ["nadam", "nadamw", "asgd", "groups"]


def optimizers(parameters):
    yield "sgd", torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.01)
    yield "adam", torch.optim.Adam(parameters, lr=0.1, betas=(0.8, 0.99))
    yield "adamw", torch.optim.AdamW(parameters, lr=0.1)
    yield "amsgrad", torch.optim.Adam(parameters, lr=0.1, amsgrad=True)
    yield "adagrad", torch.optim.Adagrad(parameters, lr=0.1, initial_accumulator_value=0.5)
    yield "rmsprop", torch.optim.RMSprop(parameters, lr=0.1, momentum=0.5, centered=True)
    yield "lbfgs", torch.optim.LBFGS(parameters, lr=0.5, max_iter=3, line_search_fn="strong_wolfe")
    yield "maximize", torch.optim.SGD(parameters, lr=0.1, momentum=0.9, maximize=True)
    yield "radam", torch.optim.RAdam(parameters, lr=0.1, betas=(0.8, 0.9))
    yield "adadelta", torch.optim.Adadelta(parameters, lr=2, rho=0.8)
    yield "adamax", torch.optim.Adamax(parameters, lr=0.1)
    yield "asgd", torch.optim.ASGD(parameters, lr=0.1, lambd=0.1, t0=0)
    yield "rprop", torch.optim.Rprop(parameters, lr=0.1, etas=(0.4, 1.5))
    if VERSION >= (2, 9):  # in 1.13 the first step of NAdam differs; later options and Muon are missing
        yield "nadam", torch.optim.NAdam(parameters, lr=0.1, weight_decay=0.1)
        yield "groups", torch.optim.NAdam([{"params": parameters, "lr": 0.1}, {"params": [parameter()], "eps": 1e-3}],
                                          lr=0.2)
        yield "decoupled", torch.optim.Adam(parameters, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True)
        yield "nadamw", torch.optim.NAdam(parameters, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True,
                                          maximize=True)
        yield "muon", torch.optim.Muon(parameters, lr=0.1, ns_steps=0)


SCHEDULES = ["step", "multistep", "exponential", "cosine", "restarts", "linear", "constant", "lambda", "cycle", "sequence",
             "plateau"]


def scheduler(name, o):
    s = torch.optim.lr_scheduler
    return {"step": lambda: s.StepLR(o, 2, 0.5),
            "multistep": lambda: s.MultiStepLR(o, [2, 6, 6, 9], 0.5),
            "exponential": lambda: s.ExponentialLR(o, 0.9),
            "cosine": lambda: s.CosineAnnealingLR(o, 6, 0.01),
            "restarts": lambda: s.CosineAnnealingWarmRestarts(o, 3, 2),
            "linear": lambda: s.LinearLR(o, 0.25, 0.8, 8),
            "constant": lambda: s.ConstantLR(o, 0.5, 7),
            "lambda": lambda: s.LambdaLR(o, lambda e: 1 / (1 + e)),
            "cycle": lambda: s.OneCycleLR(o, 0.5, total_steps=20),
            "sequence": lambda: s.SequentialLR(o, [s.LinearLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.5)], [3]),
            "plateau": lambda: s.ReduceLROnPlateau(o, factor=0.5, patience=1)}[name]()


def advance(name, s, count):
    rates = []
    for _ in range(count):
        s.step(1.0) if name == "plateau" else s.step()
        rates.append(s.optimizer.param_groups[0]["lr"])
    return rates


def write_schedules(folder):
    for name in SCHEDULES:
        sgd = torch.optim.SGD([parameter()], lr=0.1, momentum=0.9)
        sgd.step()
        s = scheduler(name, sgd)
        advance(name, s, 5)
        state = s.state_dict()
        if state.pop("anneal_func", None):  # a function; newer PyTorch stores its name instead
            state["_anneal_func_type"] = "cos"
        torch.save({"optimizer": sgd.state_dict(), "scheduler": state,
                    "next": torch.tensor(advance(name, s, 6), dtype=torch.float64)}, folder / f"{name}.pth")


def go_on_with_schedules(folder):
    for name in SCHEDULES:
        checkpoint = load(folder / f"{name}.pth", floats=True)
        sgd = torch.optim.SGD([parameter()], lr=0.1, momentum=0.9)
        sgd.step()
        s = scheduler(name, sgd)
        sgd.load_state_dict(checkpoint["optimizer"])
        s.load_state_dict(checkpoint["scheduler"])
        torch.save({"next": torch.tensor(advance(name, s, 6), dtype=torch.float64)}, folder / f"{name}_next.pth")


def parameter():
    return torch.arange(1.0, 5.0).double().view(2, 2).requires_grad_()


def step(optimizer, p):
    def closure():
        optimizer.zero_grad()
        loss = ((p * p - 2) ** 2).sum() if isinstance(optimizer, torch.optim.LBFGS) else (p**3).sum()
        loss.backward()
        return loss
    optimizer.step(closure)


def write_lacking(folder):
    """Optimizers with an option that ambit does not have."""
    for name, options in [("lr", {"lr": torch.tensor(0.1)}),
                          ("differentiable", {"differentiable": True})]:
        sgd = torch.optim.SGD([parameter()], **({"lr": 0.1, "momentum": 0.9} | options))
        if name != "differentiable":
            step(sgd, sgd.param_groups[0]["params"][0])
        torch.save(sgd.state_dict(), folder / f"lacking_{name}.pth")


def write(folder):
    torch.manual_seed(1)
    tensors = OrderedDict((name, values(name)) for name in DTYPES)
    for protocol in (2, 3, 4):
        torch.save(tensors, folder / f"dtypes{protocol}.pth", pickle_protocol=protocol)
    halves = torch.tensor([0.0, 1.0, -5.0, 65504.0, 2.0**-24, float("inf"), 1 / 3])
    torch.save({n: halves.to(getattr(torch, n)) for n in ("float16", "bfloat16")}, folder / "half.pth")
    torch.save({n: halves.to(getattr(torch, n)).float() for n in ("float16", "bfloat16")},
               folder / "upcast.pth")
    matrix = torch.arange(12.0).view(3, 4)
    torch.save({"all": matrix, "t": matrix.t(), "row": matrix[1], "part": matrix[:, 1:3],
                "expanded": torch.ones(1).expand(3), "empty": torch.empty(0, 2),
                "parameter": torch.nn.Parameter(matrix), "number": torch.tensor(7)},
               folder / "views.pth")
    model = net()
    torch.save(model.state_dict(), folder / "net.pth")
    torch.save({"model": model.state_dict(), "epoch": 3, "loss": 0.5, "best": None, "done": True,
                "name": "层", "sizes": model.fc.weight.size(), "betas": (0.9, 0.999),
                "history": [1, -70000, 2**40]}, folder / "nested.pth")
    torch.save(net(), folder / "module.pth")
    scripted = torch.jit.script(net())
    scripted.save(str(folder / "scripted.pt"))
    torch.save(scripted.state_dict(), folder / "scripted.pth")
    traced = torch.jit.trace(torch.nn.Linear(2, 3), torch.ones(1, 2))
    traced.save(str(folder / "traced.pt"))
    torch.save(traced.state_dict(), folder / "traced.pth")
    torch.save(tensors, folder / "legacy.pth", _use_new_zipfile_serialization=False)
    z = torch.tensor([1 + 2j, -1j], dtype=torch.complex64)
    torch.save({"z": z, "conj": z.conj()}, folder / "complex.pth")
    torch.save(z.conj().imag, folder / "imag.pth")  # in one file, PyTorch 1.13 refuses views of two dtypes
    # PyTorch 1.13 does not save the lazy bits of conj() and imag.
    torch.save({"conj": torch.load(folder / "complex.pth")["conj"].resolve_conj(),
                "imag": torch.load(folder / "imag.pth").resolve_neg()}, folder / "resolved.pth")
    for name, _ in optimizers([parameter()]):
        if name in NUMBERS:
            torch.set_default_dtype(torch.float64)
        p = parameter()
        optimizer = dict(optimizers([p]))[name]
        step(optimizer, p)
        torch.save({"model": {"p": p.detach().clone()}, "optimizer": optimizer.state_dict()},
                   folder / f"{name}.pth")
        torch.save(optimizer.state_dict(), folder / f"{name}_alone.pth")
        step(optimizer, p)
        torch.save({"p": p.detach()}, folder / f"{name}_next.pth")
        torch.set_default_dtype(torch.float32)
    write_lacking(folder)
    write_schedules(folder)


def load(path, floats=False):
    if floats and VERSION < (2, 0):  # its weights_only cannot read a float
        return torch.load(path)
    if VERSION >= (2, 1):
        torch.load(path, weights_only=True, mmap=True)
    return torch.load(path, weights_only=True)


def read(folder):
    tensors = load(folder / "dtypes.pth")
    assert type(tensors) is OrderedDict and list(tensors) == DTYPES
    for name, t in tensors.items():
        assert t.dtype == getattr(torch, name) and torch.equal(t, values(name)), name
    views = load(folder / "views.pth")
    assert views["t"].stride() == (1, 4) and torch.equal(views["t"], torch.arange(12.0).view(3, 4).t())
    views["all"].fill_(7)
    assert views["t"].eq(7).all() and views["row"].eq(7).all()
    assert views["empty"].shape == (0, 2) and views["number"].item() == 7
    nested = load(folder / "nested.pth", floats=True)
    assert type(nested) is dict and type(nested["model"]) is OrderedDict
    assert nested["epoch"] == 3 and nested["loss"] == 0.5 and nested["name"] == "层"
    assert nested["best"] is None and nested["done"] is True
    assert nested["ints"] == [0, 255, 256, -1, 2**31, -(2**31), -(2**63), 2**63 - 1]
    assert nested["betas"] == (0.9, 0.999) and nested[7] == {}
    net().load_state_dict(load(folder / "net.pth"), strict=True)
    archive = torch.jit.load(str(folder / "archive.pt"))
    for name, t in load(folder / "net.pth").items():
        assert torch.equal(archive.state_dict()[name], t), name
    assert archive.epoch == 3


def continue_training(folder):
    for name, _ in optimizers([parameter()]):
        p = parameter()
        checkpoint = load(folder / f"{name}.pth", floats=True)
        optimizer = dict(optimizers([p]))[name]
        for group in optimizer.param_groups:
            group["lr"] = 1e3  # the checkpoint replaces it
        optimizer.load_state_dict(checkpoint["optimizer"])
        p.data.copy_(checkpoint["model"]["p"])
        step(optimizer, p)
        torch.save({"p": p.detach()}, folder / f"{name}_next.pth")


if __name__ == "__main__":
    {"write": write, "read": read, "continue": continue_training,
     "schedule": go_on_with_schedules}[sys.argv[1]](Path(sys.argv[2]))
