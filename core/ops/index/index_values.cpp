// Checks of index values on the host, each distinct element once.
#include "index_values.h"

#include <ambit/backend/alias.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/host_values.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {

void throw_index(const char* op, int64_t low, int64_t high, int64_t dim, int64_t got) {
  throw IndexError(
      fmt::format("{}: expected an index in [{}, {}) for dim {}, got {}", op, low, high, dim, got));
}

void check_index_values(const char* op, const Tensor& index, int64_t low, int64_t high,
                        int64_t dim) {
  if (!index.is_cpu()) {
    const Tensor values = host_values(index);
    if (values.defined()) check_index_values(op, values, low, high, dim);
    return;
  }
  Dims sizes(index.sizes());  // without broadcast repetitions
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (index.strides()[i] == 0) sizes[i] = std::min<int64_t>(sizes[i], 1);
  }
  const Tensor packed = dense(alias(index, sizes, index.strides()));
  const auto* p = packed.data_ptr<const int64_t>();
  for (int64_t i = 0, n = packed.numel(); i < n; ++i) {
    if (p[i] < low || p[i] >= high) [[unlikely]]
      throw_index(op, low, high, dim, p[i]);
  }
}

}  // namespace ambit
