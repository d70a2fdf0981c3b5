// segment_reduce: PyTorch's values, gradients, empty segments, bad calls.
#include <ambit/ambit.h>

#include <cmath>
#include <limits>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

Tensor ints(Device d, const std::vector<int64_t>& values) { return tensor(values).to(d); }

struct Case {
  const char* reduce;
  std::vector<double> values, initial;
};
// d = wave(6, 2); L = torch.tensor([2, 0, 3, 1])
// torch.segment_reduce(d, reduce, lengths=L); torch.segment_reduce(d, reduce, lengths=L,
// initial=.5)
const Case kCases[] = {
    {"sum",
     {0.985449729988, 1.50742705389, 0, 0, -1.16785426013, -1.31642193983, 0.656986598719,
      0.988168233877},
     {1.48544972999, 2.00742705389, 0.5, 0.5, -0.66785426013, -0.81642193983, 1.15698659872,
      1.48816823388}},
    {"prod",
     {0, 0.556094741784, 1, 1, 0.184309377268, 0.00579453918965, 0.656986598719, 0.988168233877},
     {0, 0.278047370892, 0.5, 0.5, 0.0921546886341, 0.00289726959483, 0.328493299359,
      0.494084116939}},
    {"mean",
     {0.492724864994, 0.753713526943, kNaN, kNaN, -0.389284753377, -0.438807313277, 0.656986598719,
      0.988168233877},
     {0.742724864994, 1.00371352694, 0.5, 0.5, -0.22261808671, -0.27214064661, 1.15698659872,
      1.48816823388}},
    {"max",
     {0.985449729988, 0.863209366649, -kInf, -kInf, 0.334988150156, 0.0168139004843, 0.656986598719,
      0.988168233877},
     {0.985449729988, 0.863209366649, 0.5, 0.5, 0.5, 0.5, 0.656986598719, 0.988168233877}},
    {"min",
     {0, 0.644217687238, kInf, kInf, -0.871575772414, -0.982452612624, 0.656986598719,
      0.988168233877},
     {0, 0.5, 0.5, 0.5, -0.871575772414, -0.982452612624, 0.5, 0.5}},
};

}  // namespace

TEST_CASE("segment_reduce has PyTorch's values") {
  for_each_device([](Device d) {
    const Tensor data = wave(d, {6, 2});
    for (const Case& c : kCases) {
      INFO(c.reduce);
      const Tensor lengths = ints(d, {2, 0, 3, 1}), offsets = ints(d, {0, 2, 2, 5, 6});
      check_values(segment_reduce(data, c.reduce, lengths), {4, 2}, c.values);
      check_values(segment_reduce(data, c.reduce, {}, {}, offsets.to(kInt32)), {4, 2}, c.values);
      check_values(segment_reduce(data, c.reduce, lengths, {}, {}, 0, false, 0.5), {4, 2},
                   c.initial);
      // Batches, along columns; elements outside of segments are ignored.
      const Tensor rows = data.t(), each = lengths.expand({2, 4});
      check_values(segment_reduce(rows, c.reduce, each, {}, {}, -1).t(), {4, 2}, c.values);
      const Tensor more = cat({data, data, data}, 0);
      check_values(segment_reduce(more, c.reduce, {}, {}, offsets + 6), {4, 2}, c.values);
      check_values(segment_reduce(more, c.reduce, lengths, {}, {}, 0, true), {4, 2}, c.values);
    }
    const Tensor holed = tensor({1., 2., kNaN, 4., 5., 6.}).to(d);
    for (const char* reduce : {"sum", "prod", "mean", "max", "min"}) {
      const Tensor y = segment_reduce(holed, reduce, ints(d, {2, 3, 1}), {}, {}, 0, false, 1);
      CHECK(isnan(y).cpu().equal(tensor({false, true, false})));
    }
    CHECK(segment_reduce(data.narrow(0, 0, 0), "sum", ints(d, {0, 0}))
              .equal(zeros({2, 2}, data.options())));
    CHECK(segment_reduce(data.narrow(0, 0, 0), "max", ints(d, {})).sizes() == IntArrayRef{0, 2});
    // One rounding to bfloat16: the mean of 1 and 1 + 2^-7 is 1 + 2^-8, which rounds to even, 1.
    const Tensor half =
        segment_reduce(tensor({1, 1.0078125}).to(d).to(kBFloat16), "mean", ints(d, {2}));
    CHECK(half.dtype() == kBFloat16);
    CHECK(half.item<double>() == 1);
    Tensor out = empty({0}, data.options());
    CHECK(segment_reduce_out(out, data, "sum", ints(d, {6})).sizes() == IntArrayRef{1, 2});
  });
}

TEST_CASE("segment_reduce splits gradients among equal elements") {
  for_each_device([](Device d) {
    for (const char* reduce : {"sum", "prod", "mean", "max", "min"}) {
      INFO(reduce);
      for (const std::optional<Scalar>& initial :
           {std::optional<Scalar>(), std::optional<Scalar>(0.5)}) {
        const auto f = [&](const std::vector<Tensor>& in) {
          return segment_reduce(in[0], reduce, ints(d, {2, 3, 1}), {}, {}, 0, false, initial);
        };
        gradcheck(f, {wave(d, {6, 2}) + 0.1});
        gradgradcheck(f, {wave(d, {6, 2}) + 0.1});
      }
    }
    // z = torch.tensor([1., 1, 2, 3, 3, 0], requires_grad=True)
    // torch.segment_reduce(z, "max", lengths=torch.tensor([2, 0, 3, 1]),
    // initial=1).sum().backward()
    const Tensor z = tensor({1., 1., 2., 3., 3., 0.}).to(d).requires_grad_();
    segment_reduce(z, "max", ints(d, {2, 0, 3, 1}), {}, {}, 0, false, 1).sum().backward();
    check_values(z.grad(), {6}, {0.5, 0.5, 0, 0.5, 0.5, 0});
  });
}

