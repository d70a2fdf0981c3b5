// Not supported by ambit: torch::sparse.
#pragma once

#include <torch/lacks.h>

namespace torch::sparse {

AMBIT_TORCH_LACKS_FUNCTION(sum, "ambit has no sparse tensors");
AMBIT_TORCH_LACKS_FUNCTION(mm, "ambit has no sparse tensors");
AMBIT_TORCH_LACKS_FUNCTION(sampled_addmm, "ambit has no sparse tensors");

}  // namespace torch::sparse
