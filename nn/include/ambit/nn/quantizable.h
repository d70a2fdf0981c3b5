// Interface of modules whose weights can be int8.
#pragma once

#include <ambit/tensor.h>

#include <string>
#include <vector>

namespace ambit::nn {

/// A parameter, a matrix [N,K], and the scales of its rows [N], which are undefined unless the
/// matrix is int8.
struct QuantizableWeight {
  std::string name;  ///< name of the parameter, such as "weight"
  Tensor& weight;    ///< the member of the module
  Tensor& scale;     ///< the member for the scales
};

/// Interface of a module whose forward() multiplies by int8 weights (linear_int8) if scales are
/// defined.
class AMBIT_API Quantizable {
 public:
  virtual ~Quantizable() = default;
  /// Return the weights of this module, without its submodules, that quantize_dynamic()
  /// (quantize.h) converts to int8.
  virtual std::vector<QuantizableWeight> quantizable_weights() = 0;
};

}  // namespace ambit::nn