TEST_CASE("segment_reduce splits gradients only among infinite elements") {
  // x = torch.tensor(data, requires_grad=True)
  // y = torch.segment_reduce(x, reduce, lengths=torch.tensor([2, 2]), initial=initial)
  // y.backward(torch.tensor([2., 3.])); x.grad
  struct Infinite {
    const char* reduce;
    std::vector<double> data;
    std::optional<Scalar> initial;
    std::vector<double> grad;
  };
  const std::vector<Infinite> cases = {
      {"max", {-kInf, -kInf, 1, 2}, {}, {1, 1, 0, 3}},
      {"max", {-kInf, 3, -kInf, -kInf}, {}, {0, 2, 1.5, 1.5}},
      {"max", {-kInf, -kInf, 1, 2}, -kInf, {1, 1, 0, 3}},
      {"max", {-kInf, -kInf, 1, 2}, 0, {0, 0, 0, 3}},
      {"max", {kInf, kInf, 1, 2}, kInf, {1, 1, 0, 0}},
      {"max", {kInf, kInf, kInf, kNaN}, {}, {1, 1, 0, 3}},
      {"min", {kInf, kInf, 1, 2}, {}, {1, 1, 3, 0}},
      {"min", {1, 1, kInf, kInf}, kInf, {1, 1, 1.5, 1.5}},
      {"min", {kInf, kInf, 1, 2}, 0, {0, 0, 0, 0}},
      {"min", {-kInf, -kInf, -kInf, kInf}, 0, {1, 1, 3, 0}},
  };
  for_each_device([&](Device d) {
    for (const Infinite& c : cases) {
      const Tensor x = tensor(c.data).to(d).requires_grad_();
      INFO(c.reduce << " of " << x);
      segment_reduce(x, c.reduce, ints(d, {2, 2}), {}, {}, 0, false, c.initial)
          .backward(tensor({2., 3.}).to(d).to(x.dtype()));
      check_values(x.grad(), {4}, c.grad);
    }
    // scatter_reduce() without include_self splits the gradient in the same way; an element of self
    // without a source has the whole gradient.
    const Tensor self = full({2}, 5.).to(d).requires_grad_();
    const Tensor src = full({2}, -kInf).to(d).requires_grad_();
    const Tensor out = scatter_reduce(self, 0, ints(d, {0, 0}), src, "amax", false);
    out.backward(tensor({2.F, 3.F}).to(d));
    check_values(src.grad(), {2}, {1, 1});
    check_values(self.grad(), {2}, {0, 3});
  });
}

namespace {

Tensor lengths(const std::vector<int64_t>& values = {1, 1}) { return tensor(values); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(segment_reduce, m23(), "sum"),
      VALUE(segment_reduce, m23(), "sum", lengths(), std::nullopt, lengths()),
      VALUE(segment_reduce, m23(), "norm", lengths()),
      VALUE(segment_reduce, none(), "sum", lengths()),
      VALUE(segment_reduce, m23(), "sum", none()),
      BAD(NotImplementedError, segment_reduce, m23(), "sum", lengths(), lengths()),
      DTYPE(segment_reduce, i23(), "sum", lengths()),
      DTYPE(segment_reduce, m23(), "sum", ones({2})),
      SHAPE(segment_reduce, m23(), "sum", ones({1, 2}, kInt64)),
      SHAPE(segment_reduce, m23(), "sum", ones({3, 2}, kInt64), std::nullopt, std::nullopt, 1),
      SHAPE(segment_reduce, m23(), "sum", std::nullopt, std::nullopt, ones({0}, kInt64)),
      INDEX(segment_reduce, m23(), "sum", lengths(), std::nullopt, std::nullopt, 2),
      INDEX(segment_reduce, m23(), "sum", lengths({1, 2})),
      INDEX(segment_reduce, m23(), "sum", lengths({1, 0})),
      INDEX(segment_reduce, m23(), "sum", lengths({3, -1})),
      INDEX(segment_reduce, m23(), "sum", lengths({1, 2}), std::nullopt, std::nullopt, 0, true),
      INDEX(segment_reduce, m23(), "sum", std::nullopt, std::nullopt, lengths({0, 3})),
      INDEX(segment_reduce, m23(), "sum", std::nullopt, std::nullopt, lengths({2, 1})),
      DEVICE(segment_reduce, there(), "sum", lengths()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
#define LENGTHS MADE(ones({o.a.size(0)}, o.n.options()))
  return {
      with_dims(RESULT(segment_reduce, segment_reduce(o.a, "sum", LENGTHS),
                       segment_reduce(o.a, "prod", LENGTHS), segment_reduce(o.a, "mean", LENGTHS),
                       segment_reduce(o.a, "max", LENGTHS, {}, {}, 0, false, 0.5),
                       segment_reduce(o.a, "min", LENGTHS, {}, {}, 0, false, 0.5)))};
#undef LENGTHS
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
