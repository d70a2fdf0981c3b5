#include "expect.h"

#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <cmath>

using namespace ambit;

namespace conformance {
namespace {

// Return "[1, 2]" for element i in row-major order.
std::string position(int64_t i, IntArrayRef sizes) {
  Dims at(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) at[d] = i % sizes[d];
  return str(at);
}

}  // namespace

void expect_close(const std::string& what, const Tensor& got, const Tensor& want, double relative,
                  double absolute) {
  const Tensor y = got.cpu().contiguous(), x = want.cpu().contiguous();
  const auto type = [](const Tensor& t) { return name(t.dtype()) + str(t.sizes()); };
  expect(y.dtype() == x.dtype() && y.sizes() == x.sizes(),
         fmt::format("{}: expected {}, got {}", what, type(x), type(y)));
  visit<dtypes::kEvery>(x.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < x.numel(); ++i) {
      const T a = y.data_ptr<T>()[i], b = x.data_ptr<T>()[i];
      if (a == b) continue;
      if constexpr (kIsFloat<T>) {
        if (std::isnan(a) && std::isnan(b)) continue;
        if (std::isfinite(b) && std::abs(a - b) <= relative * std::abs(b) + absolute) continue;
      }
      throw Failure(fmt::format("{}: expected {} at {} of {}, got {}", what, +b,
                                position(i, x.sizes()), type(x), +a));
    }
  });
}

void expect_same(const std::string& what, const Tensor& got, const Tensor& want) {
  expect_close(what, got, want, 0);
}

Tensor numbers(IntArrayRef sizes, DType dtype) {
  const Tensor t = empty(sizes, dtype);
  visit<dtypes::kEvery>(dtype, [&]<class T>() {
    // 101 is prime and below every dtype's limit, so that equal numbers are far apart.
    for (int64_t i = 0; i < t.numel(); ++i) {
      t.data_ptr<T>()[i] = static_cast<T>(dtype == kBool ? i % 3 == 1 : (i * 7 + 1) % 101);
    }
  });
  return t;
}

void keep_busy(Device device) {
  // One large kernel: a GPU runs small ones faster than the host queues them.
  empty({1 << 24}, device).fill_(1);
}

Device other_index(Device device) {
  const int count = device_count(device.type());
  if (count < 2) throw Skipped("needs two devices of the same backend");
  return Device(device.kind(), (device.index() + 1) % count);
}

}  // namespace conformance
