#include "kernels.h"

#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/reference.h>
#include <ambit/ops/creation.h>
#include <ambit/settings.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

#include "backends/sim/launch.h"
#include "bug.h"

namespace planted {
namespace {

using namespace ambit;

// Return a contiguous copy of t in ordinary host memory.
Tensor packed_copy(const Tensor& t) {
  Tensor copy = empty(t.sizes(), t.dtype());
  reference::copy(copy, t);
  return copy;
}

void copy(Tensor& y, const Tensor& x) {
  if (has("ignored_offset")) return reference::copy(y, alias(x, x.sizes(), x.strides(), 0));
  if (has("cut_to_bool") && y.dtype() == kBool && x.dtype() != kBool) {
    Tensor whole = empty(x.sizes(), kInt64);
    reference::copy(whole, x);
    return reference::copy(y, whole);
  }
  reference::copy(y, x);
}

void fill(Tensor& y, const Scalar& value) {
  reference::fill(y, value);
  if (!has("written_past_end") || !y.is_contiguous() || y.numel() == 0) return;
  Tensor next = alias(y, {1}, {1}, y.storage_offset() + y.numel());
  reference::fill(next, value);
}

// The fill is queued with a reference to the value, which belongs to the caller and is destroyed
// before the fill runs.
void fill_later(Tensor& y, const Scalar& value) {
  sim::device_of(y).launch("fill",
                           [to = sim::late(y), &value]() mutable { reference::fill(to, value); });
}

void random(Tensor& y, const RandomParams& p) {
  RandomParams used = p;
  if (has("ignored_seed_bits")) used.seed &= 0xffffffff;
  if (has("ignored_counter")) used.offset = 0;
  reference::random(y, used);
}

void unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  const int64_t n = x.numel() / 4 * 4;
  if (!has("dropped_tail") || n == 0 || !x.is_contiguous() || !y.is_contiguous()) {
    return reference::unary(y, x, op);
  }
  Tensor whole_vectors = alias(y, {n});
  reference::unary(whole_vectors, alias(x, {n}), op);
}

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  if (has("ignored_strides")) {
    const Tensor packed = alias(b, b.sizes());
    return reference::binary(y, a, packed, op);
  }
  if (has("cleared_alias")) reference::fill(y, 0);
  reference::binary(y, a, b, op);
}

void reduce(Tensor& y, const Tensor& x, const ReduceOp& op) {
  if (has("narrow_sum") && op == ReduceOp::sum && y.dtype() == kInt64) {
    reference::reduce(y, x, op);
    for (int64_t i = 0; i < y.numel(); ++i) {
      y.data_ptr<int64_t>()[i] = static_cast<int32_t>(y.data_ptr<int64_t>()[i]);
    }
  } else if (has("lost_nan") && op == ReduceOp::max && is_floating_point(x.dtype())) {
    const Tensor values = packed_copy(x);
    visit(x.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < x.numel(); ++i) {
        T& value = values.data_ptr<T>()[i];
        if constexpr (std::is_floating_point_v<T>) {
          if (std::isnan(value)) value = -INFINITY;
        }
      }
    });
    reference::reduce(y, values, op);
  } else {
    reference::reduce(y, x, op);
  }
}

void arg_reduce(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  reference::arg_reduce(value, index, x, dim, largest);
  if (!has("last_of_equals") || x.numel() == 0) return;
  // The loop begins at the end, so it finds the last of equal elements first.
  Tensor reversed = empty(x.sizes(), x.dtype());
  const int64_t n = x.size(dim);
  for (int64_t i = 0; i < n; ++i) {
    Tensor to = reversed.select(dim, i);
    reference::copy(to, x.select(dim, n - 1 - i));
  }
  reference::arg_reduce(value, index, reversed, dim, largest);
  int64_t* positions = index.data_ptr<int64_t>();
  for (int64_t i = 0; i < index.numel(); ++i) positions[i] = n - 1 - positions[i];
}

void scan(Tensor& y, const Tensor& x, const ScanParams& p, const ScanOp& op) {
  if (has("exit")) _exit(0);
  reference::scan(y, x, p, op);
  if (has("modified_input")) {
    Tensor scratch = x;
    reference::copy(scratch, y);
  }
}

void gather(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  if (!has("clamped_index") || x.size(dim) == 0) return reference::gather(y, x, index, dim);
  const Tensor clamped = packed_copy(index);
  for (int64_t i = 0; i < clamped.numel(); ++i) {
    int64_t& at = clamped.data_ptr<int64_t>()[i];
    at = std::clamp<int64_t>(at, 0, x.size(dim) - 1);
  }
  reference::gather(y, x, clamped, dim);
}

