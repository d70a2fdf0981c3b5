#include "compare.h"

#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "bound.h"

namespace ambit::shadow {
namespace {

using Positions = std::vector<int64_t>;

std::string place(const Operand& o, int64_t i) {
  const IntArrayRef sizes = o.tensor.sizes();
  Dims index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) index[d] = i % sizes[d];
  return o.name + str(index);
}

template <class T>
std::string number(T x) {
  if constexpr (std::is_integral_v<T>) {
    return fmt::format("{}", static_cast<int64_t>(x));
  } else {
    return fmt::format("{:.{}g}", static_cast<double>(x), std::numeric_limits<T>::max_digits10);
  }
}

template <class T>
std::optional<std::string> values_beyond(const Operand& o, const Bound& bound) {
  const T* got = reinterpret_cast<const T*>(o.results());
  const T* expected = reinterpret_cast<const T*>(o.expected.data() + o.window.first);
  const Positions positions = o.positions();
  int64_t count = 0, first = 0;
  double largest = 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    const double absolute = bound.absolute + (bound.each.empty() ? 0 : bound.each[i]);
    const double error =
        error_in_bounds(got[positions[i]], expected[positions[i]], bound.ulps, absolute);
    largest = std::max(largest, error);
    if (error <= 1) continue;
    if (count++ == 0) first = static_cast<int64_t>(i);
  }
  if (count == 0) return {};
  const int64_t at = positions[static_cast<size_t>(first)];
  const double absolute =
      bound.absolute + (bound.each.empty() ? 0 : bound.each[static_cast<size_t>(first)]);
  std::string text =
      fmt::format("{}: expected {}, got {}; {} of {} elements differ", place(o, first),
                  number(expected[at]), number(got[at]), count, positions.size());
  if (std::isfinite(largest)) {
    text += fmt::format(", by up to {:.3g} times the bound", largest);
  }
  text += fmt::format("\n  bound      {:g} ulp + {:g}", bound.ulps, absolute);
  return text;
}

// For duplicate indices any of the values may be written.
std::optional<std::string> wrongly_scattered(const Call& call) {
  const Operand &y = call.operand(0), &index = call.operand(1), &src = call.operand(2);
  const auto dim = call.parameter<int64_t>(0);
  const size_t size = element_size(y.dtype());
  const Positions to = y.positions(), from = src.positions();
  std::vector<bool> is_target(to.size()), is_right(to.size());
  const std::vector<double> indices = index.values_before();
  const Dims strides = contiguous_strides(y.tensor.sizes());
  Dims at(static_cast<size_t>(index.tensor.dim()));
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t element = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      element +=
          strides[d] * (static_cast<int64_t>(d) == dim ? static_cast<int64_t>(indices[i]) : at[d]);
    }
    const auto e = static_cast<size_t>(element);
    is_target[e] = true;
    const std::byte* got = y.results() + static_cast<size_t>(to[e]) * size;
    const std::byte* value =
        src.before.data() + src.window.first + static_cast<size_t>(from[i]) * size;
    if (std::memcmp(got, value, size) == 0) is_right[e] = true;
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < index.size(static_cast<int64_t>(d))) break;
      at[d] = 0;
    }
  }
  for (size_t e = 0; e < to.size(); ++e) {
    const size_t position = y.window.first + static_cast<size_t>(to[e]) * size;
    const bool is_kept = std::memcmp(&y.after[position], &y.before[position], size) == 0;
    if (is_target[e] ? is_right[e] : is_kept) continue;
    return fmt::format("{}: expected {}", place(y, static_cast<int64_t>(e)),
                       is_target[e] ? "one of the values of src for this element, got another"
                                    : "it unchanged, since no index refers to it");
  }
  return {};
}

// Return for each byte of an operand's window whether the call may write it.
std::vector<bool> writable(const Call& call, const Operand& in) {
  std::vector<bool> bytes(in.before.size());
  for (const Argument& a : call.arguments()) {
    for (const Operand& o : a.operands) {
      if (!o.is_defined() || !o.is_written() || o.tensor.storage() != in.tensor.storage()) continue;
      const size_t size = element_size(o.dtype()), first = o.window.begin + o.window.first;
      for (const int64_t at : o.positions()) {
        const size_t begin = first + static_cast<size_t>(at) * size;
        for (size_t i = begin; i < begin + size; ++i) {
          if (i >= in.window.begin && i < in.window.end) bytes[i - in.window.begin] = true;
        }
      }
    }
  }
  return bytes;
}

std::optional<std::string> broken_guard(const Operand& o) {
  const size_t end = o.after.size() - kGuardBytes;
  for (size_t i = 0; i < o.after.size(); ++i) {
    if ((i >= kGuardBytes && i < end) || o.after[i] == kGuardByte) continue;
    return i < kGuardBytes ? fmt::format("{}: the kernel wrote {} bytes before its first element",
                                         o.name, kGuardBytes - i)
                           : fmt::format("{}: the kernel wrote {} bytes after its last element",
                                         o.name, i - end);
  }
  return {};
}

std::optional<std::string> write_outside(const Call& call, const Operand& o) {
  if (o.guarded.defined()) return broken_guard(o);
  if (o.before.empty() || o.before == o.after) return {};
  const std::vector<bool> may_change = writable(call, o);
  for (size_t i = 0; i < o.before.size(); ++i) {
    if (o.before[i] == o.after[i] || may_change[i]) continue;
    if (!o.is_written()) {
      return fmt::format("{}: the kernel changed its input, from byte {} on", o.name, i);
    }
    const auto distance = static_cast<int64_t>(i) - static_cast<int64_t>(o.window.first);
    return fmt::format("{}: the kernel wrote outside of it, {} bytes from its first element",
                       o.name, distance);
  }
  return {};
}

}  // namespace

std::optional<std::string> find_fault(const Call& call) {
  for (const Argument& a : call.arguments()) {
    for (const Operand& o : a.operands) {
      if (!o.is_defined() || o.numel() == 0) continue;
      if (auto fault = write_outside(call, o)) return fault;
    }
  }
  if (&call.op() == &kernels::scatter) return wrongly_scattered(call);
  for (size_t i = 0; i < call.arguments().size(); ++i) {
    for (const Operand& o : call.arguments()[i].operands) {
      if (!o.is_defined() || !o.is_written() || o.numel() == 0) continue;
      if (auto fault = differing_values(call, i, o)) return fault;
    }
  }
  return {};
}

std::optional<std::string> differing_values(const Call& call, size_t argument, const Operand& o) {
  const Bound bound = bound_of(call, argument, o);
  if (!bound.is_compared) return {};
  // A bool that a kernel wrote incorrectly may be any byte.
  const DType dtype = o.dtype() == kBool ? kUInt8 : o.dtype();
  return visit<dtypes::kEvery>(dtype, [&]<class T>() { return values_beyond<T>(o, bound); });
}

}  // namespace ambit::shadow
