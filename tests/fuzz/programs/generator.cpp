#include "generator.h"

#include <ambit/autocast.h>
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fuzz {

using namespace ambit;

namespace {

constexpr int kSteps = 40, kMostElements = 2048, kTooDeep = 4;

std::vector<double> numbers(const Tensor& t) {
  const Tensor host = t.detach().to(kCPU, kFloat64).contiguous();
  const double* p = host.data_ptr<double>();
  return {p, p + host.numel()};
}

}  // namespace

bool is_16_bit(DType d) { return d == kFloat16 || d == kBFloat16; }

double epsilon(DType d) {
  if (!is_floating_point(d)) return 0;
  if (is_16_bit(d)) return d == kBFloat16 ? 0x1p-7 : 0x1p-10;
  return d == kFloat64 ? 0x1p-52 : 0x1p-23;
}

const char* const kWithAutocast = "with torch.autocast('cpu', torch.bfloat16): ";
std::function<Tensor(State&)> with_autocast(std::function<Tensor(State&)> run) {
  return [run = std::move(run)](State& s) {
    const AutocastGuard on(s.device, kBFloat16);
    return run(s);
  };
}

std::string slot_text(int slot) { return fmt::format("r[{}]", slot); }
std::string list_text(IntArrayRef v) {
  std::string text = "[";
  for (const int64_t i : v) text += std::to_string(i) + ",";
  return text + "]";
}
std::string number_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return fmt::format("{}", v).find_first_of(".e") == std::string::npos ? fmt::format("{}.0", v)
                                                                       : fmt::format("{}", v);
}
const char* bool_text(bool v) { return v ? "True" : "False"; }
std::string dtype_text(DType d) { return std::string("torch.") + name(d); }

bool has_few_bits(const Tensor& t) {
  if (!t.is_floating_point()) return true;
  // 6 bits before and 4 after the binary point: products have 20 bits, and sums of 33 of them at
  // most 25, of which such products never use the lowest.
  return std::ranges::all_of(numbers(t), [](double v) {
    return !std::isfinite(v) || (std::abs(v) <= 64 && v * 16 == std::trunc(v * 16));
  });
}

Magnitudes magnitudes(const Tensor& t) {
  Magnitudes m{std::numeric_limits<double>::infinity(), 0};
  for (const double v : numbers(t)) {
    if (!std::isfinite(v)) continue;
    m.least = std::min(m.least, std::abs(v));
    m.most = std::max(m.most, std::abs(v));
  }
  return m;
}

Tensor execute(const Step& step, State& state) {
  if (step.slot >= 0) {
    state.slots.resize(std::max(state.slots.size(), static_cast<size_t>(step.slot) + 1));
  }
  Tensor result = step.run(state);
  if (step.slot >= 0) state.slots[static_cast<size_t>(step.slot)] = result;
  return result;
}

Generator::Generator(uint64_t seed) : random_(seed) {
  state_.device = Device("reference");
  state_.other = kCPU;
  program_.seed = seed;
  mixes_16_bits_ = random_.one_in(3);
}

Program Generator::make() {
  using Make = void (Generator::*)();
  static const std::vector<Make> kMakers{
      &Generator::create,        &Generator::create_index, &Generator::convert,
      &Generator::unary,         &Generator::unary,        &Generator::unary_in_place,
      &Generator::binary,        &Generator::binary,       &Generator::binary_in_place,
      &Generator::binary_number, &Generator::compare,      &Generator::choose,
      &Generator::view,          &Generator::view,         &Generator::view,
      &Generator::reshape,       &Generator::join,         &Generator::write_view,
      &Generator::index,         &Generator::scatter,      &Generator::reduce,
      &Generator::reduce_exact,  &Generator::scan,         &Generator::product,
      &Generator::layer,         &Generator::image,        &Generator::loss,
      &Generator::of_one,        &Generator::of_one,       &Generator::of_one,
      &Generator::of_two,        &Generator::of_two,       &Generator::of_index,
      &Generator::of_matrix,     &Generator::of_image,     &Generator::of_sequence,
      &Generator::own_operands,  &Generator::own_operands, &Generator::own_operands,
      &Generator::own_operands,  &Generator::own_operands, &Generator::own_operands,
      &Generator::own_operands,  &Generator::own_operands, &Generator::own_operands,
      &Generator::leaf,          &Generator::detach,       &Generator::backward,
      &Generator::grad,          &Generator::move};
  for (int i = 0; i < 3; ++i) create();
  leaf();
  while (program_.steps.size() < kSteps) {
    const size_t before = program_.steps.size();
    (this->*random_.choose(kMakers))();
    if (program_.steps.size() == before && random_.one_in(4)) create();
  }
  return std::move(program_);
}

void Generator::append(Step step, Kind kind, const std::vector<int>& operands) {
  Tensor result;
  try {
    result = execute(step, state_);
  } catch (const Error&) {
    // An invalid argument: the error must be equal on every device.
  }
  state_.slots.resize(std::max(state_.slots.size(), static_cast<size_t>(step.slot + 1)));
  values_.resize(state_.slots.size());
  if (result.defined() && result.numel() > 16 * kMostElements) result = Tensor();
  if (result.defined()) {
    const Values v = values_of(result, kind, operands);
    step.tolerance = v.tolerance;
    if (step.slot >= 0) values_[static_cast<size_t>(step.slot)] = v;
    if (step.slot < 0) {
      // All views of written memory.
      for (size_t i = 0; i < values_.size(); ++i) {
        const Tensor& t = state_.slots[i];
        if (t.defined() && t.storage().get() == result.storage().get()) {
          values_[i] = {values_[i].exact && v.exact, std::max(values_[i].tolerance, v.tolerance),
                        std::max(values_[i].depth, v.depth)};
        }
      }
    }
  }
  program_.steps.push_back(std::move(step));
}

