#include "broadcast.h"

#include <ambit/autograd.h>
#include <ambit/backend/alias.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace ambit {

Tensor expanded(const Tensor& t, IntArrayRef sizes) {
  const TensorImpl& impl = *t.impl();
  if (impl.sizes == sizes) return t;
  Dims strides(sizes.size(), 0);
  const size_t lead = sizes.size() - impl.sizes.size();
  for (size_t i = 0; i < impl.sizes.size(); ++i) {
    if (impl.sizes[i] == sizes[lead + i]) strides[lead + i] = impl.strides[i];
  }
  return alias(t, sizes, strides);
}

Tensor operand(const Tensor& t, IntArrayRef sizes, DType dtype, Device device) {
  if (t.dtype() == dtype && t.device() == device) return expanded(t, sizes);
  const NoGradGuard no_grad;
  return expanded(t.to(device, dtype), sizes);
}

bool broadcasts_to(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.begin(), from.end(), to.end() - from.size(),
                    [](int64_t f, int64_t t) { return f == 1 || f == t; });
}

void check_broadcasts_to(const char* op, IntArrayRef from, IntArrayRef to) {
  if (!broadcasts_to(from, to)) {
    throw ShapeError(
        fmt::format("{}: expected a shape that broadcasts to {}, got {}", op, str(to), str(from)));
  }
}

}  // namespace ambit
