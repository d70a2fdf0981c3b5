"""Record PyTorch's GradScaler with gradients of which some overflow: prints grad_scaler_torch.txt, which
grad_scaler_torch_test.cpp repeats. Two parameters, each with its optimizer; 9 digits are a float32.
run:  init_scale growth_factor backoff_factor growth_interval
step: gradient of each, if the first is unscaled before, a new scale or 0; then scale, growth tracker, parameters
load: a new scaler with the state_dict() of the old one"""
import math
import random

import torch

random.seed(1)
RUNS = [(4.0, 2.0, 0.5, 3), (65536.0, 2.0, 0.5, 2), (1000.0, 1.7, 0.3, 1), (2.0**125, 2.0, 0.25, 1)]
STEPS = 40


def gradient(scale):
    kind = random.random()
    if kind < 0.12:
        return random.choice([math.inf, -math.inf, math.nan])
    if kind < 0.18:
        return 3e38 if scale > 2 else 1.0  # overflows once it is scaled
    return random.gauss(0, 1) / max(1.0, scale / 2**100)


def number(x):
    return f"{x:.9g}"


def in_float32(x):
    return torch.tensor(x).item()


print(f"# grad_scaler_torch.py, PyTorch {torch.__version__.split('+')[0]}")
for init, growth, backoff, interval in RUNS:
    scaler = torch.amp.GradScaler("cpu", init, growth, backoff, interval)
    print("run", number(init), number(growth), number(backoff), interval)
    parameters = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    optimizers = [torch.optim.SGD([p], lr=1.0) for p in parameters]
    for step in range(STEPS):
        gradients = [in_float32(gradient(scaler.get_scale())) for _ in range(2)]
        unscales = random.random() < 0.3
        new_scale = random.choice([8.0, 3.0]) if random.random() < 0.05 else 0.0
        for p, optimizer, g in zip(parameters, optimizers, gradients):
            optimizer.zero_grad()
            scaler.scale((p * g).sum()).backward()
        if unscales:
            scaler.unscale_(optimizers[0])
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update(new_scale or None)
        state = scaler.state_dict()
        print("step", *map(number, gradients), int(unscales), number(new_scale), number(state["scale"]),
              state["_growth_tracker"], *(number(p.item()) for p in parameters))
        if step % 15 == 14:
            scaler = torch.amp.GradScaler("cpu")
            scaler.load_state_dict(state)
            print("load")
