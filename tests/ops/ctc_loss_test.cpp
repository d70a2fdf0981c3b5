// CTC: values, gradients, all forms of targets, impossible targets, bad calls.
#include <ambit/ambit.h>

#include <cmath>
#include <limits>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor numbers(Device d, std::initializer_list<int64_t> values, DType dtype = kInt64) {
  return tensor(std::vector<int64_t>(values), TensorOptions(kInt64)).to(dtype).to(d);
}

// y = torch.tensor([[1, 2, 2], [3, 1, 0], [2, 0, 0]]), padded with arbitrary labels
Tensor padded(Device d) { return numbers(d, {1, 2, 2, 3, 1, 0, 2, -7, 99}).view({3, 3}); }

}  // namespace

TEST_CASE("ctc_loss has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    // x = wave(5, 3, 4).requires_grad_(); lp = F.log_softmax(x, 2)
    const Tensor x = wave(d, {5, 3, 4}).requires_grad_(), lp = log_softmax(x, 2);
    // F.ctc_loss(lp, y, (5, 4, 3), (3, 2, 1), reduction=r)
    const auto loss = [&](Reduction r) {
      return ctc_loss(lp, padded(d), {5, 4, 3}, {3, 2, 1}, 0, r);
    };
    check_values(loss(kNone).detach(), {3}, {6.00732052793, 2.18982478863, 2.45319947267});
    check_values(loss(kSum).detach(), {}, {10.6503447892});
    const Tensor mean = loss(kMean);
    check_values(mean.detach(), {}, {1.85018401432});
    const std::vector<Tensor> g = autograd::grad({mean}, {x, lp}, {}, true);
    const std::vector<double> first{0.00703476146038, -0.0775737229252, 0.0374224775031,
                                    0.0331164839618,  -0.0400683573713, 0.0405410874022,
                                    0.0240834147487,  -0.0245561447796, -0.0286998689467,
                                    0.0549930068975,  -0.171558240014,  0.145265102063};
    check_values(g[0][0], {3, 4}, first);
    check_values(g[1][0], {3, 4},
                 first);  // PyTorch's formula, whose rows have the sum 0 after log_softmax
    check_values(g[0][4], {3, 4},
                 {0.0105362537044, 0.0310941807174, -0.0513357300909, 0.00970529566909, 0, 0, 0, 0,
                  0, 0, 0, 0});
    // F.ctc_loss(lp, torch.tensor([1, 2, 2, 3, 1, 2]), (5, 4, 3), (3, 2, 1), blank=2, ...)
    const Tensor listed = numbers(d, {1, 2, 2, 3, 1, 2}, kInt32);
    check_values(ctc_loss(lp, listed, {5, 4, 3}, {3, 2, 1}, 2, kNone).detach(), {3},
                 {5.61530199852, 3.15512629494, 2.69236572191});
    // The same call with targets.byte() in PyTorch 2.15.
    check_values(ctc_loss(lp, listed.to(kUInt8), {5, 4, 3}, {3, 2, 1}, 2, kNone).detach(), {3},
                 {5.61530199852, 3.15512629494, 2.69236572191});
    // F.ctc_loss(lp[:, 0], y[0], torch.tensor(5), torch.tensor(3))
    const Tensor single =
        ctc_loss(lp.select(1, 0), padded(d)[0], numbers(kCPU, {5})[0], numbers(kCPU, {3}, kInt32));
    check_values(single.detach(), {}, {2.00244017598});
    CHECK(ctc_loss(lp.select(1, 0), padded(d)[0], {5}, {3}, 0, kNone).dim() == 0);
  });
}

