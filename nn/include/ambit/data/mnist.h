// MNIST: 70,000 grey images of handwritten digits, 28 x 28 pixels.
// Source: LeCun et al. 1998, "Gradient-based learning applied to document recognition".
#pragma once

#include <ambit/data/image_dataset.h>

#include <string>

namespace ambit::data::datasets {

/// Images float32 [1,28,28] in [0, 1], from the official idx files.
class AMBIT_API MNIST : public ImageDataset<MNIST> {
 public:
  /// Read train-images-idx3-ubyte and train-labels-idx1-ubyte, or t10k-..., each with .gz or
  /// without, from `root`, its folder mnist or torchvision's MNIST/raw. Errors: SerializationError
  /// naming the file.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  /// Return whether there are such files, whole or not.
  static bool exists(const std::string& root, Mode mode = Mode::kTrain);
};

}  // namespace ambit::data::datasets
