// Forms: tensors that calls create. Other functions without operands are computed while the model
// is written, and become constants.
#include <ambit/ops/creation.h>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

void filled(Site& s, const Ref& value, const Ref& shape) {
  s.give(s.e.op("Expand", {value, shape}));
}

// The sizes of operand 0.
Ref like(Site& s) { return s.sizes_of(0, 0, s.rank(0)); }

Ref number(Site& s, double n) { return s.e.number(n, s.result_dtype()); }

void range(Site& s, const Ref& start, const Ref& end, const Ref& step) {
  const DType d = s.result_dtype();
  if (is_floating_point(d)) Site::refuse("a floating-point range of dynamic size");
  s.give(s.e.op("Range", {start, end, step}));
}

Ref whole(Site& s, size_t i) {
  if (is_floating_point(s.dtype_of(i))) Site::refuse("a floating-point range of dynamic size");
  return s.tensor(i, kInt64);
}

constexpr Form kRows[] = {
    // clang-format off
    {"zeros.default", [](Site& s) { filled(s, number(s, 0), s.shape(0)); }},
    {"ones.default", [](Site& s) { filled(s, number(s, 1), s.shape(0)); }},
    {"empty.memory_format", [](Site& s) { filled(s, number(s, 0), s.shape(0)); }},
    {"full.default", [](Site& s) { filled(s, s.tensor(1, s.result_dtype()), s.shape(0)); }},
    {"zeros_like.default", [](Site& s) { filled(s, number(s, 0), like(s)); }},
    {"ones_like.default", [](Site& s) { filled(s, number(s, 1), like(s)); }},
    {"empty_like.default", [](Site& s) { filled(s, number(s, 0), like(s)); }},
    {"full_like.default", [](Site& s) { filled(s, s.tensor(1, s.result_dtype()), like(s)); }},
    {"new_zeros.default", [](Site& s) { filled(s, number(s, 0), s.shape(1)); }},
    {"new_ones.default", [](Site& s) { filled(s, number(s, 1), s.shape(1)); }},
    {"new_empty.default", [](Site& s) { filled(s, number(s, 0), s.shape(1)); }},
    {"new_full.default", [](Site& s) { filled(s, s.tensor(2, s.result_dtype()), s.shape(1)); }},
    {"scalar_tensor.default", [](Site& s) { s.give(s.tensor(0, s.result_dtype())); }},
    {"arange.default", [](Site& s) {
       range(s, s.e.integer(0), whole(s, 0), s.e.integer(1)); }},
    {"arange.start", [](Site& s) { range(s, whole(s, 0), whole(s, 1), s.e.integer(1)); }},
    {"arange.start_step", [](Site& s) { range(s, whole(s, 0), whole(s, 1), whole(s, 2)); }},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kCreationForms = kRows;

}  // namespace ambit::graph::onnx
