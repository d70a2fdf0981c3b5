// Tensors and their functions.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/TensorIndexing.h>
#include <ambit/ambit.h>
#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <c10/util/Optional.h>
#include <c10/util/accumulate.h>
#include <c10/util/irange.h>
#include <c10/util/string_view.h>
#include <torch/lacks.h>

namespace at {

AMBIT_TORCH_LACKS_FUNCTION(stft, "ambit has no complex tensors");
AMBIT_TORCH_LACKS_FUNCTION(istft, "ambit has no complex tensors");
AMBIT_TORCH_LACKS_FUNCTION(complex, "ambit has no complex tensors");
AMBIT_TORCH_LACKS_FUNCTION(polar, "ambit has no complex tensors");
AMBIT_TORCH_LACKS_FUNCTION(view_as_real, "ambit has no complex tensors");
AMBIT_TORCH_LACKS_FUNCTION(view_as_complex, "ambit has no complex tensors");
AMBIT_TORCH_LACKS_FUNCTION(sparse_coo_tensor, "ambit has no sparse tensors");
AMBIT_TORCH_LACKS_FUNCTION(sparse_csr_tensor, "ambit has no sparse tensors");
AMBIT_TORCH_LACKS_FUNCTION(quantize_per_tensor, "ambit has no quantised tensors");
AMBIT_TORCH_LACKS_FUNCTION(quantize_per_channel, "ambit has no quantised tensors");

}  // namespace at
