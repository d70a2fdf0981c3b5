// Not supported by ambit: Python bindings.
#pragma once

#error "ambit has no Python: programs include <torch/torch.h>"
