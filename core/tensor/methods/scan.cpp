// The methods of Tensor that are the functions of ops/scan.h.
#include <ambit/ops/scan.h>

#include "core/tensor/methods/written.h"

namespace ambit {

Tensor Tensor::cumsum(int64_t dim, std::optional<DType> dtype) const {
  return ambit::cumsum(*this, dim, dtype);
}

}  // namespace ambit
