// What ambit lacks: bindings for Python.
#pragma once

#error "ambit has no Python: programs include <torch/torch.h>"
