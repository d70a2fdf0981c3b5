// Forms: numbers that programs compute, such as sizes. Each is a tensor of one dim and one element.
#include "forms.h"

namespace ambit::graph::onnx {
namespace {

Ref number(Site& s, size_t i, DType d) { return s.one_number(i, d); }

DType common(Site& s) {
  const bool has_real = is_floating_point(s.dtype_of(0)) || is_floating_point(s.dtype_of(1));
  return has_real ? kFloat32 : kInt64;
}

void binary(Site& s, const char* type) {
  const DType d = common(s);
  s.give(s.e.op(type, {number(s, 0, d), number(s, 1, d)}));
}

// Python's // and % round down; sizes are not negative, but differences of them are.
void modulo(Site& s) {
  if (common(s) != kInt64) Site::refuse("a fraction");
  s.give(s.e.op("Mod", {number(s, 0, kInt64), number(s, 1, kInt64)}));
}

void floor_division(Site& s) {
  if (common(s) != kInt64) Site::refuse("a fraction");
  const Ref a = number(s, 0, kInt64), b = number(s, 1, kInt64);
  s.give(s.e.div(s.e.sub(a, s.e.op("Mod", {a, b})), b));
}

void true_division(Site& s) { s.give(s.e.div(number(s, 0, kFloat32), number(s, 1, kFloat32))); }

void compare(Site& s, const char* type, bool negate) {
  const DType d = common(s);
  const Ref y = s.e.compare(type, number(s, 0, d), number(s, 1, d));
  s.give(negate ? s.e.op("Not", {y}) : y);
}

void size_of(Site& s) {
  const int64_t dim = s.dim(1, 0), size = s.sizes(0)[static_cast<size_t>(dim)];
  s.give(size >= 0 ? s.e.integers(size) : s.e.sizes(s.tensor(0), dim, dim + 1));
}

// Omit checks: a model cannot report errors of its own.
void nothing(Site&) {}

constexpr Form kRows[] = {
    // clang-format off
    {"_operator.add", [](Site& s) { binary(s, "Add"); }},
    {"_operator.sub", [](Site& s) { binary(s, "Sub"); }},
    {"_operator.mul", [](Site& s) { binary(s, "Mul"); }},
    {"_operator.pow", [](Site& s) { binary(s, "Pow"); }},
    {"_operator.floordiv", floor_division},
    {"_operator.truediv", true_division},
    {"_operator.mod", modulo},
    {"sym_max", [](Site& s) { binary(s, "Max"); }},
    {"sym_min", [](Site& s) { binary(s, "Min"); }},
    {"_operator.eq", [](Site& s) { compare(s, "Equal", false); }},
    {"_operator.ne", [](Site& s) { compare(s, "Equal", true); }},
    {"_operator.lt", [](Site& s) { compare(s, "Less", false); }},
    {"_operator.le", [](Site& s) { compare(s, "LessOrEqual", false); }},
    {"_operator.gt", [](Site& s) { compare(s, "Greater", false); }},
    {"_operator.ge", [](Site& s) { compare(s, "GreaterOrEqual", false); }},
    {"_operator.neg", [](Site& s) { s.give(s.e.op("Neg", {number(s, 0, s.dtype_of(0))})); }},
    {"_operator.pos", [](Site& s) { s.give(number(s, 0, s.dtype_of(0))); }},
    {"math.trunc", [](Site& s) { s.give(number(s, 0, kInt64)); }},
    {"sym_int", [](Site& s) { s.give(number(s, 0, kInt64)); }},
    {"sym_float", [](Site& s) { s.give(number(s, 0, kFloat32)); }},
    {"sym_size.int", size_of},
    {"sym_numel.default", [](Site& s) {
       s.give(s.e.reshape(s.e.op("Size", {s.tensor(0)}, {}, kInt64), {1})); }},
    {"item.default", [](Site& s) { s.give(s.e.reshape(s.tensor(0), {1})); }},
    {"_local_scalar_dense.default", [](Site& s) { s.give(s.e.reshape(s.tensor(0), {1})); }},
    {"_assert_scalar.default", nothing},
    {"_assert_async.msg", nothing},
    {"_assert_tensor_metadata.default", nothing},
    {"sym_constrain_range.default", nothing},
    {"sym_constrain_range_for_size.default", nothing},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kSizeForms = kRows;

}  // namespace ambit::graph::onnx
