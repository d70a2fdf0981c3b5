// Each shape is given by a signed distance to its edge, in pixels, negative inside, which also
// gives smooth edges. Source of the distances: iquilezles.org/articles/distfunctions2d.
#include "generated_images.h"

#include <ambit/backend/philox.h>

#include <algorithm>
#include <cmath>

namespace images {
namespace {

constexpr int kSide = 32;  // pixels

// Random numbers of one image.
class Dice {
 public:
  Dice(uint64_t seed, uint64_t image) : seed_(seed), offset_(image << 20) {}
  double uniform(double low, double high) {
    return low + (high - low) * ambit::philox::to_unit(bits());
  }
  uint64_t bits() { return ambit::philox::bits64(seed_, offset_, next_++); }

 private:
  uint64_t seed_, offset_, next_ = 0;
};

struct Colour {
  double channel[3];  // red, green, blue in [0, 1]
};

// A warm colour is mostly red, a cold one mostly blue; the rest varies.
Colour shape_colour(bool warm, Dice& dice) {
  const double strong = dice.uniform(0.55, 1.0), weak = dice.uniform(0.0, 0.45);
  const double green = dice.uniform(0.0, 0.75);
  return warm ? Colour{{strong, green, weak}} : Colour{{weak, green, strong}};
}

Colour background_colour(Dice& dice) {
  const double grey = dice.uniform(0.1, 0.6);
  Colour colour{};
  for (double& c : colour.channel) c = grey + dice.uniform(-0.1, 0.1);
  return colour;
}

double box_distance(double x, double y, double half_width, double half_height) {
  const double dx = std::fabs(x) - half_width, dy = std::fabs(y) - half_height;
  return std::hypot(std::max(dx, 0.0), std::max(dy, 0.0)) + std::min(std::max(dx, dy), 0.0);
}

// Return the distance of (x, y) from the edge of a shape of radius r around the origin.
double distance(int shape, double x, double y, double r) {
  const double from_centre = std::hypot(x, y);
  const double across = box_distance(x, y, r, 0.25 * r), along = box_distance(x, y, 0.25 * r, r);
  switch (shape) {
    case 0:
      return from_centre - 0.8 * r;  // disc
    case 1:
      return std::fabs(from_centre - r) - 0.2 * r;  // ring
    case 2:
      return std::min(across, along);  // cross
    case 3:
      return across;  // bar
    default:
      return along;  // pole
  }
}

uint8_t to_byte(double value) {
  return static_cast<uint8_t>(std::clamp(std::lround(255 * value), 0L, 255L));
}

// Draw one image: red, green and blue planes of kSide x kSide bytes.
void draw(int label, Dice dice, uint8_t* out) {
  const Colour front = shape_colour(label % 2 == 0, dice), back = background_colour(dice);
  const double radius = dice.uniform(7, 11);
  const double x0 = dice.uniform(12, 20), y0 = dice.uniform(12, 20);
  const double angle = dice.uniform(-0.3, 0.3), noise = dice.uniform(0.05, 0.2);
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const double dx = x + 0.5 - x0, dy = y + 0.5 - y0;
      const double d = distance(label / 2, std::cos(angle) * dx + std::sin(angle) * dy,
                                std::cos(angle) * dy - std::sin(angle) * dx, radius);
      const double cover = std::clamp(0.5 - d, 0.0, 1.0);
      uint64_t bits = dice.bits();  // 16 per channel
      for (int c = 0; c < 3; ++c, bits >>= 16) {
        const double colour = cover * front.channel[c] + (1 - cover) * back.channel[c];
        const double grain = static_cast<double>(bits & 0xffff) / 0xffff - 0.5;
        out[(c * kSide + y) * kSide + x] = to_byte(colour + noise * grain);
      }
    }
  }
}

}  // namespace

std::vector<uint8_t> generate_images(uint64_t seed, uint64_t first, uint64_t count) {
  constexpr size_t kRecordBytes = 1 + 3 * kSide * kSide;
  std::vector<uint8_t> records(count * kRecordBytes);
  for (uint64_t i = 0; i < count; ++i) {
    uint8_t* record = records.data() + i * kRecordBytes;
    record[0] = static_cast<uint8_t>((first + i) % kGeneratedClasses.size());
    draw(record[0], Dice(seed, first + i), record + 1);
  }
  return records;
}

}  // namespace images
