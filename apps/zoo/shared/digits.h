// Handwritten digits, or synthetic ones if there are none.
#pragma once

#include <ambit/data/dataset.h>
#include <ambit/tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace zoo {

/// Grey pictures of digits: sample i is (float32 [1,28,28] in [0, 1], int64 []).
struct Digits : ambit::data::datasets::Dataset<Digits> {
  Digits(ambit::Tensor pictures, ambit::Tensor classes)
      : images(std::move(pictures)), labels(std::move(classes)) {}

  ambit::data::Example<> get(size_t index) override;
  std::optional<size_t> size() const override { return static_cast<size_t>(images.size(0)); }
  /// Draw a random batch with the CPU generator: (float32 [B,1,28,28], int64 [B]).
  ambit::data::Example<> batch(int64_t size) const;
  /// Return the first `size` samples, or all if there are fewer, in the same form.
  ambit::data::Example<> first(int64_t size) const;

  ambit::Tensor images, labels;  // uint8 [N,1,28,28], int64 [N]
};

struct DigitData {
  Digits train, test;
  std::string source;  ///< for messages
};

/// Read MNIST from `folder`, by default $AMBIT_DATA, else ./data. If no folder is given and MNIST
/// is not found, draw seven-segment digits at random positions, sizes and slants, from `seed`.
/// Errors: ambit::Error for a given folder without MNIST.
DigitData find_digits(const std::string& folder, uint64_t seed);

/// Help text of --data in these programs.
inline constexpr const char* kDigitsHelp =
    "folder that is or contains mnist (default: $AMBIT_DATA,\nelse ./data, else drawn digits)";

}  // namespace zoo
