// Operands of the calls in agreement_calls.h, in all layouts.
#pragma once

#include <functional>
#include <vector>

#include "agreement_calls.h"
#include "tests/function_ref.h"

namespace agreement {

struct InputLayout {
  const char* name;
  std::vector<int64_t> base;                    // sizes of the drawn tensor
  std::function<Tensor(const Tensor&)> view;    // applied on the device
  std::function<Tensor(const Tensor&)> view_b;  // for b
};

inline std::vector<InputLayout> layouts() {
  const auto same = [](const Tensor& t) { return t; };
  const auto strided = [](const Tensor& t) { return t.t().slice(0, 0, 8, 2); };
  const auto offset = [](const Tensor& t) { return t.narrow(0, 1, 35).view({7, 5}); };
  return {{"contiguous", {7, 5}, same, same},
          {"strided", {5, 8}, strided, strided},
          {"offset", {36}, offset, offset},
          {"broadcast", {7, 5}, same, [](const Tensor& t) { return t[3]; }},
          {"stride 0",
           {1, 5},
           [](const Tensor& t) {
             return t.expand({6, 5});
           },
           [](const Tensor& t) {
             return t.t().expand({5, 6}).t();
           }},
          {"empty", {0, 5}, same, same},
          {"0-dim", {}, same, same}};
}

/// `floats`: conversion of the drawn float32 tensors.
inline Operands draw(const InputLayout& layout, Device device,
                     FunctionRef<Tensor(const Tensor&)> floats) {
  manual_seed(7);  // the same numbers for each device
  const IntArrayRef sizes = layout.base;
  const auto make = [&](const Tensor& t) { return layout.view(t.to(device)); };
  Operands o;
  o.a = make(floats(randn(sizes)));
  o.b = layout.view_b(floats(randn(sizes)).to(device));
  o.unit = make(floats(rand(sizes) * 0.9 + 0.05));
  o.n = make(randint(-9, 9, sizes));
  o.m = make(randint(1, 9, sizes));
  o.yes = make(randn(sizes) > 0);
  o.no = make(randn(sizes) > 0.5);
  o.is_empty = o.a.numel() == 0;
  o.is_scalar = o.a.dim() == 0;
  return o;
}
/// `numbers`: dtype that the floats are rounded to; `as`: their dtype.
inline Operands draw(const InputLayout& layout, Device device, DType numbers = kFloat32,
                     DType as = kFloat32) {
  return draw(layout, device, [&](const Tensor& t) { return t.to(numbers).to(as); });
}

}  // namespace agreement
