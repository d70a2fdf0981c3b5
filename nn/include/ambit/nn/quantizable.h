// Modules whose weights may become int8.
#pragma once

#include <ambit/tensor.h>

#include <string>
#include <vector>

namespace ambit::nn {

/// A parameter, a matrix [N,K], and the factors of its rows [N], which are undefined while it is
/// not int8.
struct QuantizableWeight {
  std::string name;
  Tensor &weight, &scale;  // members of the module
};

/// What a module also is whose forward() multiplies by int8 weights (linear_int8) where there are
/// factors.
class AMBIT_API Quantizable {
 public:
  virtual ~Quantizable() = default;
  /// Return what quantize_dynamic() (quantize.h) makes int8 of this module, without those below it.
  virtual std::vector<QuantizableWeight> quantizable_weights() = 0;
};

}  // namespace ambit::nn
