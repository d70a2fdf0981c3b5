// Creation, conversion, unary functions, arithmetic, comparison and selection.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <cmath>
#include <limits>

#include "generator.h"

namespace fuzz {

using namespace ambit;

namespace {

using Unary = Tensor (*)(const Tensor&);
using UnaryInPlace = const Tensor& (*)(const Tensor&);
struct Map {
  const char* python;
  Unary run;
  UnaryInPlace in_place;
  /// Conditions on the operands, so that rounding errors cause no jumps, poles or overflow.
  enum class Needs { nothing, exact, away_from_zero, small } needs;
};

#define AMBIT_MAP(name, needs) \
  { "torch." #name, ambit::name, ambit::name##_, Map::Needs::needs }
const std::vector<Map> kMaps{AMBIT_MAP(neg, nothing),
                             AMBIT_MAP(abs, exact),
                             AMBIT_MAP(sign, exact),
                             AMBIT_MAP(exp, small),
                             AMBIT_MAP(exp2, small),
                             AMBIT_MAP(expm1, small),
                             AMBIT_MAP(log, exact),
                             AMBIT_MAP(log1p, exact),
                             AMBIT_MAP(log2, exact),
                             AMBIT_MAP(log10, exact),
                             AMBIT_MAP(sqrt, exact),
                             AMBIT_MAP(rsqrt, exact),
                             AMBIT_MAP(reciprocal, away_from_zero),
                             AMBIT_MAP(square, nothing),
                             AMBIT_MAP(sin, nothing),
                             AMBIT_MAP(cos, nothing),
                             AMBIT_MAP(tan, exact),
                             AMBIT_MAP(asin, exact),
                             AMBIT_MAP(acos, exact),
                             AMBIT_MAP(atan, nothing),
                             AMBIT_MAP(sinh, small),
                             AMBIT_MAP(cosh, small),
                             AMBIT_MAP(tanh, nothing),
                             AMBIT_MAP(sigmoid, nothing),
                             AMBIT_MAP(relu, exact),
                             AMBIT_MAP(erf, nothing),
                             AMBIT_MAP(floor, exact),
                             AMBIT_MAP(ceil, exact),
                             AMBIT_MAP(round, exact),
                             AMBIT_MAP(trunc, exact),
                             AMBIT_MAP(logical_not, exact),
                             AMBIT_MAP(bitwise_not, exact)};
#undef AMBIT_MAP

using Binary = Tensor (*)(const Tensor&, const Tensor&);
using BinaryInPlace = const Tensor& (*)(const Tensor&, const Tensor&);
struct Arithmetic {
  const char *python, *method;
  Binary run;
  BinaryInPlace in_place;
  Map::Needs needs;  // away_from_zero: the other operand
};
#define AMBIT_ARITHMETIC(name, needs)                                                              \
  {                                                                                                \
    "torch." #name, #name "_", [](const Tensor& a, const Tensor& b) { return ambit::name(a, b); }, \
        [](const Tensor& a, const Tensor& b) -> const Tensor& { return ambit::name##_(a, b); },    \
        Map::Needs::needs                                                                          \
  }
const std::vector<Arithmetic> kArithmetic{
    AMBIT_ARITHMETIC(add, nothing),        AMBIT_ARITHMETIC(sub, nothing),
    AMBIT_ARITHMETIC(mul, nothing),        AMBIT_ARITHMETIC(div, away_from_zero),
    AMBIT_ARITHMETIC(floor_divide, exact), AMBIT_ARITHMETIC(remainder, exact),
    AMBIT_ARITHMETIC(fmod, exact),         AMBIT_ARITHMETIC(pow, exact),
    AMBIT_ARITHMETIC(atan2, exact),        AMBIT_ARITHMETIC(bitwise_and, exact),
    AMBIT_ARITHMETIC(bitwise_or, exact),   AMBIT_ARITHMETIC(bitwise_xor, exact)};
#define AMBIT_COMPARISON(name) AMBIT_ARITHMETIC(name, exact)
const std::vector<Arithmetic> kComparisons{
    AMBIT_COMPARISON(eq),          AMBIT_COMPARISON(ne),         AMBIT_COMPARISON(lt),
    AMBIT_COMPARISON(le),          AMBIT_COMPARISON(gt),         AMBIT_COMPARISON(ge),
    AMBIT_COMPARISON(logical_and), AMBIT_COMPARISON(logical_or), AMBIT_COMPARISON(logical_xor)};
#undef AMBIT_COMPARISON
#undef AMBIT_ARITHMETIC

bool broadcasts(IntArrayRef a, IntArrayRef b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

std::string call_text(const char* f, int a, int b) {
  return std::string(f) + "(" + slot_text(a) + ", " + slot_text(b) + ")";
}

Tensor& slot(State& s, int i) { return s.slots[static_cast<size_t>(i)]; }

}  // namespace

void Generator::create() {
  const Dims shape = sizes(3);
  const DType d = dtype();
  std::vector<double> v(static_cast<size_t>(count("create", shape)));
  const bool special = random_.one_in(12), constant = random_.one_in(8);
  std::string text = "torch.tensor([";
  for (double& x : v) {
    if (d == kBool)
      x = static_cast<double>(random_.between(0, 1));
    else if (d == kUInt8)
      x = static_cast<double>(random_.between(0, random_.one_in(4) ? 255 : 9));
    else if (!is_floating_point(d))
      x = static_cast<double>(random_.between(-9, 9));
    else
      x = number();
    if (is_floating_point(d) && special && random_.one_in(3)) {
      const double kInf = std::numeric_limits<double>::infinity();
      x = random_.choose(std::vector<double>{kInf, -kInf, std::nan(""), -0.0});
    }
    if (constant) x = v[0];
    text += number_text(x) + ",";
  }
  text +=
      "], dtype=torch.float64).to(" + dtype_text(d) + ").view(" + list_text(shape) + ").clone()";
  add(text,
      [v, shape, d](State& s) {
        Tensor host = empty({static_cast<int64_t>(v.size())}, kFloat64);
        std::copy(v.begin(), v.end(), host.data_ptr<double>());
        return host.view(shape).to(s.device, d, false, true);  // not a view
      },
      Kind::exact, {});
}

void Generator::create_index() {
  const Dims shape = sizes(2);
  std::vector<int64_t> v(static_cast<size_t>(count("create", shape)));
  std::string text = "torch.tensor([";
  const int64_t most = random_.one_in(30) ? 40 : random_.one_in(3) ? 0 : 1;
  for (int64_t& x : v) text += std::to_string(x = random_.between(0, most)) + ",";
  add(text + "], dtype=torch.int64).view(" + list_text(shape) + ")",
      [v, shape](State& s) {
        Tensor host = empty({static_cast<int64_t>(v.size())}, kInt64);
        std::copy(v.begin(), v.end(), host.data_ptr<int64_t>());
        return host.view(shape).to(s.device, false, true);
      },
      Kind::exact, {});
}

void Generator::convert() {
  const DType d = dtype();
  // Integers are never infinite or NaN.
  const Pick precise = exact();
  const Pick whole = [&](int i) { return precise(i) && all(isfinite(at(i))).item<bool>(); };
  const int x = pick(is_floating_point(d) ? usable() : whole, nullptr);
  if (x < 0) return;
  add(slot_text(x) + ".to(" + dtype_text(d) + ")", [=](State& s) { return slot(s, x).to(d); },
      Kind::exact, {x});
}

void Generator::unary() {
  const Map map = random_.choose(kMaps);
  const Pick any = usable(), precise = exact();
  const int x = pick(
      [&](int i) {
        if (!any(i)) return false;
        if (map.needs == Map::Needs::exact) return precise(i);
        if (map.needs == Map::Needs::small) return magnitudes(at(i)).most <= 6;
        if (map.needs == Map::Needs::away_from_zero) {
          return precise(i) || magnitudes(at(i)).least > 0.05;
        }
        return true;
      },
      nullptr);
  if (x < 0) return;
  // The kind is smooth for all functions, because most of them round their results.
  add(std::string(map.python) + "(" + slot_text(x) + ")",
      [=](State& s) { return map.run(slot(s, x)); }, Kind::smooth, {x});
}

void Generator::unary_in_place() {
  const Map map = random_.choose(kMaps);
  const Pick precise = exact();
  const int x = pick([&](int i) { return precise(i) && magnitudes(at(i)).most <= 6; }, nullptr);
  if (x < 0) return;
  const std::string name = std::string(map.python).substr(6);
  add_in_place(slot_text(x) + "." + name + "_()",
               [=](State& s) { return map.in_place(slot(s, x)); }, Kind::smooth, x, {});
}

void Generator::binary() {
  const Arithmetic op = random_.choose(kArithmetic);
  const Pick safe = op.needs == Map::Needs::exact ? exact() : usable();
  const int a = pick(safe, nullptr);
  if (a < 0) return;
  const int b = pick(
      [&](int i) {
        if (!safe(i)) return false;
        return op.needs != Map::Needs::away_from_zero ||
               (values_[static_cast<size_t>(a)].exact && values_[static_cast<size_t>(i)].exact) ||
               magnitudes(at(i)).least > 0.05;
      },
      [&](int i) { return broadcasts(at(a).sizes(), at(i).sizes()); });
  if (b < 0) return;
  const bool rounds = op.needs == Map::Needs::away_from_zero || std::string(op.method) == "pow_" ||
                      std::string(op.method) == "atan2_";
  add(call_text(op.python, a, b), [=](State& s) { return op.run(slot(s, a), slot(s, b)); },
      rounds ? Kind::smooth : Kind::exact, {a, b});
}

void Generator::binary_in_place() {
  const Arithmetic op = random_.choose(random_.one_in(5) ? kComparisons : kArithmetic);
  const Pick safe = exact();
  const int a = pick(safe, nullptr);
  if (a < 0) return;
  const int b = pick(safe, [&](int i) { return broadcasts(at(a).sizes(), at(i).sizes()); });
  if (b < 0) return;
  const bool rounds = op.needs == Map::Needs::away_from_zero || std::string(op.method) == "pow_" ||
                      std::string(op.method) == "atan2_";
  add_in_place(slot_text(a) + "." + op.method + "(" + slot_text(b) + ")",
               [=](State& s) { return op.in_place(slot(s, a), slot(s, b)); },
               rounds ? Kind::smooth : Kind::exact, a, {b});
}

void Generator::binary_number() {
  const Pick safe = exact();
  const int x = pick(safe, nullptr);
  if (x < 0) return;
  // Compared with uint8 a negative number is converted modulo 256 in PyTorch, but not in ambit.
  const int64_t least = at(x).dtype() == kUInt8 ? 0 : -5;
  const bool whole = random_.one_in(2);
  const double v = whole ? static_cast<double>(random_.between(least, 5)) : number();
  const Scalar number = whole ? Scalar(static_cast<int64_t>(v)) : Scalar(v);
  const std::string text = whole ? std::to_string(static_cast<int64_t>(v)) : number_text(v);
  struct Op {
    const char* python;
    Tensor (*run)(const Tensor&, const Scalar&);
    Kind kind;
  };
#define AMBIT_NUMBER(name, kind)                                                                   \
  {                                                                                                \
    "torch." #name, [](const Tensor& t, const Scalar& n) { return ambit::name(t, n); }, Kind::kind \
  }
  static const std::vector<Op> kOps{
      AMBIT_NUMBER(add, exact),
      AMBIT_NUMBER(sub, exact),
      AMBIT_NUMBER(mul, exact),
      AMBIT_NUMBER(div, smooth),
      AMBIT_NUMBER(floor_divide, exact),
      AMBIT_NUMBER(remainder, exact),
      AMBIT_NUMBER(fmod, exact),
      AMBIT_NUMBER(pow, smooth),
      AMBIT_NUMBER(eq, exact),
      AMBIT_NUMBER(lt, exact),
      AMBIT_NUMBER(ge, exact),
      {"torch.clamp", [](const Tensor& t, const Scalar& n) { return clamp(t, n); }, Kind::exact}};
#undef AMBIT_NUMBER
  const Op op = random_.choose(kOps);
  add(std::string(op.python) + "(" + slot_text(x) + ", " + text + ")",
      [=](State& s) { return op.run(slot(s, x), number); }, op.kind, {x});
}

void Generator::compare() {
  const Arithmetic op = random_.choose(kComparisons);
  const int a = pick(exact(), nullptr);
  if (a < 0) return;
  const int b = pick(exact(), [&](int i) { return broadcasts(at(a).sizes(), at(i).sizes()); });
  if (b < 0) return;
  add(call_text(op.python, a, b), [=](State& s) { return op.run(slot(s, a), slot(s, b)); },
      Kind::exact, {a, b});
}

void Generator::choose() {
  const Pick safe = exact();
  const int a = pick(safe, nullptr);
  if (a < 0) return;
  const auto fits = [&](int i) { return broadcasts(at(a).sizes(), at(i).sizes()); };
  const int c = pick(of_dtype(kBool), fits), b = pick(safe, fits);
  if (b < 0) return;
  if (random_.one_in(2) || c < 0) {
    const bool most = random_.one_in(2);
    add(call_text(most ? "torch.maximum" : "torch.minimum", a, b),
        [=](State& s) {
          return most ? maximum(slot(s, a), slot(s, b)) : minimum(slot(s, a), slot(s, b));
        },
        Kind::exact, {a, b});
  } else if (random_.one_in(2)) {
    add("torch.where(" + slot_text(c) + ", " + slot_text(a) + ", " + slot_text(b) + ")",
        [=](State& s) { return where(slot(s, c), slot(s, a), slot(s, b)); }, Kind::exact,
        {a, b, c});
  } else {
    const double v = number();
    add(slot_text(a) + ".masked_fill(" + slot_text(c) + ", " + number_text(v) + ")",
        [=](State& s) { return masked_fill(slot(s, a), slot(s, c), v); }, Kind::exact, {a, c});
  }
}

}  // namespace fuzz
