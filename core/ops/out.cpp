// The _out functions: compute the result as usual, then copy it, so out may be an argument.
#include <ambit/ops/out.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/fft.h>
#include <ambit/ops/foreach.h>
#include <ambit/ops/windows.h>
#include <fmt/format.h>

#include <vector>

#include "core/autograd/overlap.h"
#include "operands/allocate.h"
#include "operands/expect.h"
#include "operands/promote.h"

namespace ambit {
namespace {

[[noreturn]] void throw_recorded(const char* op, const char* what) {
  throw AutogradError(fmt::format(
      "{}: expected tensors that do not require grad, got {} that does: no gradient flows into a "
      "given output",
      op, what));
}

void check_result(const char* op, const Tensor& out, const Tensor& result) {
  if (GradMode::is_enabled() && result.requires_grad()) throw_recorded(op, "an argument");
  if (result.device() != out.device()) {
    check_devices(op, {{"out", out}, {"result", result}}, DeviceRule::strict);
  }
  check_casts_to(op, result.dtype(), out.dtype());
}

}  // namespace

void detail::check_out(const char* op, const Tensor& out) {
  expect_defined(op, "out", out);
  if (GradMode::is_enabled() && out.requires_grad()) throw_recorded(op, "an out");
}

void detail::write_out(const char* op, Tensor& out, const Tensor& result) {
  check_result(op, out, result);
  const NoGradGuard no_grad;
  if (out.sizes() == result.sizes()) {
    out.copy_(result);
  } else {
    Tensor resized = allocate(op, result.sizes(), out.dtype(), out.device());
    kernels::copy(resized, result);
    out.set_data(resized);
  }
}

namespace {

bool share_memory(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) return true;
  const bool may = a.numel() > 0 && b.numel() > 0 && a.storage().get() == b.storage().get();
  return may && overlap(*a.impl(), *b.impl());
}

void check_apart(const char* op, ArrayRef<const Tensor*> outs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!share_memory(*outs[i], *outs[j])) continue;
      throw Error(fmt::format(
          "{}: expected outputs that share no memory, got outputs {} and {} that overlap", op, j,
          i));
    }
  }
}

}  // namespace

