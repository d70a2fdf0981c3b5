// Channels-last strides: which functions return them, and that values and gradients are the same.
// Strides are those of torch 1.13: x.contiguous(memory_format=torch.channels_last).stride().
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <sstream>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("contiguous and clone convert tensors to channels last, with the same values") {
  for_each_device([](Device device) {
    const Tensor x = wave(device, {2, 3, 4, 5}), v = wave(device, {2, 3, 2, 4, 5});
    const Tensor last = x.contiguous(MemoryFormat::ChannelsLast);
    CHECK(last.strides() == IntArrayRef{60, 1, 15, 3});
    CHECK(last.is_contiguous(MemoryFormat::ChannelsLast));
    CHECK(!last.is_contiguous());
    CHECK(!x.is_contiguous(MemoryFormat::ChannelsLast));
    CHECK(last.equal(x));
    CHECK(last.contiguous(MemoryFormat::ChannelsLast).is_same(last));
    CHECK(last.suggest_memory_format() == MemoryFormat::ChannelsLast);
    CHECK(x.suggest_memory_format() == MemoryFormat::Contiguous);
    const Tensor last3d = v.contiguous(MemoryFormat::ChannelsLast3d);
    CHECK(last3d.strides() == IntArrayRef{120, 1, 60, 15, 3});
    CHECK(last3d.suggest_memory_format() == MemoryFormat::ChannelsLast3d);
    CHECK(last.clone(MemoryFormat::Preserve).strides() == last.strides());
    CHECK(last.clone(MemoryFormat::Preserve).equal(x));
    CHECK(x.clone(MemoryFormat::ChannelsLast).strides() == last.strides());
    CHECK(last.clone(MemoryFormat::Contiguous).is_contiguous());
    // A slice has gaps, which Preserve removes.
    CHECK(last.slice(1, 0, 2).clone(MemoryFormat::Preserve).is_contiguous());
    CHECK(last.contiguous(MemoryFormat::Contiguous).is_contiguous());
    CHECK(last.is_contiguous(MemoryFormat::Preserve) == last.is_contiguous());
  });
}

TEST_CASE("tensors with strides of both layouts count as row-major, as in PyTorch") {
  const Tensor one = ones({2, 1, 4, 5});  // one channel: strides of both layouts
  CHECK(one.is_contiguous());
  CHECK(one.is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(one.suggest_memory_format() == MemoryFormat::Contiguous);
  CHECK(one.contiguous(MemoryFormat::ChannelsLast).is_same(one));
  CHECK(!ones({2, 3}).is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(ones({2, 3}).suggest_memory_format() == MemoryFormat::Contiguous);
  const Tensor none = empty({2, 0, 4, 5}).contiguous(MemoryFormat::ChannelsLast);
  CHECK(none.is_contiguous(MemoryFormat::ChannelsLast));
}

TEST_CASE("gradients pass through a change of layout") {
  const Tensor x = wave(kCPU, {1, 2, 2, 2}).requires_grad_();
  const Tensor weight = wave(kCPU, {1, 2, 2, 2}, 0.3);
  (x.contiguous(MemoryFormat::ChannelsLast) * weight).sum().backward();
  (x.contiguous(MemoryFormat::ChannelsLast).clone(MemoryFormat::Preserve) * weight)
      .sum()
      .backward();
  CHECK(x.grad().equal(weight * 2));
}

TEST_CASE("layouts that a tensor cannot have are refused") {
  CHECK_THROWS_WITH_AS(ones({2, 3}).contiguous(MemoryFormat::ChannelsLast),
                       "contiguous: expected a tensor of 4 dims for ChannelsLast, got shape [2, 3]",
                       ShapeError);
  CHECK_THROWS_AS(ones({2, 3, 4, 5}).clone(MemoryFormat::ChannelsLast3d), ShapeError);
  CHECK_THROWS_AS(ones({2}).contiguous(MemoryFormat::Preserve), Error);
  CHECK_THROWS_AS(empty({2, 3}, MemoryFormat::ChannelsLast), ShapeError);
  std::ostringstream os;
  os << kStrided << ' ' << MemoryFormat::Contiguous << ' ' << MemoryFormat::Preserve << ' '
     << MemoryFormat::ChannelsLast << ' ' << MemoryFormat::ChannelsLast3d;
  CHECK(os.str() == "Strided Contiguous Preserve ChannelsLast ChannelsLast3d");
}
