#include "zoo/shared/digits.h"

#include <ambit/backend/philox.h>
#include <ambit/data/mnist.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace zoo {
namespace {

using namespace ambit;
using data::datasets::MNIST;
using data::datasets::Mode;

constexpr int64_t kSide = 28, kDrawnTrain = 6000, kDrawnTest = 1000;

struct Stroke {
  double x0, y0, x1, y1;  // in a box of 1 x 2
};
constexpr std::array<Stroke, 7> kStrokes{{{0, 0, 1, 0},    // top
                                          {1, 0, 1, 1},    // upper right
                                          {1, 1, 1, 2},    // lower right
                                          {0, 2, 1, 2},    // bottom
                                          {0, 1, 0, 2},    // lower left
                                          {0, 0, 0, 1},    // upper left
                                          {0, 1, 1, 1}}};  // middle
// Bit i: the digit has stroke i.
constexpr std::array<unsigned, 10> kDigits{0x3f, 0x06, 0x5b, 0x4f, 0x66,
                                           0x6d, 0x7d, 0x07, 0x7f, 0x6f};

double distance(const Stroke& s, double x, double y) {
  const double dx = s.x1 - s.x0, dy = s.y1 - s.y0;  // all strokes have length 1
  const double along = std::clamp((x - s.x0) * dx + (y - s.y0) * dy, 0.0, 1.0);
  return std::hypot(x - s.x0 - along * dx, y - s.y0 - along * dy);
}

// Draw one picture of kSide x kSide bytes; 0 is background, 255 ink.
void draw(unsigned digit, uint64_t seed, uint64_t number, uint8_t* out) {
  uint64_t next = 0;
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * philox::to_unit(philox::bits64(seed, number << 20, next++));
  };
  const double size = uniform(7, 10), slant = uniform(-0.3, 0.3), thick = uniform(1, 2);
  const double x0 = uniform(11, 17) - size / 2, y0 = uniform(12, 16) - size;
  for (int64_t y = 0; y < kSide; ++y) {
    for (int64_t x = 0; x < kSide; ++x) {
      const double v = (static_cast<double>(y) + 0.5 - y0) / size;
      const double u = (static_cast<double>(x) + 0.5 - x0) / size + slant * (v - 1);
      double nearest = 1e9;
      for (size_t i = 0; i < kStrokes.size(); ++i) {
        if (kDigits[digit] >> i & 1) nearest = std::min(nearest, distance(kStrokes[i], u, v));
      }
      const double ink = std::clamp(thick + 0.5 - nearest * size, 0.0, 1.0);
      out[y * kSide + x] = static_cast<uint8_t>(std::lround(255 * ink));
    }
  }
}

Digits draw_many(uint64_t seed, int64_t first, int64_t count) {
  const Tensor images = empty({count, 1, kSide, kSide}, kUInt8);
  const Tensor labels = arange(first, first + count).remainder(10);
  for (int64_t i = 0; i < count; ++i) {
    draw(static_cast<unsigned>((first + i) % 10), seed, static_cast<uint64_t>(first + i),
         images.data_ptr<uint8_t>() + i * kSide * kSide);
  }
  return {images, labels};
}

Digits read(const std::string& folder, Mode mode) {
  const MNIST mnist(folder, mode);
  if (mnist.raw_images().size(2) != kSide || mnist.raw_images().size(3) != kSide) {
    throw ShapeError(fmt::format("--data: expected pictures of 28 x 28 in '{}'", folder));
  }
  return {mnist.raw_images(), mnist.targets()};
}

Tensor as_floats(const Tensor& bytes) { return bytes.to(kFloat32) / 255; }

}  // namespace

data::Example<> Digits::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {as_floats(images[i]), labels[i]};
}

data::Example<> Digits::batch(int64_t size) const {
  const Tensor chosen = randint(images.size(0), {size}, kInt64);
  return {as_floats(images.index_select(0, chosen)), labels.index_select(0, chosen)};
}

data::Example<> Digits::first(int64_t size) const {
  const int64_t n = std::min(size, images.size(0));
  return {as_floats(images.narrow(0, 0, n)), labels.narrow(0, 0, n)};
}

DigitData find_digits(const std::string& folder, uint64_t seed) {
  const char* variable = std::getenv("AMBIT_DATA");
  const std::string where = !folder.empty() ? folder : variable && *variable ? variable : "data";
  if (MNIST::exists(where)) {
    return {read(where, Mode::kTrain), read(where, Mode::kTest),
            fmt::format("MNIST in '{}'", where)};
  }
  if (!folder.empty()) {
    throw Error(
        fmt::format("--data: expected a folder that is or contains mnist, got '{}'", folder));
  }
  return {draw_many(seed, 0, kDrawnTrain), draw_many(seed, kDrawnTrain, kDrawnTest),
          fmt::format("drawn digits, since '{}' does not contain MNIST", where)};
}

}  // namespace zoo