void detail::check_outs(const char* op, ArrayRef<const Tensor*> outs,
                        ArrayRef<const Tensor*> results) try {
  check_apart(op, outs);
  for (size_t i = 0; i < outs.size(); ++i) check_result(op, *outs[i], *results[i]);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

#define AMBIT_MAKE(name, parameters, ...)                                   \
  Tensor& name##_out parameters {                                           \
    detail::check_out(#name "_out", out);                                   \
    detail::write_out(#name "_out", out, name(__VA_ARGS__, out.options())); \
    return out;                                                             \
  }
using Stream = std::optional<Generator>;
AMBIT_MAKE(empty_strided, (Tensor & out, IntArrayRef sizes, IntArrayRef strides), sizes, strides)
AMBIT_MAKE(scalar_tensor, (Tensor & out, const Scalar& value), value)
AMBIT_MAKE(zeros, (Tensor & out, IntArrayRef sizes), sizes)
AMBIT_MAKE(ones, (Tensor & out, IntArrayRef sizes), sizes)
AMBIT_MAKE(full, (Tensor & out, IntArrayRef sizes, const Scalar& value), sizes, value)
AMBIT_MAKE(arange, (Tensor & out, const Scalar& end), end)
AMBIT_MAKE(arange, (Tensor & out, const Scalar& start, const Scalar& end, const Scalar& step),
           start, end, step)
AMBIT_MAKE(linspace, (Tensor & out, const Scalar& start, const Scalar& end, int64_t steps), start,
           end, steps)
AMBIT_MAKE(range, (Tensor & out, const Scalar& start, const Scalar& end, const Scalar& step), start,
           end, step)
AMBIT_MAKE(logspace,
           (Tensor & out, const Scalar& start, const Scalar& end, int64_t steps, double base),
           start, end, steps, base)
#define AMBIT_BETWEEN(Start, End)                                                                \
  AMBIT_MAKE(linspace, (Tensor & out, const Start& start, const End& end, int64_t steps), start, \
             end, steps)                                                                         \
  AMBIT_MAKE(logspace,                                                                           \
             (Tensor & out, const Start& start, const End& end, int64_t steps, double base),     \
             start, end, steps, base)
AMBIT_BETWEEN(Tensor, Tensor)
AMBIT_BETWEEN(Tensor, Scalar)
AMBIT_BETWEEN(Scalar, Tensor)
#undef AMBIT_BETWEEN
AMBIT_MAKE(empty_permuted, (Tensor & out, IntArrayRef sizes, IntArrayRef physical_layout), sizes,
           physical_layout)
AMBIT_MAKE(tril_indices, (Tensor & out, int64_t row, int64_t col, int64_t offset), row, col, offset)
AMBIT_MAKE(triu_indices, (Tensor & out, int64_t row, int64_t col, int64_t offset), row, col, offset)
AMBIT_MAKE(eye, (Tensor & out, int64_t n), n)
AMBIT_MAKE(eye, (Tensor & out, int64_t n, int64_t m), n, m)
AMBIT_MAKE(rand, (Tensor & out, IntArrayRef sizes, const Stream& generator), sizes, generator)
AMBIT_MAKE(randn, (Tensor & out, IntArrayRef sizes, const Stream& generator), sizes, generator)
AMBIT_MAKE(randint, (Tensor & out, int64_t high, IntArrayRef sizes, const Stream& generator), high,
           sizes, generator)
AMBIT_MAKE(randint,
           (Tensor & out, int64_t low, int64_t high, IntArrayRef sizes, const Stream& generator),
           low, high, sizes, generator)
AMBIT_MAKE(randperm, (Tensor & out, int64_t n, const Stream& generator), n, generator)
AMBIT_MAKE(bartlett_window, (Tensor & out, int64_t n, bool periodic), n, periodic)
AMBIT_MAKE(blackman_window, (Tensor & out, int64_t n, bool periodic), n, periodic)
AMBIT_MAKE(hann_window, (Tensor & out, int64_t n, bool periodic), n, periodic)
AMBIT_MAKE(hamming_window, (Tensor & out, int64_t n, bool periodic, double alpha, double beta), n,
           periodic, alpha, beta)
AMBIT_MAKE(kaiser_window, (Tensor & out, int64_t n, bool periodic, double beta), n, periodic, beta)
AMBIT_MAKE(fft_fftfreq, (Tensor & out, int64_t n, double d), n, d)
AMBIT_MAKE(fft_rfftfreq, (Tensor & out, int64_t n, double d), n, d)
#undef AMBIT_MAKE

Tensor& empty_out(Tensor& out, IntArrayRef sizes, std::optional<MemoryFormat> format) {
  detail::check_out("empty_out", out);
  return out.resize_(sizes, format);
}

void detail::write_parts(const char* op, TensorList out, const std::vector<Tensor>& parts) {
  if (out.size() != parts.size()) {
    throw Error(
        fmt::format("{}: expected {} tensors in out, got {}", op, parts.size(), out.size()));
  }
  for (const Tensor& t : out) detail::check_out(op, t);
  typed_memory_errors(op, [&] {
    std::vector<const Tensor*> outs, results;
    for (size_t i = 0; i < parts.size(); ++i) {
      outs.push_back(&out[i]);
      results.push_back(&parts[i]);
    }
    detail::check_outs(op, outs, results);
  });
  for (size_t i = 0; i < parts.size(); ++i) {
    Tensor t = out[i];
    detail::write_out(op, t, parts[i]);
  }
}

void unsafe_split_out(TensorList out, const Tensor& self, int64_t split_size, int64_t dim) {
  detail::write_parts("unsafe_split_out", out, unsafe_split(self, split_size, dim));
}
void unsafe_split_with_sizes_out(TensorList out, const Tensor& self, IntArrayRef split_sizes,
                                 int64_t dim) {
  detail::write_parts("unsafe_split_with_sizes_out", out,
                      unsafe_split_with_sizes(self, split_sizes, dim));
}

}  // namespace ambit
