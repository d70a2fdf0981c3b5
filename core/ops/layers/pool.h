// Code shared by the pooling functions, for one to three spatial dims.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit::pooling {

/// An input in the kernels' form, [N,C,in...] with `dims` spatial dims.
struct Images {
  /// Errors: Error, DTypeError unless floating-point or `integers`, ShapeError for an input that is
  /// neither [N,C,in...] nor [C,in...].
  Images(const char* op, const Tensor& input, size_t dims, bool integers = false);
  /// Remove N from a result if the input had none.
  Tensor like_input(const Tensor& t) const;

  Tensor batch;
  bool had_no_batch;
};

/// Maximum pooling to y's sizes; also the positions, undefined unless with_index. Recorded.
std::pair<Tensor, Tensor> max(const char* op, const Tensor& x, IntArrayRef y, const PoolParams& p,
                              bool with_index);
/// As above for integers x, composed of ops; only for plain windows, not for adaptive ones.
std::pair<Tensor, Tensor> max_of_integers(const char* op, const Tensor& x, IntArrayRef y,
                                          const PoolParams& p);
/// Average pooling to y's sizes; means of int64 are truncated. Recorded.
Tensor mean(const char* op, const Tensor& x, IntArrayRef y, const PoolParams& p);

}  // namespace ambit::pooling
