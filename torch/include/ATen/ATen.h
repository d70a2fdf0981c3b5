// Tensors and their functions.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/TensorIndexing.h>
#include <ATen/core/DeprecatedTypeProperties.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/ivalue.h>
#include <ambit/ambit.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <c10/util/Optional.h>
#include <c10/util/accumulate.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/irange.h>
#include <c10/util/string_view.h>
#include <torch/lacks.h>

#include <iostream>

namespace at {

#define AMBIT_TORCH_SPARSE(name) AMBIT_TORCH_LACKS_FUNCTION(name, "ambit has no sparse tensors");
AMBIT_TORCH_SPARSE(sparse_coo_tensor)
AMBIT_TORCH_SPARSE(sparse_csr_tensor)
AMBIT_TORCH_SPARSE(sparse_csc_tensor)
AMBIT_TORCH_SPARSE(sparse_compressed_tensor)
AMBIT_TORCH_SPARSE(hspmm)
AMBIT_TORCH_SPARSE(smm)
AMBIT_TORCH_SPARSE(sspaddmm)
#undef AMBIT_TORCH_SPARSE
#define AMBIT_TORCH_QUANTISED(name) \
  AMBIT_TORCH_LACKS_FUNCTION(name, "ambit has no quantised tensors");
AMBIT_TORCH_QUANTISED(quantize_per_tensor)
AMBIT_TORCH_QUANTISED(quantize_per_channel)
AMBIT_TORCH_QUANTISED(dequantize)
#undef AMBIT_TORCH_QUANTISED
AMBIT_TORCH_LACKS_FUNCTION(align_tensors, "ambit has no named tensors");

/// Print a tensor like <<; the line width is ignored.
inline std::ostream& print(std::ostream& os, const ambit::Tensor& t, int64_t = 80) {
  return os << t;
}
inline void print(const ambit::Tensor& t, int64_t linesize = 80) { print(std::cout, t, linesize); }

inline ambit::Tensor _unsafe_view(const ambit::Tensor& self, IntArrayRef size) {
  return self.view(size);
}

}  // namespace at
