#include "calls.h"

#include <ambit/autograd.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace fuzz {

using namespace ambit;

namespace {

Tensor& slot(State& s, int i) { return s.slots[static_cast<size_t>(i)]; }

// torch_oracle.py has the same functions, with the same names.
enum Layout : int64_t { kRows, kReversed, kEverySecond, kInnermostChannels };

Tensor laid_out(const Tensor& t, const Sizes& shape, int64_t layout) {
  const size_t n = shape.size();
  if (layout == kReversed) {
    Sizes order(n);
    std::iota(order.begin(), order.end(), 0);
    std::reverse(order.begin(), order.end());
    return t.view(Sizes(shape.rbegin(), shape.rend())).permute(order);
  }
  if (layout == kEverySecond) {
    Sizes twice = shape;
    twice.push_back(2);
    return stack({t, t}, -1).view(twice).select(-1, 0);
  }
  if (layout == kInnermostChannels) {
    return t.view(Sizes{shape[0], shape[2], shape[3], shape[1]}).permute({0, 3, 1, 2});
  }
  return t.view(shape);
}

Tensor wave(const Tensor& like) {
  const TensorOptions o = TensorOptions(kInt64).device(like.device());
  return ((arange(like.numel(), o) * 7 % 11 - 5).to(like.dtype()) / 4).reshape(like.sizes());
}

Tensor grads(const Tensor& y, const Tensors& xs, int order) {
  Tensors gs = autograd::grad({y}, xs, {wave(y)}, true, order > 1, true);
  if (order > 1) {
    Tensor sum = (y * 0).sum();
    for (const Tensor& g : gs) {
      if (g.defined() && g.requires_grad()) sum = sum + (g * wave(g)).sum().to(sum.dtype());
    }
    gs = autograd::grad({sum}, xs, {}, true, false, true);
  }
  for (size_t i = 0; i < gs.size(); ++i) {
    if (!gs[i].defined()) gs[i] = zeros_like(xs[i]);
  }
  return flat(gs);
}

}  // namespace

Tensor flat(const Tensors& results) {
  Tensors parts;
  for (const Tensor& t : results) parts.push_back(t.reshape(-1).to(kFloat64));
  return cat(parts);
}

std::string spatial(const char* name, size_t D) { return fmt::format("F.{}{}d", name, D); }

Sizes image_sizes(Generator& g, int64_t C, const Sizes& spatial_sizes) {
  Sizes s;
  if (!g.random().one_in(6)) s.push_back(g.random().one_in(16) ? 0 : g.random().between(1, 3));
  s.push_back(C);
  s.insert(s.end(), spatial_sizes.begin(), spatial_sizes.end());
  return s;
}

Sizes draw(Generator& g, size_t n, int64_t least, int64_t most) {
  Sizes v(n);
  for (int64_t& x : v) x = g.random().between(least, most);
  return v;
}

Sizes Generator::small_sizes(int64_t least_dims, int64_t most_dims) {
  Sizes s(static_cast<size_t>(random_.between(least_dims, most_dims)));
  for (int64_t& n : s) n = random_.one_in(16) ? 0 : random_.between(1, 4);
  return s;
}

Sizes Generator::broadcastable(const Sizes& to) {
  Sizes s = to;
  for (int64_t& n : s) n = random_.one_in(5) ? 1 : n;
  const auto drop = random_.one_in(4) ? random_.between(0, static_cast<int64_t>(s.size())) : 0;
  return Sizes(s.begin() + drop, s.end());
}

int Generator::value_step(const std::vector<double>& values, DType d, const Sizes& shape,
                          bool grad) {
  int64_t layout = random_.one_in(2) ? kRows : random_.between(kReversed, kInnermostChannels);
  if (layout == kInnermostChannels && shape.size() != 4) layout = kRows;
  std::string text = "T([";
  for (const double v : values) text += number_text(v) + ",";
  text +=
      fmt::format("], {}, {}, {}, {})", dtype_text(d), list_text(shape), layout, bool_text(grad));
  return add_plain(text,
                   [=](State& s) {
                     Tensor host = empty({static_cast<int64_t>(values.size())}, kFloat64);
                     std::copy(values.begin(), values.end(), host.data_ptr<double>());
                     Tensor t = host.to(s.device, d, false, true);
                     if (grad) t.set_requires_grad(true);
                     return laid_out(t, shape, layout);
                   },
                   Kind::exact, {});
}

