#include <ambit/error.h>

#include <fmt/format.h>

#include "planned.h"

namespace ambit::graph {
namespace {

std::string described(DType dtype, IntArrayRef sizes) { return name(dtype) + str(sizes); }

}  // namespace

ExpectedInputs::ExpectedInputs(const Program& program, TensorList inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    const Value& value = program.block.values[program.inputs[i].value];
    const bool is_number = !value.dtype;
    inputs_.push_back({value.name, t.dtype(), Dims(t.sizes()), t.device(), is_number,
                       is_number ? t.item() : Scalar()});
  }
}

void ExpectedInputs::check(TensorList inputs) const {
  if (inputs.size() != inputs_.size()) {
    throw Error(fmt::format("plan: expected {} inputs, got {}", inputs_.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) check(inputs_[i], inputs[i]);
}

void ExpectedInputs::check(const Expected& expected, const Tensor& input) const {
  if (!input.defined()) {
    throw Error(
        fmt::format("plan: expected the input '{}', got an undefined tensor", expected.name));
  }
  if (input.device() != expected.device) {
    throw DeviceMismatchError(
        "plan",
        {{"planned " + expected.name,
          described(expected.dtype, expected.sizes),
          expected.device,
          {}},
         {expected.name, described(input.dtype(), input.sizes()), input.device(), {}}},
        0, 1);
  }
  const auto text = [&] {
    return fmt::format("plan: expected the input '{}' as planned, {}, got {}", expected.name,
                       described(expected.dtype, expected.sizes),
                       described(input.dtype(), input.sizes()));
  };
  if (input.dtype() != expected.dtype) throw DTypeError(text());
  if (input.sizes() != IntArrayRef(expected.sizes)) throw ShapeError(text());
  if (!expected.is_number) return;
  const auto planned = expected.number.to<int64_t>(), given = input.item().to<int64_t>();
  if (given == planned) return;
  throw ShapeError(fmt::format("plan: expected the input '{}' as planned, {}, got {}",
                               expected.name, planned, given));
}

}  // namespace ambit::graph
