// Creation, conversion and properties of tensors, and random numbers, of which only the dtype, the
// sizes and the range are equal in two libraries.
#include "methods.h"

using namespace parity;

PARITY(methods_that_make) {
  run({
      {ROW(new_empty, o.a.new_empty({2, 0}))},
      {ROW(new_empty_strided, o.a.new_empty_strided({2, 2}, {1, 3}).zero_())},
      {ROW(new_full, o.a.new_full({2}, 3))},
      {ROW(new_full, o.a.new_full({2}, 1.5, torch::kDouble))},
      {ROW(new_ones, o.a.new_ones({2, 1}))},
      {ROW(new_zeros, o.a.new_zeros({1, 2}, torch::kInt))},
      {METHOD(type_as, o.b)},
      {METHOD(type_as, o.n)},
      {METHOD(toType, torch::kDouble)},
      {METHOD(to, torch::kLong)},
      {METHOD(to, o.n)},
      {METHOD(cpu)},
      {METHOD(data)},
      {METHOD(detach)},
      {IN_PLACE(detach_)},
      {METHOD(tensor_data)},
      {METHOD(variable_data)},
      {METHOD(dim)},
      {METHOD(size, -1)},
      {METHOD(stride, 0)},
      {METHOD(numel)},
      {METHOD(is_same_size, o.b)},
      {METHOD(is_same_size, o.b.t())},
      {METHOD(is_nonzero)},
      {METHOD(is_pinned)},
      {METHOD(is_set_to, o.a)},
      {METHOD(is_set_to, o.b)},
      {METHOD(is_contiguous)},
      {METHOD(is_floating_point)},
      {METHOD(is_complex)},
      {METHOD(is_signed)},
      {METHOD(is_leaf)},
      {METHOD(requires_grad)},
      {METHOD(element_size)},
      {ROW(item, o.a.item().toDouble())},
      {ROW(item, o.a.item<double>())},
      {ROW(set_, o.a.clone().detach().set_(o.b.detach()))},
      {ROW(mutable_grad, o.a.clone().detach().mutable_grad())},
      {ROW(meta, torch::zeros_like(o.a.meta(), torch::kCPU))},
      {METHOD(frexp)},
  });
}

namespace {
// Return zeros like t, which show its sizes and dtype, and whether all numbers are within the
// bounds.
List within(const Tensor& t, double least, double most) {
  return {torch::zeros_like(t), t.ge(least).logical_and(t.le(most)).all()};
}
}  // namespace

PARITY(methods_that_draw) {
#define DRAW(name, least, most, ...) \
  {ROW(name, within(o.a.detach().clone().name(__VA_ARGS__), least, most))}
  run({
      DRAW(uniform_, 2, 3, 2, 3),
      DRAW(normal_, -99, 99, 1, 2),
      DRAW(random_, 0, 4, 5),
      DRAW(random_, -3, 4, -3, 5),
      DRAW(bernoulli_, 0, 1),
      DRAW(bernoulli_, 1, 1, 1),
      DRAW(cauchy_, -HUGE_VAL, HUGE_VAL),
      DRAW(exponential_, 0, HUGE_VAL, 2),
      DRAW(geometric_, 1, HUGE_VAL, 0.5),
      DRAW(log_normal_, 0, HUGE_VAL),
      {ROW(bernoulli, within(o.p.detach().div(9).bernoulli(), 0, 1))},
      {ROW(bernoulli, within(o.a.detach().bernoulli(0), 0, 0))},
      {ROW(multinomial, within(o.p.detach().multinomial(2, true), 0, 2)), 8, kCorners},
      {ROW(multinomial, within(std::get<0>(o.p.detach().multinomial(3).sort(-1)), 0, 2)), 8,
       kCorners},
  });
}