TEST_CASE("ctc_loss of targets without a path is inf, or 0 if requested") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {5, 3, 4}).requires_grad_(), lp = log_softmax(x, 2);
    const Tensor listed = numbers(d, {1, 2, 2, 3, 1});
    const auto loss = [&](Reduction r, bool zero_infinity) {
      return ctc_loss(lp, listed, {2, 4, 3}, {3, 2, 0}, 0, r, zero_infinity);
    };
    check_values(loss(kNone, false).detach(), {3}, {kInfinity, 2.18982478863, 4.51064666616});
    const Tensor mean = loss(kMean, true);
    check_values(mean.detach(), {}, {1.86851968683});
    const auto gradient = [&](const Tensor& of) { return autograd::grad({of}, {x}, {}, true)[0]; };
    check_values(gradient(mean)[0], {3, 4},
                 {0, 0, 0, 0, -0.0400683573713, 0.0405410874022, 0.0240834147487, -0.0245561447796,
                  -0.304569307842, 0.0549930068975, 0.104311198881, 0.145265102063});
    const Tensor lost = gradient(loss(kSum, false));
    CHECK(lost.select(1, 0).narrow(0, 0, 2).isnan().all().item<bool>());
    CHECK(!lost.select(1, 1).isnan().any().item<bool>());
    // Without time steps there is one path, without labels.
    const Tensor none = ctc_loss(lp, listed, {0, 0, 3}, {3, 0, 2}, 0, kNone, false);
    CHECK(none[0].item<double>() == kInfinity);
    CHECK(none[1].item<double>() == 0);
    CHECK(ctc_loss(zeros({0, 1, 4}, lp.options()), numbers(d, {}), IntArrayRef{0}, IntArrayRef{0})
              .item<double>() == 0);
    CHECK(ctc_loss(zeros({4, 0, 4}, lp.options()), numbers(d, {}), IntArrayRef(), IntArrayRef(), 0,
                   kNone)
              .numel() == 0);
  });
}

TEST_CASE("ctc_loss ignores times and labels after a sequence's end") {
  for_each_device([](Device d) {
    const Tensor lp = log_softmax(wave(d, {5, 2, 4}), 2).detach().clone();
    const Tensor before = ctc_loss(lp, numbers(d, {1, 2, 3}), {5, 2}, {2, 1}, 0, kNone);
    lp.narrow(0, 2, 3).select(1, 1).fill_(std::numeric_limits<double>::quiet_NaN());
    lp.requires_grad_();
    const Tensor after = ctc_loss(lp, numbers(d, {1, 2, 3}), {5, 2}, {2, 1}, 0, kNone);
    CHECK(after.detach().equal(before));
    after.sum().backward();
    CHECK(!lp.grad().isnan().any().item<bool>());
    // A class with probability 0 contributes nothing, and does not affect others.
    const Tensor never = lp.detach().nan_to_num(0).clone();
    never.select(2, 0).fill_(-kInfinity);  // no blanks
    never.requires_grad_();
    const Tensor tight = ctc_loss(never, numbers(d, {1, 2, 3}), {2, 2}, {2, 1}, 0, kNone);
    check_values(tight.detach().narrow(0, 0, 1), {1},
                 {-(never[0][0][1] + never[1][0][2]).item<double>()}, 1e-12);
    tight[0].backward();
    CHECK(!never.grad().isnan().any().item<bool>());
  });
}

TEST_CASE("ctc_loss has the correct gradient after log_softmax, and no second one") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {6, 2, 4});
    const auto loss = [d](const std::vector<Tensor>& in) {
      return ctc_loss(log_softmax(in[0], 2), numbers(d, {1, 1, 3, 2}).view({2, 2}), {6, 4}, {2, 2},
                      0, kNone);
    };
    gradcheck(loss, {x});
    gradcheck([&](const std::vector<Tensor>& in) { return loss(in).mean(); }, {x});
    const Tensor leaf = x.clone().requires_grad_();
    const Tensor g = autograd::grad({loss({leaf}).sum()}, {leaf}, {}, true, true)[0];
    CHECK_THROWS_AS(g.sum().backward(), NotImplementedError);
  });
}

