// Not supported by ambit: Python extensions.
#pragma once

#error "ambit has no Python: programs include <torch/torch.h>"
