// Not supported by ambit: nested tensors.
#pragma once

#include <torch/lacks.h>

namespace torch::nested {

AMBIT_TORCH_LACKS_FUNCTION(nested_tensor, "ambit has no nested tensors");
AMBIT_TORCH_LACKS_FUNCTION(as_nested_tensor, "ambit has no nested tensors");
AMBIT_TORCH_LACKS_FUNCTION(to_padded_tensor, "ambit has no nested tensors");

}  // namespace torch::nested
