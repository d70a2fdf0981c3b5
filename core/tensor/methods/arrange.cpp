// Tensor methods that call the functions of ops/arrange.h.
#include <ambit/ops/arrange.h>

#include "core/tensor/methods/written.h"

namespace ambit {

Tensor Tensor::roll(IntArrayRef shifts, IntArrayRef dims) const {
  return ambit::roll(*this, shifts, dims);
}
Tensor Tensor::rot90(int64_t k, IntArrayRef dims) const { return ambit::rot90(*this, k, dims); }
Tensor Tensor::fliplr() const { return ambit::fliplr(*this); }
Tensor Tensor::flipud() const { return ambit::flipud(*this); }
Tensor Tensor::repeat_interleave(const Tensor& repeats, std::optional<int64_t> dim,
                                 std::optional<int64_t> output_size) const {
  return ambit::repeat_interleave(*this, repeats, dim, output_size);
}
Tensor Tensor::repeat_interleave(int64_t repeats, std::optional<int64_t> dim,
                                 std::optional<int64_t> output_size) const {
  return ambit::repeat_interleave(*this, repeats, dim, output_size);
}
Tensor Tensor::tile(IntArrayRef dims) const { return ambit::tile(*this, dims); }
Tensor Tensor::narrow_copy(int64_t dim, int64_t start, int64_t length) const {
  return ambit::narrow_copy(*this, dim, start, length);
}
Tensor Tensor::diag(int64_t diagonal) const { return ambit::diag(*this, diagonal); }
Tensor Tensor::diag_embed(int64_t offset, int64_t dim1, int64_t dim2) const {
  return ambit::diag_embed(*this, offset, dim1, dim2);
}
Tensor Tensor::diagflat(int64_t offset) const { return ambit::diagflat(*this, offset); }
Tensor Tensor::tril(int64_t diagonal) const { return ambit::tril(*this, diagonal); }
Tensor& Tensor::tril_(int64_t diagonal) const { return written(ambit::tril_(*this, diagonal)); }
Tensor Tensor::triu(int64_t diagonal) const { return ambit::triu(*this, diagonal); }
Tensor& Tensor::triu_(int64_t diagonal) const { return written(ambit::triu_(*this, diagonal)); }

}  // namespace ambit