TEST_CASE("nn::CTCLoss and the function with options equal ctc_loss") {
  const Tensor lp = log_softmax(wave(kCPU, {5, 3, 4}), 2);
  const Tensor in = numbers(kCPU, {5, 4, 3}), out = numbers(kCPU, {3, 2, 1});
  const nn::CTCLoss loss(nn::CTCLossOptions().reduction(kSum).zero_infinity(true));
  const double want = ctc_loss(lp, padded(kCPU), in, out, 0, kSum, true).item<double>();
  CHECK(loss->forward(lp, padded(kCPU), in, out).item<double>() == want);
  namespace F = nn::functional;
  CHECK(F::ctc_loss(lp, padded(kCPU), in, out, F::CTCLossFuncOptions().reduction(kSum))
            .item<double>() == want);
  CHECK(F::ctc_loss(lp, padded(kCPU), in, out).item<double>() ==
        ctc_loss(lp, padded(kCPU), in, out).item<double>());
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
#define LP zeros({4, 2, 3})
#define Y ones({2, 2}, kInt64)
  return {
      SHAPE(ctc_loss, ones({4}), ones({2}, kInt64), {4}, {2}),
      SHAPE(ctc_loss, LP, Y, {4}, {1, 1}),
      SHAPE(ctc_loss, LP, Y, {4, 4}, {1, 1, 1}),
      SHAPE(ctc_loss, LP, Y, {5, 4}, {1, 1}),
      SHAPE(ctc_loss, LP, Y, {4, -1}, {1, 1}),
      SHAPE(ctc_loss, LP, Y, {4, 4}, {1, 3}),
      SHAPE(ctc_loss, LP, Y, {4, 4}, {1, -3}),
      SHAPE(ctc_loss, LP, ones({3, 2}, kInt64), {4, 4}, {1, 1}),
      SHAPE(ctc_loss, LP, ones({3}, kInt64), {4, 4}, {1, 1}),
      SHAPE(ctc_loss, LP, ones({2, 2, 2}, kInt64), {4, 4}, {1, 1}),
      SHAPE(ctc_loss, ones({4, 3}), Y, {4}, {1}),
      SHAPE(ctc_loss, ones({4, 3}), ones({3}, kInt64), {4}, {2}),
      SHAPE(ctc_loss, LP, Y, ones({1, 2}, kInt64), ones({2}, kInt64)),
      DTYPE(ctc_loss, LP, ones({2, 2}), {4, 4}, {1, 1}),
      DTYPE(ctc_loss, LP.to(kInt64), Y, {4, 4}, {1, 1}),
      DTYPE(ctc_loss, LP, Y, ones({2}), ones({2}, kInt64)),
      VALUE(ctc_loss, LP, Y, {4, 4}, {1, 1}, 3),
      VALUE(ctc_loss, LP, Y, {4, 4}, {1, 1}, -1),
      VALUE(ctc_loss, none(), Y, {4, 4}, {1, 1}),
      VALUE(ctc_loss, LP, none(), {4, 4}, {1, 1}),
      VALUE(ctc_loss, LP, Y, none(), ones({2}, kInt64)),
      INDEX(ctc_loss, LP, ones({2, 2}, kInt64) * 3, {4, 4}, {1, 1}),
      INDEX(ctc_loss, LP, ones({2, 2}, kInt64) * -1, {4, 4}, {1, 1}),
      DEVICE(ctc_loss, LP, ones({2, 2}, TensorOptions(kInt64).device("reference")), {4, 4}, {1, 1}),
  };
#undef LP
#undef Y
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto lp = [] { return zeros({4, 2, 3}); };
  const auto lengths = [] { return ones({2}, kInt64); };
  return {
      CALL(ctc_loss, strict, given(lp(), places()), t[0], t[1], {4, 4}, {1, 1}),
      CALL(ctc_loss, indexing, given(lp(), places(), lengths(), lengths()), t[0], t[1], t[2], t[3]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

// Times, sequences and classes with the operands' sizes, if they have two dims.
std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  const auto losses = [](const Operands& o) -> std::vector<Tensor> {
    const Tensor x = MADE(log_softmax(stack({o.a, o.unit, o.a * o.unit}, 2), 2));  // [T,N,3]
    const int64_t times = x.size(0), n = x.size(1);
    const std::vector<int64_t> all(static_cast<size_t>(n), times), some(static_cast<size_t>(n), 2);
    const Tensor y = MADE(remainder(o.n.narrow(0, 0, 2).t(), 2) + 1);
    return {ctc_loss(x, y, all, some, 0, Reduction::none)};
  };
  Call call{"ctc_loss", losses};
  return {full_only(std::move(call))};
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
