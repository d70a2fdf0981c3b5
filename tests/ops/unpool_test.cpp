// Fractional maximum pooling and unpooling: values, gradients, bad calls.
#include <ambit/ambit.h>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

TEST_CASE("fractional_max_pool2d and 3d use PyTorch's windows for the samples") {
  for_each_device([](Device d) {
    // F.fractional_max_pool2d(wave(1, 2, 6, 7), (2, 3), (3, 4), return_indices=True,
    //   _random_samples=torch.tensor([[[.3, .8], [.55, .1]]]).double())
    const TensorOptions f64 = TensorOptions(kFloat64).device(d);
    const Tensor image = wave(d, {1, 2, 6, 7});
    const Tensor u = tensor({{{0.3, 0.8}, {0.55, 0.1}}}, f64);
    const auto [y2, at2] = fractional_max_pool2d(image, {2, 3}, {3, 4}, u);
    check_values(at2, {1, 2, 3, 4}, {2, 2, 11, 11, 21, 22, 19, 20, 29, 38, 38, 39,
                                     7, 4, 5,  5,  23, 23, 24, 25, 30, 32, 32, 41});
    CHECK(y2.equal(gather(image.flatten(2), 2, at2.flatten(2)).view(y2.sizes())));
    CHECK(at2.dtype() == kInt64);
    // F.fractional_max_pool3d(wave(1, 1, 4, 5, 6), 2, (2, 3, 4), return_indices=True,
    //   _random_samples=torch.tensor([[[.3, .8, .5]]]).double())
    const Tensor cube = wave(d, {1, 4, 5, 6});
    const auto [y3, at3] =
        fractional_max_pool3d(cube, 2, {2, 3, 4}, tensor({{{0.3, 0.8, 0.5}}}, f64));
    check_values(at3, {1, 2, 3, 4}, {30, 38, 3,   11,  12, 38, 39, 47,  48,  56,  21,  29,
                                     66, 92, 100, 101, 66, 74, 75, 101, 109, 110, 118, 83});
    CHECK(y3.equal(gather(cube.flatten(1), 1, at3.flatten(1)).view(y3.sizes())));
    // A single window along a dim is at the end; without images the result is empty.
    check_values(std::get<1>(fractional_max_pool2d(image, {2, 3}, 1, u)).flatten(), {2}, {39, 41});
    CHECK(std::get<0>(fractional_max_pool2d(zeros({0, 2, 6, 7}, f64), 2, 3, zeros({0, 2, 2}, f64)))
              .sizes() == IntArrayRef{0, 2, 3, 3});
  });
}

TEST_CASE("max_unpool2d and 3d put maxima back to their positions") {
  for_each_device([](Device d) {
    const auto [y, at] = max_pool2d_with_indices(wave(d, {1, 1, 4, 6}), 2);
    const Tensor back = max_unpool2d(y, at, {4, 6});
    CHECK(back.sizes() == IntArrayRef{1, 1, 4, 6});
    CHECK(max_unpool2d(y[0], at[0], {4, 6}).equal(back[0]));
    CHECK(back.count_nonzero().item<int64_t>() == 6);
    CHECK(gather(back.flatten(2), 2, at.flatten(2)).equal(y.flatten(2)));
    // A larger output changes positions, as in PyTorch.
    CHECK(max_unpool2d(y, at, {5, 6}).flatten().slice(0, 0, 24).equal(back.flatten()));
    const auto [y3, at3] = max_pool3d_with_indices(wave(d, {1, 2, 2, 4}), {1, 2, 2});
    // F.max_unpool3d of F.max_pool3d(wave(1, 2, 2, 4), (1, 2, 2), return_indices=True)
    check_values(max_unpool3d(y3, at3, {2, 2, 4}), {1, 2, 2, 4},
                 {0, 0.644217687238, 0.985449729988, 0, 0, 0, 0, 0, 0, 0, 0, 0.988168233877,
                  0.854598908088, 0, 0, 0});
  });
}

TEST_CASE("an unpooled position outside of the image is an IndexError") {
  for_each_device([](Device d) {
    const auto unpool = [&] {
      const Tensor y = max_unpool2d(ones({1, 1, 1}, d), full({1, 1, 1}, 4, kInt64).to(d), {2, 2});
      y.cpu();  // if kernels run late, the error is thrown here
    };
    CHECK_THROWS_AS(unpool(), IndexError);
  });
}

TEST_CASE("fractional pooling and unpooling have correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor u = tensor({{{0.3, 0.8}}}, TensorOptions(kFloat64).device(d));
    const auto fractional = [u](const std::vector<Tensor>& in) {
      return std::get<0>(fractional_max_pool2d(in[0] * in[0], 2, {2, 3}, u));
    };
    gradcheck(fractional, {wave(d, {1, 4, 5})});
    gradgradcheck(fractional, {wave(d, {1, 4, 5})});
    const Tensor at = tensor({{{5, 0}, {2, 7}}}, kInt64).to(d);
    const auto unpool = [at](const std::vector<Tensor>& in) {
      return max_unpool2d(in[0] * in[0], at, {2, 4});
    };
    gradcheck(unpool, {wave(d, {1, 2, 2})});
    gradgradcheck(unpool, {wave(d, {1, 2, 2})});
  });
}

