// In-place changes of a tensor's sizes, strides or memory; and aliases with their own version
// counters.
#include <doctest/doctest.h>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

Tensor six(Device d) { return arange(6, TensorOptions(kFloat32).device(d)).view({2, 3}); }

}  // namespace

TEST_CASE("resize_ keeps the memory if it is large enough, otherwise copies it") {
  for_each_device([](Device d) {
    const Tensor x = six(d), same = x.view({6});
    CHECK(&x.resize_({4}) == &x);
    check_values(x, {4}, {0, 1, 2, 3});
    CHECK(x.storage() == same.storage());
    x.resize_({3, 2});
    check_values(x, {3, 2}, {0, 1, 2, 3, 4, 5});
    x.resize_({2, 5});
    CHECK(x.storage() != same.storage());
    check_values(x.view({10}).narrow(0, 0, 6), {6}, {0, 1, 2, 3, 4, 5});
    check_values(same, {6}, {0, 1, 2, 3, 4, 5});
    // The elements begin at the tensor's offset.
    const Tensor part = six(d)[1];
    part.resize_({5});
    check_values(part.narrow(0, 0, 3), {3}, {3, 4, 5});
    CHECK(part.storage_offset() == 3);
    const Tensor image = empty({0}, x.options()).resize_({2, 3, 4, 4}, MemoryFormat::ChannelsLast);
    CHECK(image.is_contiguous(MemoryFormat::ChannelsLast));
    CHECK(empty({0}, x.options()).resize_as_(image).sizes() == image.sizes());
    CHECK(empty({0}, x.options())
              .resize_as_(image, MemoryFormat::Preserve)
              .is_contiguous(MemoryFormat::ChannelsLast));
    CHECK(empty({0}, x.options()).resize_({0, 3}).sizes() == IntArrayRef{0, 3});
  });
  CHECK(ones({2}, kMeta).resize_({3, 4}).sizes() == IntArrayRef{3, 4});
}

TEST_CASE("resize_ of a saved tensor is detected, and refused if it requires grad") {
  const Tensor x = ones({2, 3}), w = ones({2, 3}).requires_grad_();
  const Tensor y = (x * w).sum();
  x.resize_({3});
  CHECK_THROWS_AS(y.backward(), AutogradError);
  CHECK_THROWS_AS(w.resize_({3}), AutogradError);
  CHECK(w.sizes() == IntArrayRef{2, 3});
  CHECK_THROWS_AS(x.resize_({-1}), ShapeError);
  CHECK(x.sizes() == IntArrayRef{3});
}

TEST_CASE("as_strided_ and set_ change a tensor's geometry") {
  for_each_device([](Device d) {
    const Tensor x = six(d);
    CHECK(&x.as_strided_({2, 2}, {1, 2}, 1) == &x);
    check_values(x, {2, 2}, {1, 3, 2, 4});
    CHECK_THROWS_AS(x.as_strided_({9}, {1}), ShapeError);
    check_values(x, {2, 2}, {1, 3, 2, 4});
    const Tensor w = six(d).requires_grad_(), v = w * 2;
    v.as_strided_({2}, {3});
    v.sum().backward();
    check_values(w.grad(), {2, 3}, {2, 0, 0, 2, 0, 0});
    Tensor y = ones({1}, kFloat64);
    CHECK(&y.set_(x, 2, {2, 2}) == &y);
    check_values(y, {2, 2}, {2, 3, 4, 5});
    CHECK(y.set_(x, 1, {2}, {2}).storage() == x.storage());
    check_values(y, {2}, {1, 3});
    CHECK_THROWS_AS(y.set_(x, 4, {3}), ShapeError);
    check_values(y, {2}, {1, 3});
    CHECK(y.set_().sizes() == IntArrayRef{0});
  });
}

TEST_CASE("writes through data() are not counted, writes through detach() are") {
  for_each_device([](Device d) {
    const Tensor x = ones({3}, TensorOptions(kFloat32).device(d));
    const Tensor w = full({3}, 2., x.options()).requires_grad_();
    const uint32_t version = w.version();
    w.data().mul_(5);
    w.data().view({3, 1})[0].fill_(4);
    CHECK(w.version() == version);
    check_values(w.detach(), {3}, {4, 10, 10});
    // A gradient that needs the old w is computed with the current value.
    const Tensor y = (x.requires_grad_() * w).sum();
    w.data().fill_(7);
    y.backward();
    check_values(x.grad(), {3}, {7, 7, 7});
    const Tensor z = (x * w).sum();
    {
      const NoGradGuard no_grad;
      w.detach().fill_(8);
    }
    CHECK(w.version() > version);
    CHECK_THROWS_AS(z.backward(), AutogradError);
    // The result of data() counts versions for itself and its views.
    const Tensor data = w.data(), view = data.view({3}), other = data.detach();
    const uint32_t before = data.version();
    view.add_(1);
    CHECK(data.version() == before + 1);
    CHECK(other.version() == before + 1);
    const Tensor saved = (view * x).sum();
    data.add_(1);
    CHECK_THROWS_AS(saved.backward(), AutogradError);
    CHECK(!w.data().requires_grad());
    CHECK(w.tensor_data().version() == w.version());
    CHECK(w.variable_data().storage() == w.storage());
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(resize_, none(), {1}),
      SHAPE(resize_, m23(), {-2}),
      SHAPE(resize_, m23(), {2}, MemoryFormat::ChannelsLast),
      BAD(AutogradError, resize_, m23().requires_grad_(), {1}),
      VALUE(resize_as_, none(), m23()),
      VALUE(resize_as_, m23(), none()),
      VALUE(as_strided_, none(), {1}, {1}),
      SHAPE(as_strided_, m23(), {7}, {1}),
      SHAPE(as_strided_, m23(), {2}, {1, 1}),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      IN_PLACE(resize_, o.a.contiguous(), {o.a.numel()}),
      IN_PLACE(resize_as_, o.a.contiguous(), o.unit.reshape({-1})),
      full_only(IN_PLACE(as_strided_, o.a.contiguous(), {2}, {1})),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
