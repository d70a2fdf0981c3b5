// What ambit lacks: TorchScript. A program that includes this runs models that Python has traced.
#pragma once

#error \
    "ambit runs no TorchScript: write the module in C++, save its state_dict() in Python, and read it with load_checkpoint() of <ambit/checkpoint.h>"
