// MNIST: 70,000 grey images of handwritten digits, 28 x 28 pixels.
// Source: LeCun et al. 1998, "Gradient-based learning applied to document recognition".
#pragma once

#include <ambit/data/image_dataset.h>

#include <string>

namespace ambit::data::datasets {

/// Images float32 [1,28,28] in [0, 1], from the official idx files.
class AMBIT_API MNIST : public ImageDataset<MNIST> {
 public:
  /// Read train-images-idx3-ubyte and train-labels-idx1-ubyte (t10k-... for kTest), optionally with
  /// .gz, from `root`, `root`/mnist or torchvision's `root`/MNIST/raw. Errors: SerializationError
  /// naming the file.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  /// Return true if such files exist; they may be incomplete.
  static bool exists(const std::string& root, Mode mode = Mode::kTrain);
};

}  // namespace ambit::data::datasets