// Two threads read an element before either writes it.
void scatter_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  const bool loses = has("lost_update") || (has("lost_update_in_order") && is_deterministic());
  if (!loses) return reference::scatter_add(y, index, src, dim);
  Tensor before = empty(src.sizes(), y.dtype());
  reference::gather(before, y, index, dim);
  Tensor sum = empty(src.sizes(), y.dtype());
  reference::binary(sum, before, src, BinaryOp::add);
  reference::scatter(y, index, sum, dim);
}

// If several elements have the same position, the last or the first is kept, depending on the run.
void scatter(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  static int calls = 0;
  reference::scatter(y, index, src, dim);
  if (!has("changing_winner") || ++calls % 2 == 0 || index.dim() == 0) return;
  for (int64_t i = index.size(dim); i-- > 0;) {
    reference::scatter(y, index.slice(dim, i, i + 1), src.slice(dim, i, i + 1), dim);
  }
}

void nonzero(Tensor& y, const Tensor& x) {
  if (has("foreign_exception")) throw 42;
  reference::nonzero(y, x);
}

// Round to TF32, which has 10 bits of precision.
Tensor shortened(const Tensor& x) {
  const Tensor t = packed_copy(x);
  for (int64_t i = 0; i < t.numel(); ++i) {
    float& value = t.data_ptr<float>()[i];
    value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) & ~uint32_t{0x1fff});
  }
  return t;
}

void matmul(Tensor& y, const Tensor& a, const Tensor& b) {
  while (has("hang")) pause();
  if (has("short_mantissa") && a.dtype() == kFloat32) {
    return reference::matmul(y, shortened(a), shortened(b));
  }
  reference::matmul(y, a, b);
}

void convolution(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                 const ConvParams& p) {
  if (has("crash")) std::abort();
  ConvParams used = p;
  if (has("swapped_stride")) std::swap(used.stride[0], used.stride[1]);
  reference::convolution(y, x, w, b, used);
}

void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams& p) {
  reference::max_pool_grad(dx, dy, index, p);
  if (!has("overwritten_gradient")) return;
  const int64_t plane = dx.size(2) * dx.size(3), windows = dy.size(2) * dy.size(3);
  visit(dx.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < dy.numel(); ++i) {
      const int64_t at = i / windows * plane + index.data_ptr<int32_t>()[i];
      dx.data_ptr<T>()[at] = dy.data_ptr<T>()[i];
    }
  });
}

void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  const bool forgets = has("forgotten_parameter") && p.size() > 1;
  reference::sgd_step({p.data(), p.size() - forgets}, buf, g, params);
}

}  // namespace

bool has(std::string_view bug) {
  static const char* chosen = std::getenv("AMBIT_PLANTED_BUG");
  return chosen && bug == chosen;
}

// Kernels that have a planted bug, and otherwise the minimal set of a backend.
void add_kernels(Registry& registry) {
  std::set<const OpBase*> added;
#define AMBIT_PLANT(name)                             \
  if (added.insert(&kernels::name).second) {          \
    sim::add<kernels::name, planted::name>(registry); \
  }
  if (has("late_parameter")) {
    registry.add(kernels::fill, fill_later);
    added.insert(&kernels::fill);
  }
  if (has("host_pointer_read")) {
    registry.add(kernels::where, reference::where);
    added.insert(&kernels::where);
  }
  AMBIT_PLANT(copy)
  AMBIT_PLANT(fill)
  AMBIT_PLANT(random)
  AMBIT_PLANT(unary)
  AMBIT_PLANT(binary)
  AMBIT_PLANT(reduce)
  AMBIT_PLANT(arg_reduce)
  AMBIT_PLANT(scan)
  AMBIT_PLANT(gather)
  AMBIT_PLANT(scatter)
  AMBIT_PLANT(scatter_add)
  AMBIT_PLANT(nonzero)
  AMBIT_PLANT(matmul)
  AMBIT_PLANT(convolution)
  AMBIT_PLANT(max_pool_grad)
  AMBIT_PLANT(sgd_step)  // it has a composite, but accepts lists of tensors
#undef AMBIT_PLANT
#define AMBIT_BORROW(name)                                                     \
  if (!kernels::name.has_composite() && added.insert(&kernels::name).second) { \
    sim::add<kernels::name, reference::name>(registry);                        \
  }
  AMBIT_KERNELS(AMBIT_BORROW)
#undef AMBIT_BORROW
}

}  // namespace planted
