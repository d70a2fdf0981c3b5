// Outputs, operands and gradients across broadcasting; see the header.
#include "broadcast.h"

#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "raw.h"

namespace ambit {

Tensor allocate(const char* op, IntArrayRef sizes, DType dtype, Device device) {
  const int64_t numel = count(op, sizes);
  const auto n = static_cast<size_t>(numel);
  const size_t size = element_size(dtype);
  if (n > std::numeric_limits<int64_t>::max() / size) [[unlikely]] {
    throw ShapeError(fmt::format("{}: expected less than 2^63 bytes, got {} elements of {}", op, n,
                                 name(dtype)));
  }
  Storage storage(new StorageImpl(device, n * size));
  return Tensor(intrusive_ptr<TensorImpl>(new TensorImpl(std::move(storage), sizes, numel, dtype)));
}

TensorOptions options_like(const Tensor& self, const TensorOptions& options) {
  return TensorOptions(options.has_dtype() ? options.dtype() : self.dtype())
      .device(options.has_device() ? options.device() : self.device())
      .requires_grad(options.requires_grad());
}

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
  return expanded(to(t, device, dtype), sizes);
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

Tensor scalar_on(const Scalar& value, DType dtype, Device device, IntArrayRef sizes) {
  Storage storage(new StorageImpl(device, element_size(dtype)));
  const auto with_sizes = [&](IntArrayRef s) {
    return Tensor(
        intrusive_ptr<TensorImpl>(new TensorImpl(storage, s, Dims(s.size(), 0), 0, dtype)));
  };
  if (device.is_cpu()) {  // nothing to queue: write it here
    visit(dtype, [&]<class T>() { *static_cast<T*>(storage->data()) = value.to<T>(); });
    return with_sizes(sizes);
  }
  Tensor one = with_sizes({});
  kernels::fill(one, value);
  return sizes.empty() ? one : with_sizes(sizes);
}

namespace {

template <class T>
bool fits(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double>) {
    return true;
  } else if constexpr (std::is_same_v<T, float>) {
    const double x = value.to<double>();
    return !std::isfinite(x) || std::abs(x) <= Limits::max();
  } else if (value.is_floating_point()) {
    // What truncates into the range; NaN fails both comparisons. 2^63 itself is out of int64.
    const double x = value.to<double>();
    return x > static_cast<double>(Limits::min()) - 1 && x < static_cast<double>(Limits::max()) + 1;
  } else {
    const auto x = value.to<int64_t>();
    const auto max = static_cast<int64_t>(Limits::max());
    return x <= max && x >= (Limits::is_signed ? static_cast<int64_t>(Limits::min()) : -max);
  }
}

}  // namespace

void check_fits(const char* op, const Scalar& value, DType dtype) {
  if (visit(dtype, [&]<class T>() { return fits<T>(value); })) [[likely]]
    return;
  throw DTypeError(fmt::format("{}: expected a number that fits {}, got {}", op, name(dtype),
                               value.is_floating_point() ? fmt::format("{}", value.to<double>())
                                                         : fmt::format("{}", value.to<int64_t>())));
}

Tensor sum_to(const Tensor& g, IntArrayRef sizes) {
  if (g.sizes() == sizes) return g;
  const size_t lead = g.sizes().size() - sizes.size();
  Dims dims;
  for (size_t i = 0; i < g.sizes().size(); ++i) {
    if (i < lead || (sizes[i - lead] == 1 && g.sizes()[i] != 1)) {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  // A view only where some of the dims stay and some go: a gradient that is nobody's alias can
  // become a .grad without a copy.
  if (dims.size() == lead) return sum(g, dims);
  const Tensor kept = sum(g, dims, /*keepdim=*/true);
  return lead == 0 ? kept : view(kept, sizes);
}

Tensor BackTo::operator()(const Tensor& g) const {
  if (g.sizes() == sizes_) return to(g, device_, dtype_);
  return to(sum_to(g, sizes_), device_, dtype_);
}

Tensor ZerosLike::operator()(const Tensor&) const { return zeros(sizes_, options_); }

}  // namespace ambit