namespace {

Tensor samples(int64_t n = 2) { return full({1, n, n}, 0.5); }
Tensor cube() { return ones({1, 3, 4, 4, 4}); }
Tensor at(IntArrayRef sizes) { return zeros(sizes, kInt64); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(fractional_max_pool2d, m23(), 2, 2, samples()),
      SHAPE(fractional_max_pool2d, image(), 2, 6, samples()),
      SHAPE(fractional_max_pool2d, image(), 0, 3, samples()),
      SHAPE(fractional_max_pool2d, image(), 2, 3, samples(3)),
      DTYPE(fractional_max_pool2d, image(), 2, 3, samples().to(kFloat64)),
      DTYPE(fractional_max_pool2d, image().to(kInt64), 2, 3, samples()),
      VALUE(fractional_max_pool2d, image(), 2, 3, none()),
      VALUE(fractional_max_pool2d, none(), 2, 3, samples()),
      VALUE(fractional_max_pool2d, image(), {2, 2, 2}, 3, samples()),
      DEVICE(fractional_max_pool2d, image(), 2, 3, samples().to("reference")),
      SHAPE(fractional_max_pool3d, image(), 2, 2, samples(3)),
      SHAPE(fractional_max_pool3d, cube(), 5, 1, samples(3)),
      DTYPE(fractional_max_pool3d, cube().to(kInt32), 2, 2, samples(3)),
      VALUE(fractional_max_pool3d, none(), 2, 2, samples(3)),
      DEVICE(fractional_max_pool3d, cube(), 2, 2, samples(3).to("reference")),
      SHAPE(max_unpool2d, m23(), i23(), {4, 4}),
      SHAPE(max_unpool2d, image(), at({1, 2, 3, 3}), {9, 9}),
      SHAPE(max_unpool2d, image(), at({1, 2, 6, 6}), {9, 9, 9}),
      SHAPE(max_unpool2d, image(), at({1, 2, 6, 6}), {9, 0}),
      INDEX(max_unpool2d, image(), at({1, 2, 6, 6}) + 36, {6, 6}),
      DTYPE(max_unpool2d, image(), image(), {9, 9}),
      DTYPE(max_unpool2d, image().to(kInt64), at({1, 2, 6, 6}), {9, 9}),
      VALUE(max_unpool2d, none(), at({1, 2, 6, 6}), {9, 9}),
      VALUE(max_unpool2d, image(), none(), {9, 9}),
      DEVICE(max_unpool2d, image(), at({1, 2, 6, 6}).to("reference"), {9, 9}),
      SHAPE(max_unpool3d, cube(), at({1, 3, 4, 4, 4}), {9, 9}),
      SHAPE(max_unpool3d, cube(), at({1, 3, 4, 4, 4}), {9, 9, 9}, 0),
      DTYPE(max_unpool3d, cube(), cube(), {9, 9, 9}),
      VALUE(max_unpool3d, none(), at({1, 3, 4, 4, 4}), {9, 9, 9}),
      DEVICE(max_unpool3d, cube(), at({1, 3, 4, 4, 4}).to("reference"), {9, 9, 9}),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(fractional_max_pool2d, strict, given(f({1, 2, 4, 4}), f({1, 2, 2})), t[0], 2, 2, t[1]),
      CALL(fractional_max_pool3d, strict, given(f({1, 2, 4, 4, 4}), f({1, 2, 3})), t[0], 2, 2,
           t[1]),
      CALL(max_unpool2d, strict, given(f({1, 2, 2}), places({1, 2, 2})), t[0], t[1], {4, 4}),
      CALL(max_unpool3d, strict, given(f({1, 2, 2, 2}), places({1, 2, 2, 2})), t[0], t[1],
           {4, 4, 4}),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

// From o's elements, an image of one channel.
Tensor image_of(const agreement::Operands& o, IntArrayRef sizes) {
  const profiler::RecordFunction scope(agreement::kOperand);
  const int64_t n = count("image", sizes);
  return o.a.reshape({-1}).repeat({n}).slice(0, 0, n).reshape(sizes);
}

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  const auto call = [](const char* name, auto f) {
    return not_empty(Call{name, [f](const Operands& o) -> std::vector<Tensor> { return f(o); }});
  };
  const auto both = [](const std::tuple<Tensor, Tensor>& r) -> std::vector<Tensor> {
    return {std::get<0>(r), std::get<1>(r)};
  };
  return {
      call("fractional_max_pool2d",
           [=](const Operands& o) {
             const Tensor x = image_of(o, {1, 5, 6});
             return both(
                 fractional_max_pool2d(x, 2, {3, 2}, MADE(full({1, 1, 2}, 0.4, x.options()))));
           }),
      call("fractional_max_pool3d",
           [=](const Operands& o) {
             const Tensor x = image_of(o, {1, 3, 4, 3});
             return both(fractional_max_pool3d(x, 2, 2, MADE(full({1, 1, 3}, 0.4, x.options()))));
           }),
      call("max_unpool2d",
           [](const Operands& o) -> std::vector<Tensor> {
             const auto [y, at] = MADE(max_pool2d_with_indices(image_of(o, {1, 4, 4}), 2));
             return {max_unpool2d(y, at, {4, 4})};
           }),
      call("max_unpool3d",
           [](const Operands& o) -> std::vector<Tensor> {
             const auto [y, at] = MADE(max_pool3d_with_indices(image_of(o, {1, 2, 4, 2}), 2));
             return {max_unpool3d(y, at, {2, 4, 2})};
           }),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
