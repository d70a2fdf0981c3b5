// CIFAR-10: 60,000 colour images of 32 x 32 pixels in ten classes.
// Source: A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
#pragma once

#include <ambit/data/image_dataset.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace ambit::data::datasets {

/// Images float32 [3,32,32] in [0, 1], from the official files, binary or pickled. The files decide
/// the number of images, so that parts of the dataset can be loaded.
class AMBIT_API CIFAR10 : public ImageDataset<CIFAR10> {
 public:
  /// Bytes of one image in the binary files: its class, then its red, green and blue planes.
  static constexpr size_t kRecordBytes = 1 + 3 * 32 * 32;

  /// Read data_batch_1.bin to data_batch_5.bin (test_batch.bin for kTest) from `root`,
  /// `root`/cifar-10-batches-bin or `root`/cifar-10-sample, or the pickled files without ".bin"
  /// from torchvision's `root`/cifar-10-batches-py. Errors: SerializationError naming the file.
  explicit CIFAR10(const std::string& root, Mode mode = Mode::kTrain);
  /// Take images from memory, in the files' format. Errors: SerializationError.
  explicit CIFAR10(std::span<const uint8_t> records);

  /// Return true if such files exist; they may be incomplete.
  static bool exists(const std::string& root, Mode mode = Mode::kTrain);
  /// Return the official names of the classes.
  static const std::array<const char*, 10>& classes();
};

}  // namespace ambit::data::datasets
