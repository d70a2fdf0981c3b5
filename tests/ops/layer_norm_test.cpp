// Layer and RMS normalisation: values, gradients, the composite, bad calls.
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

namespace {

// x = torch.tensor([[1., -2., .5, 3.], [.25, .25, -1., 4.]], requires_grad=True), float64; w =
// [1.5, -.5, 2., 1.], b = [.1, .2, -.3, .4]; g = [[1., 2., -1., .5], [0., 1., 3., -2.]]
struct Inputs {
  explicit Inputs(Device d)
      : x(tensor({{1., -2., 0.5, 3.}, {0.25, 0.25, -1., 4.}}, f64(d)).requires_grad_()),
        w(tensor({1.5, -0.5, 2., 1.}, f64(d)).requires_grad_()),
        b(tensor({0.1, 0.2, -0.3, 0.4}, f64(d)).requires_grad_()),
        g(tensor({{1., 2., -1., 0.5}, {0., 1., 3., -2.}}, f64(d))) {}
  static TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }
  Tensor x, w, b, g;
};

}  // namespace

TEST_CASE("layer_norm has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    const Inputs o(d);
    // y = F.layer_norm(x, (4,), w, b, 1e-5); (y * g).sum().backward(); x.grad; w.grad; b.grad
    const Tensor y = layer_norm(o.x, {4}, o.w, o.b);
    check_values(y.detach(), {2, 4},
                 {0.415837584983, 0.93695436496, -0.440372259992, 1.73353646993, -0.39999928889,
                  0.36666642963, -2.29999715556, 2.0666642963});
    (y * o.g).sum().backward();
    check_values(o.x.grad(), {2, 4},
                 {0.905850786765, 0.116168452296, -0.957020808886, -0.0649984301751,
                  -0.874071672106, -1.14073795951, 1.51111243851, 0.503697193113});
    check_values(o.w.grad(), {4}, {0.210558389989, -3.2811503191, -2.92980960335, -2.66656035764});
    check_values(o.b.grad(), {4}, {1, 3, 2, -1.5});
  });
}

TEST_CASE("rms_norm has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    const Inputs o(d);
    // y = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w; (y * g).sum().backward()
    const Tensor y = rms_norm(o.x, {4}, o.w, 1e-6);
    check_values(y.detach(), {2, 4},
                 {0.794719302699, 0.529812868466, 0.529812868466, 1.5894386054, 0.181236606833,
                  -0.0604122022776, -0.966595236441, 1.93319047288});
    (y * o.g).sum().backward();
    check_values(o.x.grad(), {2, 4},
                 {0.645999942771, -0.232374148608, -1.1339854169, -0.181251645554, 0.0996580622312,
                  -0.141990746879, 2.5011534604, 0.627933759258});
    check_values(o.w.grad(), {4}, {0.529812868466, -1.99842706931, -1.7147992889, -3.07166164307});
  });
}

// PyTorch 2.15: F.rms_norm(torch.full((2,), 1e-4, dtype=dtype), (2,)); the epsilon is that of the
// dtype, or float32's for float16 and bfloat16.
TEST_CASE("rms_norm without eps uses the epsilon of the dtype of its computation") {
  for_each_device([](Device d) {
    const auto of = [&](DType dtype) {
      const Tensor y = rms_norm(full({2}, 1e-4, TensorOptions(dtype).device(d)), {2});
      CHECK(y.dtype() == dtype);
      return y.to(kFloat64);
    };
    // Results below 0.5 are rounded to 8 and 11 bits, by half a unit in the last place. The operand
    // 1e-4 is rounded, too, which changes the result by half as much.
    check_values(of(kBFloat16), {2}, {0.279296875, 0.279296875}, 0x1p-9);
    check_values(of(kFloat16), {2}, {0.27832, 0.27832}, 0x1p-12);
    check_values(of(kFloat32), {2}, {0.278197, 0.278197}, 1e-6);  // quoted with 6 digits
    check_values(of(kFloat64), {2}, {1, 1}, 1.2e-8);  // eps / 2 relative to the square, 1e-8
  });
}

