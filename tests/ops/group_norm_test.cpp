// Group normalisation: values, gradients, the composite, bad calls.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace composite_test;

TEST_CASE("group_norm has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    // x = wave(2, 4, 3); w = wave(4, k=0.3) + 1.5; b = wave(4, k=0.2); y = F.group_norm(x, 2, w,
    // b); (y * wave(2, 4, 3, k=0.5)).sum().backward(); y; x.grad; w.grad; b.grad
    const Tensor x = wave(d, {2, 4, 3}).requires_grad_();
    const Tensor w = (wave(d, {4}, 0.3) + 1.5).requires_grad_();
    const Tensor b = wave(d, {4}, 0.2).requires_grad_();
    const Tensor y = group_norm(x, 2, w, b);
    check_values(y.detach(), {2, 4, 3},
                 {-1.30848248631, 0.733309414934, 1.81481468114,   1.90726778975,   -0.09671372656,
                  -2.69841377704, -1.61915528636, -1.92242057487,  -0.961872675489, 1.03057643768,
                  2.96700843223,  3.96878610269,  2.57330274285,   1.35694836045,   -0.200295965469,
                  -1.4364916445,  -1.70697691339, -0.725329996344, -1.23435640449,  1.50853922485,
                  2.89320336624,  2.64265116032,  0.0543525960306, -3.21395305287});
    (y * wave(d, {2, 4, 3}, 0.5)).sum().backward();
    check_values(
        x.grad(), {2, 4, 3},
        {-1.79628925693,   -1.03445177775,   -0.288300928471,  0.972822509385,  1.25945334344,
         0.886766110324,   1.38292219499,    -0.0796101799905, -0.819235445874, -1.02169302787,
         -0.289303528461,  0.826919987207,   -0.0525494937479, 0.105663717186,  -0.126229184531,
         0.00690112939131, -0.0327476916545, 0.0989615233568,  4.08237590992,   2.03862762455,
         0.0455727055214,  -1.81728672634,   -2.440477416,     -1.90881209764});
    check_values(w.grad(), {4}, {0.879983626894, -2.48120044441, -0.273770345208, -1.38861544052});
    check_values(b.grad(), {4}, {1.91358761202, 5.23110989356, -1.17351946105, -5.39713285911});
  });
}

TEST_CASE(
    "group_norm with one group equals layer_norm, and with one channel per group instance_norm") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 4, 2, 5}), w = wave(d, {4}, 0.3), b = wave(d, {4}, 0.2);
    const Tensor whole = layer_norm(x, {4, 2, 5}) * w.view({4, 1, 1}) + b.view({4, 1, 1});
    CHECK(group_norm(x, 1, w, b).allclose(whole, 1e-12, 1e-12));
    const Tensor each = layer_norm(x, {2, 5}) * w.view({4, 1, 1});
    CHECK(group_norm(x, 4, w).allclose(each, 1e-12, 1e-12));
    CHECK(group_norm(x.transpose(0, 1), 3).sizes() == IntArrayRef{4, 3, 2, 5});
    // The mean may have an error of an ulp of 1e4, 1e-3, and so may the result.
    const Tensor far = tensor({{9999.f, 10000.f, 10001.f}}, TensorOptions(kFloat32).device(d));
    check_values(group_norm(far, 1), {1, 3}, {-1.22473569, 0, 1.22473569}, 1e-3);
  });
}

TEST_CASE("group_norm has correct first and second gradients, also without elements") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 4, 3}), w = wave(d, {4}, 0.3) + 1.5, b = wave(d, {4}, 0.2);
    const auto layer = [](const std::vector<Tensor>& in) {
      return group_norm(in[0], 2, in[1], in[2], 1e-3);
    };
    const auto plain = [](const std::vector<Tensor>& in) { return group_norm(in[0], 2); };
    gradcheck(layer, {x, w, b});
    gradgradcheck(layer, {x, w, b});
    gradcheck(plain, {x});
    const Tensor weight = w.detach().requires_grad_();
    group_norm(zeros({0, 4, 3}, x.options()), 2, weight).sum().backward();
    CHECK(weight.grad().equal(zeros({4}, x.options())));
  });
}

TEST_CASE("composite group_norm and its gradient agree with the kernels") {
  manual_seed(6);
  const Tensor x = normal({3, 6, 5}), w = normal({6}), b = normal({6}), dy = normal({3, 6, 5});
  const Tensor mean = normal({3, 2}), invstd = normal({3, 2}).abs() + 0.5;
  const auto forward = [](auto&& f, Tensors& o, const Tensors& in) {
    f(o[0], o[1], o[2], in[0], in[1], in[2], 1e-3);
  };
  const auto backward = [](auto&& f, Tensors& o, const Tensors& in) {
    f(o[0], o[1], o[2], in[0], in[1], in[2], in[3], in[4]);
  };
  const Tensor y = unwritten({3, 6, 5}), group = unwritten({3, 2}), channel = unwritten({6});
  for (const Tensor& weight : {w, Tensor()}) {
    check_composite(kernels::group_norm, {y, group, group}, {x, weight, b}, forward);
    check_composite(kernels::group_norm_grad, {y, channel, channel}, {dy, x, weight, mean, invstd},
                    backward);
  }
  check_composite(kernels::group_norm, {y, group, group}, {x, w, Tensor()}, forward);
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(group_norm, m23(), 2),
      SHAPE(group_norm, m23(), 0),
      SHAPE(group_norm, ones({3}), 1),
      SHAPE(group_norm, m23(), 3, ones({2})),
      SHAPE(group_norm, m23(), 3, ones({3}), ones({2, 3})),
      DTYPE(group_norm, i23(), 3),
      DTYPE(group_norm, m23(), 3, ones({3}, kFloat64)),
      DEVICE(group_norm, there(), 3, ones({3})),
      VALUE(group_norm, none(), 3),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {CALL(group_norm, strict, given(f(), f({2}), f({2})), t[0], 1, t[1], t[2])};
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {with_dims(RESULT(group_norm, group_norm(o.a, 1), group_norm(o.a.unsqueeze(1), 1)))};
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
