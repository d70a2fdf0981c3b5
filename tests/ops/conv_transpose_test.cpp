// Transposed and one-dimensional convolution: gradients, bad calls.
// tests/nn/composed_layers_test.cpp compares values.
#include <ambit/ambit.h>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

TEST_CASE("conv_transpose and conv1d have correct first and second gradients") {
  const Tensor x = wave(kCPU, {1, 2, 3, 2}), w = wave(kCPU, {2, 2, 2, 2}, 0.3),
               b = wave(kCPU, {2}, 0.2);
  const auto two = [](const std::vector<Tensor>& in) {
    return conv_transpose2d(in[0], in[1], in[2], {2, 1}, 1, {1, 0});
  };
  gradcheck(two, {x, w, b});
  gradgradcheck(two, {x, w, b});
  const auto far = [](const std::vector<Tensor>& in) {
    return conv_transpose1d(in[0], in[1], {}, 1, 1, 2, 1, 3);
  };
  gradcheck(far, {wave(kCPU, {1, 2, 3}), wave(kCPU, {2, 2, 2}, 0.3)});
  const auto one = [](const std::vector<Tensor>& in) { return conv1d(in[0], in[1], in[2], 2, 1); };
  gradcheck(one, {wave(kCPU, {1, 2, 5}), wave(kCPU, {2, 2, 3}, 0.3), b});
  gradgradcheck(one, {wave(kCPU, {1, 2, 5}), wave(kCPU, {2, 2, 3}, 0.3), b});
}

TEST_CASE("conv_transpose2d inverts the shape of conv2d, and is its adjoint") {
  for_each_device([](Device d) {
    for (const int64_t stride : {1, 2, 3}) {
      const Tensor x = wave(d, {2, 3, 7, 8}), w = wave(d, {4, 3, 3, 2}, 0.3);
      const Tensor y = conv2d(x, w, {}, stride, 1);
      const Tensor g = wave(d, y.sizes(), 0.4);
      const auto rest = [&](int64_t size, int64_t window) { return (size + 2 - window) % stride; };
      const Tensor back = conv_transpose2d(g, w, {}, stride, 1, {rest(7, 3), rest(8, 2)});
      REQUIRE(back.sizes() == x.sizes());
      // <conv(x), g> = <x, conv_transpose(g)>; sums of hundreds of numbers of magnitude 10.
      check_values((back * x).sum(), {}, {(y * g).sum().item<double>()}, 1e-11);
    }
  });
}

namespace {

Tensor back() { return ones({2, 3, 3, 3}); }
Tensor line() { return ones({1, 2, 6}); }
Tensor row() { return ones({2, 2, 3}); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(conv_transpose2d, ones({6, 6}), back()),
      SHAPE(conv_transpose2d, ones({1, 3, 6, 6}), back()),
      SHAPE(conv_transpose2d, image(), row()),
      SHAPE(conv_transpose2d, image(), back(), ones({2})),
      SHAPE(conv_transpose2d, image(), back(), none(), 0),
      SHAPE(conv_transpose2d, image(), back(), none(), 1, 5),
      SHAPE(conv_transpose2d, image(), back(), none(), 2, 0, 2),
      SHAPE(conv_transpose2d, image(), back(), none(), 1, 0, 0, 3),
      DTYPE(conv_transpose2d, image().to(kInt64), back()),
      DTYPE(conv_transpose2d, image(), back().to(kFloat64)),
      DEVICE(conv_transpose2d, image(), back().to("reference")),
      VALUE(conv_transpose2d, none(), back()),
      SHAPE(conv_transpose1d, ones({6}), row()),
      SHAPE(conv_transpose1d, ones({1, 3, 6}), row()),
      SHAPE(conv_transpose1d, line(), row(), ones({3})),
      SHAPE(conv_transpose1d, line(), row(), none(), 1, 0, 1),
      DTYPE(conv_transpose1d, line().to(kInt64), row()),
      DEVICE(conv_transpose1d, line(), row().to("reference")),
      VALUE(conv_transpose1d, none(), row()),
      SHAPE(conv1d, ones({6}), row()),
      SHAPE(conv1d, ones({1, 3, 6}), row()),
      SHAPE(conv1d, ones({1, 2, 2}), row()),
      SHAPE(conv1d, line(), row(), ones({3})),
      SHAPE(conv1d, line(), row(), none(), 0),
      DTYPE(conv1d, line().to(kInt64), row()),
      DEVICE(conv1d, line(), row().to("reference")),
      VALUE(conv1d, none(), row()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(conv_transpose2d, strict, given(f({1, 2, 4, 4}), f({2, 2, 3, 3}), f({2})), t[0], t[1],
           t[2]),
      CALL(conv_transpose1d, strict, given(f({1, 2, 4}), f({2, 2, 3}), f({2})), t[0], t[1], t[2]),
      CALL(conv1d, strict, given(f({1, 2, 4}), f({2, 2, 3}), f({2})), t[0], t[1], t[2]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