TEST_CASE("layer_norm normalises all given dims, and is accurate for large means") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 2, 5}), w = wave(d, {2, 5}, 0.3);
    const Tensor flat = layer_norm(x.reshape({3, 10}), {10}, w.reshape({10}));
    CHECK(layer_norm(x, {2, 5}, w).allclose(flat.reshape({3, 2, 5}), 1e-12, 1e-12));
    CHECK(layer_norm(x.transpose(0, 1), {3, 5}).sizes() == IntArrayRef{2, 3, 5});
    // 1e4 + {-1, 0, 1}, exact in float32: the difference of the mean square and the squared mean
    // would have no correct digits. The mean may have an error of an ulp of 1e4, 1e-3, and so may
    // the result.
    const Tensor far = tensor({{9999.f, 10000.f, 10001.f}}, TensorOptions(kFloat32).device(d));
    check_values(layer_norm(far, {3}), {1, 3}, {-1.22473569, 0, 1.22473569}, 1e-3);
    CHECK(layer_norm(zeros({0, 4}, d), {4}).sizes() == IntArrayRef{0, 4});
  });
}

TEST_CASE("layer_norm and rms_norm have correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 4}), w = wave(d, {4}, 0.3) + 1.5, b = wave(d, {4}, 0.2);
    const auto layer = [](const std::vector<Tensor>& in) {
      return layer_norm(in[0], {4}, in[1], in[2], 1e-3);
    };
    const auto plain = [](const std::vector<Tensor>& in) { return layer_norm(in[0], {2, 4}); };
    const auto rms = [](const std::vector<Tensor>& in) { return rms_norm(in[0], {4}, in[1]); };
    gradcheck(layer, {x, w, b});
    gradgradcheck(layer, {x, w, b});
    gradcheck(plain, {wave(d, {3, 2, 4})});
    gradcheck(rms, {x, w});
    gradgradcheck(rms, {x, w});
    const Tensor weight = w.detach().requires_grad_();
    layer_norm(zeros({0, 4}, x.options()), {4}, weight).sum().backward();
    CHECK(weight.grad().equal(zeros({4}, x.options())));
  });
}

TEST_CASE("composite layer_norm and its gradient agree with the kernels") {
  manual_seed(6);
  const Tensor x = normal({5, 6}), w = normal({6}), b = normal({6}), dy = normal({5, 6});
  const Tensor mean = normal({5}), invstd = normal({5}).abs() + 0.5;
  for (const bool centered : {true, false}) {
    const auto forward = [&](auto&& f, Tensors& o, const Tensors& in) {
      f(o[0], o[1], o[2], in[0], in[1], in[2], 1e-3, centered);
    };
    const auto backward = [&](auto&& f, Tensors& o, const Tensors& in) {
      f(o[0], o[1], o[2], in[0], in[1], in[2], in[3], in[4], centered);
    };
    const Tensor y = unwritten({5, 6}), row = unwritten({5}), column = unwritten({6});
    const Tensor center = centered ? mean : zeros({5}, mean.options());
    for (const Tensor& weight : {w, Tensor()}) {
      check_composite(kernels::layer_norm, {y, row, row}, {x, weight, b}, forward);
      check_composite(kernels::layer_norm_grad, {y, column, column},
                      {dy, x, weight, center, invstd}, backward);
    }
    check_composite(kernels::layer_norm, {y, row, row}, {x, w, Tensor()}, forward);
  }
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(layer_norm, m23(), {2}),
      SHAPE(layer_norm, m23(), IntArrayRef{}),
      SHAPE(layer_norm, m23(), {1, 2, 3}),
      SHAPE(layer_norm, m23(), {3}, ones({2})),
      SHAPE(layer_norm, m23(), {3}, ones({3}), ones({2, 3})),
      DTYPE(layer_norm, i23(), {3}),
      DTYPE(layer_norm, m23(), {3}, ones({3}, kFloat64)),
      DEVICE(layer_norm, there(), {3}, ones({3})),
      VALUE(layer_norm, none(), {3}),
      SHAPE(rms_norm, m23(), {4}),
      SHAPE(rms_norm, m23(), {2, 3}, ones({3})),
      DTYPE(rms_norm, i23(), {3}),
      DEVICE(rms_norm, m23(), {3}, ones({3}, "reference")),
      VALUE(rms_norm, none(), {3}),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(layer_norm, strict, given(f(), f({2}), f({2})), t[0], {2}, t[1], t[2]),
      CALL(rms_norm, strict, given(f(), f({2})), t[0], {2}, t[1]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      with_dims(RESULT(layer_norm, layer_norm(o.a, {o.a.size(1)}),
                       layer_norm(o.a, o.a.sizes(), o.unit, o.a))),
      with_dims(RESULT(rms_norm, rms_norm(o.a, {o.a.size(1)}))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
