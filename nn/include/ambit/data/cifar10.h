// CIFAR-10: 60,000 colour images of 32 x 32 pixels in ten classes.
// Source: A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
#pragma once

#include <ambit/data/image_dataset.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace ambit::data::datasets {

/// Images float32 [3,32,32] in [0, 1], from the official files, binary or Python's. Their number
/// follows from the files, so parts of the dataset load too.
class AMBIT_API CIFAR10 : public ImageDataset<CIFAR10> {
 public:
  /// Bytes of one image in the files: its class, then its red, green and blue plane.
  static constexpr size_t kRecordBytes = 1 + 3 * 32 * 32;

  /// Read data_batch_1.bin to data_batch_5.bin, or test_batch.bin, from `root` or from its folder
  /// cifar-10-batches-bin or cifar-10-sample; or the same without ".bin" from
  /// cifar-10-batches-py, as torchvision has them. Errors: SerializationError naming the file.
  explicit CIFAR10(const std::string& root, Mode mode = Mode::kTrain);
  /// Take images from memory, in the files' format. Errors: SerializationError.
  explicit CIFAR10(std::span<const uint8_t> records);

  /// Return whether there are such files, whole or not.
  static bool exists(const std::string& root, Mode mode = Mode::kTrain);
  /// Return the official names of the classes.
  static const std::array<const char*, 10>& classes();
};

}  // namespace ambit::data::datasets
