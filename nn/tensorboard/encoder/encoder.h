// Encodes events as TensorFlow's protobuf messages. Needs protobuf and libpng, so it is a separate
// library, libambit_tensorboard.so, which is loaded when the first writer is created.
#pragma once

#include <ambit/detail/late_library.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ambit::tensorboard {

struct EventHead {
  double wall_time_s;  ///< since 1970
  int64_t step;
  std::string tag;  ///< UTF-8
};

struct Histogram {
  double min, max, count, sum, sum_squares;
  std::vector<double> limits;  ///< the right edge of each bucket
  std::vector<double> counts;  ///< the number of values in each bucket
};

struct Image {
  int32_t height, width, channels;
  std::vector<uint8_t> pixels;  ///< [height, width, channels]
};

/// The library's functions. Each returns the bytes of one Event.
/// Errors: Error if it would be larger than protobuf's 2 GiB, or libpng rejects an image.
struct Encoder {
  std::string (*file_version)(double wall_time_s);
  std::string (*scalar)(const EventHead& head, float value);
  std::string (*histogram)(const EventHead& head, const Histogram& histogram);
  std::string (*image)(const EventHead& head, const Image& image);
  std::string (*text)(const EventHead& head, const std::string& text);
};

inline const Encoder& encoder() {
  return *static_cast<const Encoder*>(late_library("tensorboard"));
}

}  // namespace ambit::tensorboard