int Generator::add_plain(const std::string& python, const Run& run, Kind kind,
                         const std::vector<int>& operands) {
  const int slot = static_cast<int>(state_.slots.size());
  append({slot_text(slot) + " = " + python, run, slot, 0}, kind, operands);
  return slot;
}

int Generator::add(const std::string& python, const Run& run, Kind kind,
                   const std::vector<int>& operands) {
  const bool is_gradient = python.find("grad(") != python.npos || python.starts_with("backward");
  if (!mixes_16_bits_ || operands.empty() || is_gradient || !random_.one_in(8)) {
    return add_plain(python, run, kind, operands);
  }
  const int slot = static_cast<int>(state_.slots.size());
  computes_in_ = kBFloat16;
  append({kWithAutocast + slot_text(slot) + " = " + python, with_autocast(run), slot, 0}, kind,
         operands);
  computes_in_ = {};
  return slot;
}

void Generator::add_in_place(const std::string& python, const Run& run, Kind kind, int target,
                             const std::vector<int>& operands) {
  std::vector<int> all = operands;
  all.push_back(target);
  append({python, run, -1, 0}, kind, all);
}

Values Generator::values_of(const Tensor& result, Kind kind,
                            const std::vector<int>& operands) const {
  Values v;
  double coarsest = std::max(epsilon(result.dtype()), epsilon(computes_in_.value_or(kInt64)));
  for (const int i : operands) {
    const Values& of = values_[static_cast<size_t>(i)];
    v.exact = v.exact && of.exact;
    v.tolerance = std::max(v.tolerance, of.tolerance);
    v.depth = std::max(v.depth, of.depth);
    if (at(i).defined()) coarsest = std::max(coarsest, epsilon(at(i).dtype()));
  }
  if (!result.is_floating_point()) return v;
  v.exact = v.exact && kind == Kind::exact && has_few_bits(result);
  if (v.exact) return {};
  if (coarsest > epsilon(kFloat32)) {
    // Each op rounds its result, and a gradient has the roundings of several. The result is not
    // used further.
    v.tolerance = std::max(v.tolerance, 16 * coarsest);
    v.depth = kTooDeep;
    return v;
  }
  // A few dozen ulp for each of a few ops, each of which may multiply an error by about ten.
  v.tolerance = std::max(v.tolerance, coarsest * 4096);
  ++v.depth;
  return v;
}

int Generator::pick(const Pick& safe, const Pick& fits) {
  std::vector<int> good, rest;
  for (int i = 0; i < static_cast<int>(state_.slots.size()); ++i) {
    if (!at(i).defined() || !safe(i)) continue;
    (!fits || fits(i) ? good : rest).push_back(i);
  }
  if (!rest.empty() && random_.one_in(25)) return random_.choose(rest);
  // Recent results are more likely, so that programs become deep.
  if (good.size() > 6 && random_.one_in(2)) good.erase(good.begin(), good.end() - 6);
  return good.empty() ? -1 : random_.choose(good);
}

Generator::Pick Generator::usable() const {
  return [this](int i) {
    return at(i).numel() <= kMostElements && values_[static_cast<size_t>(i)].depth < kTooDeep &&
           (!at(i).is_floating_point() || magnitudes(at(i)).most <= 64);
  };
}
Generator::Pick Generator::exact() const {
  return [this](int i) {
    return at(i).numel() <= kMostElements && values_[static_cast<size_t>(i)].exact;
  };
}
Generator::Pick Generator::floating() const {
  return [this](int i) { return at(i).is_floating_point(); };
}
Generator::Pick Generator::of_dtype(DType d) const {
  return [this, d](int i) { return at(i).dtype() == d; };
}

int64_t Generator::dim_of(int64_t ndim) {
  if (random_.one_in(40)) return random_.one_in(2) ? ndim + 1 : -ndim - 2;
  return ndim == 0 ? -random_.between(0, 1) : random_.between(-ndim, ndim - 1);
}

Dims Generator::sizes(int64_t most_dims) {
  static const std::vector<int64_t> kSizes{0, 1, 1, 2, 2, 3, 3, 4, 5, 17};
  Dims s;
  for (int64_t d = random_.between(0, most_dims); d > 0; --d) s.push_back(random_.choose(kSizes));
  return s;
}

DType Generator::dtype() {
  static const std::vector<DType> kDTypes{kFloat32, kFloat32, kFloat32, kFloat64, kFloat64, kInt64,
                                          kInt32,   kInt16,   kInt8,    kUInt8,   kBool};
  if (mixes_16_bits_ && random_.one_in(3)) return random_.one_in(2) ? kBFloat16 : kFloat16;
  return random_.choose(kDTypes);
}

Program generate(uint64_t seed) {
  const AutoGradMode on(true);
  return Generator(seed).make();
}

}  // namespace fuzz
