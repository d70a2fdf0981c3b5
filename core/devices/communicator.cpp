// Code shared by communicators: names, errors, reductions, and the list of known communicators.
#include <ambit/backend/communicator.h>
#include <ambit/backend/registry.h>
#include <ambit/plugins.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <mutex>
#include <string_view>
#include <type_traits>

#include "communicators.h"

namespace ambit {
namespace {

struct Communicators {
  std::mutex mutex;
  std::vector<NamedCommunicator> all;
};

// Leaked, like the plugins.
Communicators& communicators() {
  static auto* c = new Communicators;
  return *c;
}

}  // namespace

void add_communicators(const std::vector<NamedCommunicator>& more) {
  Communicators& c = communicators();
  const std::lock_guard lock(c.mutex);
  for (const NamedCommunicator& one : more) {
    for (const NamedCommunicator& known : c.all) {
      if (known.name == one.name) {
        throw BackendError(
            fmt::format("expected a new name of a communicator, got \"{}\" again", one.name));
      }
    }
  }
  c.all.insert(c.all.end(), more.begin(), more.end());
}

namespace distributed {

DistributedError::DistributedError(const DistributedError&) = default;
DistributedError::~DistributedError() = default;
Request::~Request() = default;
Communicator::~Communicator() = default;

const char* name(Collective c) {
  constexpr const char* kNames[] = {"broadcast",      "allreduce", "reduce", "allgather",
                                    "reduce_scatter", "alltoall",  "gather", "scatter",
                                    "barrier",        "send",      "recv"};
  return kNames[static_cast<size_t>(c)];
}

const char* name(ReduceOp op) {
  constexpr const char* kNames[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"};
  return kNames[static_cast<size_t>(op)];
}

namespace {

template <class T, class F>
void fold(void* into, const void* from, int64_t count, const F& f) {
  T* const a = static_cast<T*>(into);
  const T* const b = static_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) a[i] = static_cast<T>(f(a[i], b[i]));
}

// Only sums and products are defined for complex numbers.
template <class T>
void combine_numbers(ReduceOp op, void* into, const void* from, int64_t n) {
  if (op == ReduceOp::PRODUCT) return fold<T>(into, from, n, std::multiplies<>());
  return fold<T>(into, from, n, std::plus<>());
}

template <class T>
void combine_as(ReduceOp op, void* into, const void* from, int64_t n) {
  // NaN propagates, as in min()
  const auto less = [](T a, T b) { return b < a || b != b ? b : a; };
  const auto more = [](T a, T b) { return b > a || b != b ? b : a; };
  if (op == ReduceOp::MIN) return fold<T>(into, from, n, less);
  if (op == ReduceOp::MAX) return fold<T>(into, from, n, more);
  if constexpr (std::is_same_v<T, bool>) {
    const bool is_or = op == ReduceOp::SUM || op == ReduceOp::BOR;
    if (is_or) return fold<T>(into, from, n, std::logical_or<>());
    if (op == ReduceOp::BXOR) return fold<T>(into, from, n, std::not_equal_to<>());
    return fold<T>(into, from, n, std::logical_and<>());
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<std::common_type_t<T, int>>;  // wraps
    const auto as = [&](auto f) {
      fold<T>(into, from, n, [f](T a, T b) { return f(static_cast<U>(a), static_cast<U>(b)); });
    };
    if (op == ReduceOp::SUM) return as(std::plus<U>());
    if (op == ReduceOp::PRODUCT) return as(std::multiplies<U>());
    if (op == ReduceOp::BAND) return as(std::bit_and<U>());
    if (op == ReduceOp::BOR) return as(std::bit_or<U>());
    return as(std::bit_xor<U>());
  } else {
    return combine_numbers<T>(op, into, from, n);
  }
}

}  // namespace

void combine(ReduceOp op, DType dtype, void* into, const void* from, int64_t count) {
  visit<dtypes::kStored>(dtype, [&]<class T>() {
    if constexpr (dtypes::kComplex.contains(dtype_of<T>)) {
      combine_numbers<T>(op, into, from, count);
    } else {
      combine_as<T>(op, into, from, count);
    }
  });
}

CommunicatorFactory find_communicator(const std::string& name) {
  load_communicators_for(name);
  Communicators& c = communicators();
  const std::lock_guard lock(c.mutex);
  std::string there = "local";
  for (const NamedCommunicator& known : c.all) {
    if (known.name == name) return known.make;
    there += ", " + known.name;
  }
  std::string refused;
  for (const LoadAttempt& attempt : load_report()) {
    if (attempt.loaded || !attempt.file.ends_with("libambit_" + name + ".so")) continue;
    refused += fmt::format("\n  {}: {}", attempt.file, attempt.result);
  }
  throw Error(fmt::format(
      "init_process_group: expected the name of a communicator, got \"{}\"; existing: {}{}", name,
      there,
      refused.empty() ? fmt::format("; there is no libambit_{}.so in {}/ambit/communicators", name,
                                    library_folder())
                      : "; refused plugins:" + refused));
}

}  // namespace distributed
}  // namespace ambit