int Generator::operand(Sizes shape, Fill fill) {
  if (!shape.empty() && !keeps_sizes_ && random_.one_in(80))
    ++shape[static_cast<size_t>(random_.between(0, static_cast<int64_t>(shape.size()) - 1))];
  std::vector<double> v(static_cast<size_t>(count("operand", shape)));
  const double kInf = std::numeric_limits<double>::infinity();
  for (double& x : v) {
    x = static_cast<double>(random_.between(-12, 12)) / 4;
    if (fill == Fill::positive) x = std::abs(x) + 0.25;
    if (fill == Fill::unit) x = static_cast<double>(random_.between(1, 15)) / 16;
    if (fill == Fill::special && random_.one_in(6)) {
      x = random_.choose(std::vector<double>{kInf, -kInf, std::nan(""), -0.0});
    }
  }
  if (fill == Fill::distinct) {
    for (size_t i = 0; i < v.size(); ++i) {
      // Multiples of 1/8 with at most 8 bits, or whole numbers if there are more.
      const double unit = v.size() <= 256 ? 0.125 : 1;
      v[i] = (static_cast<double>(i) - static_cast<double>(v.size() / 2)) * unit;
      std::swap(v[i], v[static_cast<size_t>(random_.between(0, static_cast<int64_t>(i)))]);
    }
  }
  return value_step(v, dtype_of_call_, shape, wants_grad_);
}

int Generator::constant(const Sizes& shape, Fill fill) {
  const bool wanted = wants_grad_;
  wants_grad_ = false;
  const int result = operand(shape, fill);
  wants_grad_ = wanted;
  return result;
}

int Generator::integers(const Sizes& shape, int64_t least, int64_t most, DType d) {
  std::vector<double> v(static_cast<size_t>(count("operand", shape)));
  for (double& x : v) {
    x = static_cast<double>(d == kBool ? random_.between(0, 1) : random_.between(least, most));
  }
  return value_step(v, d, shape, false);
}

int Generator::numbers(const std::vector<double>& values, DType d) {
  return value_step(values, d, {static_cast<int64_t>(values.size())}, false);
}

void Generator::call(std::string python, const std::vector<int>& operands,
                     const std::function<Tensor(const Tensors&)>& run, double roundings) {
  std::vector<int> used, differentiable;
  for (size_t i = operands.size(); i-- > 0;) {
    const int x = operands[i];
    const std::string name = fmt::format("${}", i);
    for (size_t at = python.find(name); at != std::string::npos; at = python.find(name)) {
      python.replace(at, name.size(), x < 0 ? "None" : slot_text(x));
    }
    if (x < 0 || !at(x).defined()) continue;
    used.push_back(x);
    if (at(x).requires_grad()) differentiable.push_back(x);
  }
  // In float16 and bfloat16 each op rounds its result, and a gradient has the roundings of several.
  const bool autocasts = !used.empty() && random_.one_in(16);
  if (autocasts) compute_in(kBFloat16);
  const double ulp = std::max(epsilon(dtype_of_call_), epsilon(computes_in_.value_or(kFloat64)));
  const bool is_reduced_float = ulp > epsilon(kFloat32);
  const double bound =
      is_reduced_float ? roundings == 0 && !autocasts ? 0 : 8 * ulp : roundings * ulp;
  const auto set_tolerance = [&](int result, double tolerance) {
    program_.steps.back().tolerance = tolerance;
    const auto i = static_cast<size_t>(result);
    if (at(result).defined()) values_[i] = {tolerance == 0, tolerance, tolerance == 0 ? 0 : 3};
  };
  const std::function<Tensor(State&)> step = [=](State& s) {
    Tensors t;
    for (const int x : operands) t.push_back(x < 0 ? Tensor() : slot(s, x));
    return run(t);
  };
  const int y = static_cast<int>(state_.slots.size());
  const std::string text = slot_text(y) + " = " + python;
  append({autocasts ? kWithAutocast + text : text, autocasts ? with_autocast(step) : step, y, 0},
         Kind::smooth, used);
  set_tolerance(y, bound);
  if (!at(y).defined() || !at(y).requires_grad() || differentiable.empty()) return;
  const int order = random_.one_in(3) && !is_reduced_float ? 2 : 1;
  std::string xs;
  for (const int x : differentiable) xs += slot_text(x) + ", ";
  const double growth = order == 2 ? 16 : 4;
  const int g = add_plain(
      fmt::format("grads({}, [{}], {})", slot_text(y), xs, order),
      [=](State& s) {
        Tensors t;
        for (const int x : differentiable) t.push_back(slot(s, x));
        return grads(slot(s, y), t, order);
      },
      Kind::smooth, used);
  set_tolerance(g, std::max(bound, is_reduced_float ? 8 * ulp : 64 * ulp) * growth);
}

void Generator::own_operands() {
  static const std::vector<DType> kDTypes{kFloat32, kFloat32, kFloat32, kFloat64,
                                          kFloat64, kFloat16, kBFloat16};
  static const std::vector<const std::vector<Call>*> kFamilies{
      &kLayerCalls, &kPoolCalls,   &kNetworkCalls, &kLossCalls,   &kMatrixCalls,
      &kIndexCalls, &kNumberCalls, &kPartCalls,    &kComplexCalls};
  dtype_of_call_ = random_.choose(kDTypes);
  keeps_sizes_ = false;
  wants_grad_ = !random_.one_in(4);
  random_.choose (*random_.choose(kFamilies))(*this);
  computes_in_ = {};
}

}  // namespace fuzz
