#include "operators.h"

#include <ambit/error.h>
#include <ambit/ops/elementwise.h>

#include <fmt/format.h>

#include <map>

namespace ambit::graph::onnx {

const Operator* find_operator(std::string_view name, int64_t opset) {
  static const std::multimap<std::string_view, const Operator*> kAll = [] {
    std::multimap<std::string_view, const Operator*> all;
    for (const auto& family :
         {kMathOperators, kActivationOperators, kShapeOperators, kIndexOperators, kReduceOperators,
          kLayerOperators, kPoolOperators, kNormOperators, kRecurrentOperators, kImageOperators,
          kAttentionOperators, kLossOperators, kQuantizedOperators, kSignalOperators,
          kDetectionOperators, kControlOperators}) {
      for (const Operator& o : family) all.emplace(o.function.name, &o);
    }
    return all;
  }();
  const Operator* best = nullptr;
  const auto [begin, end] = kAll.equal_range(name);
  for (auto i = begin; i != end; ++i) {
    if (i->second->since <= opset && (!best || best->since < i->second->since)) best = i->second;
  }
  return best;
}

Dims host_integers(const Call& c, size_t i) {
  if (!c.has(i)) return {};
  if (c.is_list(i) || c.is_number(i)) return Dims(c.integers(i));
  const Tensor t = c.tensor(i).detach().to(kCPU, kInt64).contiguous();
  return Dims(IntArrayRef(t.data_ptr<int64_t>(), static_cast<size_t>(t.numel())));
}

int64_t host_integer(const Call& c, size_t i) {
  const Dims all = host_integers(c, i);
  if (all.size() != 1) throw Error(fmt::format("expected one number, got {}", all.size()));
  return all[0];
}

std::vector<double> host_reals(const Call& c, size_t i) {
  if (!c.has(i)) return {};
  if (c.is_list(i)) return c.reals(i);
  if (c.is_number(i)) return {c.real(i)};
  const Tensor t = c.tensor(i).detach().to(kCPU, kFloat64).contiguous();
  return {t.data_ptr<double>(), t.data_ptr<double>() + t.numel()};
}

int64_t axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    throw IndexError(fmt::format("expected an axis from {} to {}, got {}", -rank, rank - 1, axis));
  }
  return axis < 0 ? axis + rank : axis;
}

Dims axes(IntArrayRef list, int64_t rank) {
  Dims out;
  for (const int64_t a : list) out.push_back(axis(a, rank));
  return out;
}

void expect_same_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  throw DTypeError(fmt::format("expected operands of one dtype, got {} and {}", name(a.dtype()),
                               name(b.dtype())));
}

Tensor positive_indices(const Tensor& index, int64_t size) {
  const Tensor i = index.to(kInt64);
  return where(i.lt(0), i + size, i);
}

}  // namespace ambit::graph::onnx
