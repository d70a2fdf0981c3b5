// What ambit lacks: extensions of Python.
#pragma once

#error "ambit has no Python: programs include <torch/torch.h>"
