// Every public function that computes: its result on each device against the reference backend's,
// on contiguous, strided, offset, broadcast, empty and 0-dim inputs. Other tests check the values;
// this one only checks that devices agree.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "agreement_calls.h"
#include "agreement_operands.h"
#include "declared_functions.h"
#include "tests/devices.h"

using namespace ambit;
using namespace agreement;

namespace {

#define BINARY(f, x, y) \
  RESULT(f, f(o.x, o.y), f(o.x, 3)), IN_PLACE(f##_, o.x, o.y), IN_PLACE(f##_, o.x, 3)
#define LOGICAL(f) RESULT(f, f(o.yes, o.no), f(o.a, o.n)), IN_PLACE(f##_, o.yes, o.no)

// Return `floats` for a unary function of floating-point numbers, and o.n for one of integers only.
const Tensor& operand_of(UnaryOp map, const Operands& o, const Tensor& floats) {
  return row_of(map).dtypes.contains(kFloat32) ? floats : o.n;
}
std::vector<Call> map_calls() {
#define MAP(f, ...)                                                                   \
  RESULT(f, f(operand_of(UnaryOp::f, o, o.a)), f(operand_of(UnaryOp::f, o, o.unit))), \
      IN_PLACE(f##_, operand_of(UnaryOp::f, o, o.a)),
  return {AMBIT_UNARY_MAPS(MAP)};
#undef MAP
}

// The result is on the host, like the results of equal() and allclose().
Tensor truth(bool value) { return tensor(value, TensorOptions(kBool).device(kCPU)); }

std::vector<Call> elementwise_calls() {
  return {
      BINARY(add, a, b),
      RESULT(add, add(o.n, o.m, 2), add(o.yes, o.no), add(o.a, o.n)),
      BINARY(sub, a, b),
      RESULT(rsub, rsub(o.a, 2)),
      BINARY(mul, a, b),
      RESULT(mul, o.n * o.m),
      BINARY(div, a, unit),
      RESULT(div, o.n / o.m, div(o.n, o.m, "floor"), div(o.n, o.m, "trunc")),
      BINARY(floor_divide, n, m),
      RESULT(floor_divide, floor_divide(o.a, o.unit)),
      BINARY(remainder, n, m),
      RESULT(remainder, remainder(o.a, o.unit)),
      BINARY(fmod, n, m),
      RESULT(fmod, fmod(o.a, o.unit)),
      BINARY(pow, unit, b),
      RESULT(pow, pow(o.n, 3), pow(o.a, 2), pow(o.unit, 0.5), pow(2, o.a), pow(o.n, o.m)),
      BINARY(eq, n, m),
      BINARY(ne, n, m),
      BINARY(lt, a, b),
      BINARY(le, a, b),
      BINARY(gt, a, b),
      BINARY(ge, n, m),
      BINARY(bitwise_and, n, m),
      BINARY(bitwise_or, n, m),
      BINARY(bitwise_xor, n, m),
      LOGICAL(logical_and),
      LOGICAL(logical_or),
      LOGICAL(logical_xor),
      RESULT(atan2, atan2(o.a, o.b)),
      IN_PLACE(atan2_, o.a, o.unit),
      RESULT(maximum, maximum(o.a, o.b), maximum(o.n, o.m)),
      RESULT(minimum, minimum(o.a, o.b)),
      RESULT(neg, neg(o.n)),
      RESULT(abs, abs(o.a)),
      RESULT(sign, sign(o.n)),
      RESULT(exp, exp(o.n)),
      RESULT(square, square(o.n)),
      RESULT(relu, relu(o.n)),
      RESULT(bitwise_not, bitwise_not(o.yes)),
      RESULT(logical_not, logical_not(o.n)),
      RESULT(gelu, gelu(o.a), gelu(o.a, "tanh")),
      RESULT(isnan, isnan(MADE(log(o.a)))),
      RESULT(isinf, isinf(MADE(o.a / 0.0))),
      RESULT(isfinite, isfinite(MADE(log(o.a)))),
      RESULT(clamp, clamp(o.a, -0.5, 0.5), clamp(o.n, 0), clamp(o.a, std::nullopt, 0.1)),
      IN_PLACE(clamp_, o.a, -0.5, 0.5),
      RESULT(where, where(o.yes, o.a, o.b), where(o.yes, o.n, 1), where(o.no, 0.5, o.a)),
      RESULT(masked_fill, masked_fill(o.a, o.yes, 2)),
      IN_PLACE(masked_fill_, o.n, o.yes, 2),
      IN_PLACE(fill_, o.a, 3),
      IN_PLACE(copy_, o.a, o.b),
      IN_PLACE(copy_, o.n, o.a),
      RESULT(isclose, isclose(o.a, o.b, 0.5, 0.5)),
      RESULT(equal, truth(equal(o.a, o.a)), truth(equal(o.n, o.m))),
      RESULT(allclose, truth(allclose(o.a, o.a)), truth(allclose(o.a, o.b))),
      RESULT(clone, clone(o.a)),
      RESULT(contiguous, contiguous(o.a)),
      RESULT(to, o.a.to(kInt32), o.n.to(kFloat32), o.a.to(kBool), o.yes.to(kFloat64),
             o.n.to(kUInt8)),
      RESULT(zeros_like, zeros_like(o.a)),
      RESULT(ones_like, ones_like(o.n)),
      RESULT(full_like, full_like(o.a, 2.5)),
  };
}

std::vector<Call> reduce_calls() {
  return {
      RESULT(sum, sum(o.a), sum(o.n), sum(o.yes), sum(o.a, {0}), sum(o.a, {-1}, true)),
      RESULT(mean, mean(o.a), mean(o.a, {0})),
      RESULT(prod, prod(o.unit), prod(o.m), prod(o.unit, 0)),
      with_dims(RESULT(var, var(o.a), var(o.a, IntArrayRef{1}), var(o.a, false))),
      with_dims(RESULT(std, ambit::std(o.a, IntArrayRef{1}))),
      not_empty(RESULT(max, max(o.a), max(o.n), std::get<0>(max(o.a, 0)), std::get<1>(max(o.n, 0)),
                       max(o.a, o.b))),
      not_empty(RESULT(min, min(o.a), std::get<0>(min(o.a, -1, true)), std::get<1>(min(o.n, -1)),
                       min(o.a, o.b))),
      not_empty(RESULT(argmax, argmax(o.a), argmax(o.n, 0), argmax(o.a, -1, true))),
      not_empty(RESULT(argmin, argmin(o.a), argmin(o.n, 0))),
      RESULT(any, any(o.yes), any(o.n, 0)),
      RESULT(all, all(o.yes), all(o.a, -1, true)),
      RESULT(norm, norm(o.a), norm(o.a, 1), norm(o.a, 3, {0}), norm(o.a, 0)),
      not_empty(RESULT(logsumexp, logsumexp(o.a, {0}))),
      RESULT(cumsum, cumsum(o.a, 0), cumsum(o.n, -1)),
      RESULT(softmax, softmax(o.a, 0), softmax(o.a, -1)),
      RESULT(log_softmax, log_softmax(o.a, 0), log_softmax(o.a, -1)),
  };
}

std::vector<Call> shape_and_index_calls() {
  return {
      RESULT(view, o.a.contiguous().view({-1, 1})),
      RESULT(reshape, o.a.reshape({1, -1, 1})),
      with_dims(RESULT(transpose, transpose(o.a, 0, 1))),
      with_dims(RESULT(permute, permute(o.a, {1, 0}))),
      RESULT(t, t(o.a)),
      RESULT(squeeze, o.a.unsqueeze(0).squeeze()),
      RESULT(unsqueeze, unsqueeze(o.a, 0)),
      with_dims(RESULT(expand, expand(o.a, {3, -1, -1}))),
      full_only(RESULT(select, select(o.a, 0, 1))),
      with_dims(RESULT(slice, slice(o.a, 1, 1, 5, 2))),
      with_dims(RESULT(narrow, narrow(o.a, 1, 1, 3))),
      RESULT(flatten, flatten(o.a)),
      not_empty(RESULT(as_strided, as_strided(o.a, {1}, {1}))),
      with_dims(Call{"unbind", [](const Operands& o) { return unbind(o.a, 1); }}),
      with_dims(Call{"split", [](const Operands& o) { return split(o.a, 2, 1); }}),
      with_dims(Call{"chunk", [](const Operands& o) { return chunk(o.a, 2, 1); }}),
      with_dims(RESULT(repeat, repeat(o.a, {2, 1, 3}))),
      with_dims(RESULT(flip, flip(o.a, {0, 1}))),
      with_dims(RESULT(cat, cat({o.a, o.n, o.a}, 1))),
      RESULT(stack, stack({o.a, o.a}, -1)),
      full_only(RESULT(index, o.a.index({1, indexing::Slice(1, 4, 2)}), o.a.index({o.yes}),
                       o.a.index({"...", MADE(tensor({0, 2, -1}, o.a.device()))}))),
      full_only(IN_PLACE(index_put_, o.a, {o.yes}, 5)),
      full_only(RESULT(index_select, index_select(o.a, 1, MADE(tensor({0, 4, 0}, o.a.device()))))),
      full_only(RESULT(gather, gather(o.a, 0, MADE(o.m.remainder(4))))),
      full_only(RESULT(scatter, scatter(o.a, 1, MADE(o.m.remainder(5)), MADE(o.a * 0)))),
      full_only(RESULT(scatter_add, scatter_add(o.a, 1, MADE(o.m.remainder(5)), o.unit))),
      full_only(IN_PLACE(scatter_, o.a, 1, MADE(o.m.remainder(5)), MADE(o.a * 0))),
      full_only(IN_PLACE(scatter_add_, o.a, 1, MADE(o.m.remainder(5)), o.unit)),
      RESULT(masked_select, masked_select(o.a, o.yes)),
      RESULT(nonzero, nonzero(o.n), nonzero(o.yes)),
      full_only(RESULT(embedding, embedding(o.a, MADE(o.m.remainder(4))))),
      RESULT(one_hot, one_hot(o.m, 9)),
  };
}

std::vector<Call> matrix_and_network_calls() {
  return {
      with_dims(RESULT(matmul, matmul(o.a, o.unit.t()), matmul(o.n, o.m.t()))),
      with_dims(RESULT(mm, mm(o.a.t(), o.unit))),
      with_dims(RESULT(
          bmm, bmm(o.a.unsqueeze(0).expand({3, -1, -1}), MADE(o.unit.t().repeat({3, 1, 1}))))),
      with_dims(RESULT(mv, mv(o.a, MADE(ones({5}, o.a.options()))))),
      RESULT(dot, dot(o.a.reshape({-1}), o.unit.reshape({-1}))),
      with_dims(RESULT(addmm, addmm(MADE(tensor(2.0, o.a.options())), o.a, o.unit.t(), 0.5, 2))),
      with_dims(RESULT(linear, linear(o.a, o.unit), linear(o.a, o.unit, MADE(o.a.sum(1))))),
      RESULT(mse_loss, mse_loss(o.a, o.unit), mse_loss(o.a, o.unit, Reduction::none)),
      full_only(RESULT(nll_loss, nll_loss(o.a, MADE(o.m.select(1, 0).remainder(5))))),
      full_only(
          RESULT(cross_entropy, cross_entropy(o.a, MADE(o.m.select(1, 0).remainder(5))),
                 cross_entropy(o.a, MADE(softmax(o.unit, 1)), {}, Reduction::sum, -100, 0.1))),
  };
}

// Images have four dims, so they are created here: batches of 0 and 3, channels-last strides too.
std::vector<Tensor> run_network_ops(Device device, int64_t batch, bool channels_last) {
  manual_seed(11);
  Tensor x = randn({batch, 4, 9, 8}).to(device);
  if (channels_last) x = x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
  const Tensor w = randn({6, 2, 3, 2}).to(device), b = randn({6}).to(device);
  const ConvParams conv{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2};
  const PoolParams pool{.kernel = {3, 2}, .stride = {2, 2}, .padding = {1, 0}, .ceil_mode = true};
  const Tensor y = conv2d(x, w, b, conv);
  const Tensor mean = randn({4}).to(device), var = rand({4}).to(device) + 0.5;
  const auto [largest, where] = max_pool2d_with_indices(x, pool);
  std::vector<Tensor> out{y,
                          convolution_input_grad(y, w, x.sizes(), conv),
                          convolution_weight_grad(y, x, w.sizes(), conv),
                          max_pool2d(x, pool),
                          largest,
                          where,
                          avg_pool2d(x, pool),
                          adaptive_avg_pool2d(x, {3, 2}),
                          adaptive_avg_pool2d(x, {4, 3})};
  BatchNormParams norm;
  if (batch > 0) out.push_back(batch_norm(x, var, mean, mean, var, norm));
  norm.training = false;
  out.push_back(batch_norm(x, var, mean, mean, var, norm));
  out.insert(out.end(), {mean, var});
  const Tensor back = randn({4, 3, 3, 2}).to(device), row = x.reshape({batch, 4, 72});
  out.push_back(conv_transpose2d(x, back, b, {2, 1}, {1, 0}, {1, 0}, 2));
  out.push_back(conv_transpose1d(row, back.select(3, 0).contiguous(), {}, 2, 1, 1));
  out.push_back(conv1d(row, w.select(3, 0).contiguous(), b, 2, 1, 2, 2));
  const Tensor block = x.reshape({batch, 4, 3, 3, 8}), deep = randn({6, 2, 2, 3, 2}).to(device);
  out.push_back(conv3d(block, deep, b, {2, 1, 3}, {1, 2, 0}, 1, 2));
  out.push_back(conv_transpose3d(block, randn({4, 2, 2, 1, 3}).to(device), b.narrow(0, 0, 2), 2));
  out.push_back(convolution(block, deep, b, 1, 1, 1, false, 0, 2));
  return out;
}
const std::vector<std::string> kNetworkOps{"conv1d",
                                           "conv3d",
                                           "conv_transpose3d",
                                           "convolution",
                                           "conv_transpose1d",
                                           "conv_transpose2d",
                                           "conv2d",
                                           "convolution_input_grad",
                                           "convolution_weight_grad",
                                           "max_pool2d",
                                           "max_pool2d_with_indices",
                                           "avg_pool2d",
                                           "batch_norm",
                                           "adaptive_avg_pool2d"};

// Functions that draw, create or only describe tensors have separate tests: creation_test,
// random_test, distributions_test.
const std::vector<std::string> kElsewhere{
    "empty", "empty_strided", "zeros", "ones", "full", "empty_like", "arange", "linspace", "eye",
    "tensor", "scalar_tensor", "from_blob", "rand", "randn", "randint", "randperm", "rand_like",
    "randn_like", "randint_like", "bernoulli", "uniform_", "normal_", "random_", "bernoulli_",
    "dropout", "result_type", "normal", "poisson", "exponential_", "geometric_", "cauchy_",
    "log_normal_", "binomial", "dropout_", "can_cast",
    // functions of nn are tested by layers_test, aten_functions_test and unpool_test
    "native_dropout", "dropout2d", "dropout3d", "alpha_dropout", "feature_dropout",
    "feature_dropout_", "feature_alpha_dropout", "gumbel_softmax"};

const CallTable<Call> kMaps(map_calls);
const CallTable<Call> kElementwise(elementwise_calls);
const CallTable<Call> kReductions(reduce_calls);
const CallTable<Call> kShapes(shape_and_index_calls);
const CallTable<Call> kNetworks(matrix_and_network_calls);

void check_agree(const Tensor& got, const Tensor& want) {
  REQUIRE(got.sizes() == want.sizes());
  REQUIRE(got.dtype() == want.dtype());
  if (!got.is_floating_point()) {
    CHECK(got.cpu().equal(want.cpu()));
    return;
  }
  // Sums of up to 144 float32 terms of magnitude 1: error below 144 * 2^-24 = 9e-6 of the largest
  // sum; functions are within 4 ulp, 3e-7.
  CHECK(got.cpu().allclose(want.cpu(), 1e-5, 1e-5, true));
}

}  // namespace

TEST_CASE("devices agree with the reference, for every function and layout") {
  const Device reference("reference");
  for (const InputLayout& layout : layouts()) {
    const Operands expected = draw(layout, reference);
    for_each_device([&](Device device) {
      if (device == reference) return;
      const Operands given = draw(layout, device);
      for (const Call& call : CallTable<Call>::all()) {
        if ((given.is_empty && !call.takes_empty) || (given.is_scalar && !call.takes_scalar))
          continue;
        INFO(call.function, ", ", layout.name);
        const std::vector<Tensor> want = call.run(expected), got = call.run(given);
        REQUIRE(got.size() == want.size());
        for (size_t i = 0; i < got.size(); ++i) {
          INFO("result ", i);
          check_agree(got[i], want[i]);
        }
      }
    });
  }
}

// The host cannot read the memory of a simulated device, so a function that creates a host tensor
// without an explicit device ends the program here.
TEST_CASE("no function depends on the default device") {
  const Operands o = draw(layouts()[0], kCPU);
  for (const Call& call : CallTable<Call>::all()) {
    INFO(std::string(call.function));
    const std::vector<Tensor> want = call.run(o);
    const DefaultDeviceGuard elsewhere("sim");
    const std::vector<Tensor> got = call.run(o);
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].device() == want[i].device());
      check_agree(got[i], want[i]);
    }
  }
}

TEST_CASE("devices agree with the reference on images") {
  for (const int64_t batch : {3, 0}) {
    for (const bool channels_last : {false, true}) {
      const auto want = run_network_ops(Device("reference"), batch, channels_last);
      for_each_device([&](Device device) {
        const auto got = run_network_ops(device, batch, channels_last);
        for (size_t i = 0; i < got.size(); ++i) {
          INFO("result ", i, " of a batch of ", batch);
          check_agree(got[i], want[i]);
        }
      });
    }
  }
}

TEST_CASE("the agreement table has every function that computes") {
  std::set<std::string> tested(kNetworkOps.begin(), kNetworkOps.end());
  tested.insert(kElsewhere.begin(), kElsewhere.end());
  for (const Call& call : CallTable<Call>::all()) tested.insert(call.function);
  std::set<std::string> declared = declared_functions();
  declared.merge(declared_functions_of_nn());
  for (const std::string& name : declared) {
    INFO("declared but not in the table: ", name);
    CHECK(tested.count(name) == 1);
  }
}
