// Finds images, and converts those that are not CIFAR-10's.
#include "images.h"

#include <ambit/data/mnist.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "download.h"
#include "generated_images.h"

namespace images {
namespace {

using ambit::data::datasets::CIFAR10;
using ambit::data::datasets::MNIST;
using ambit::data::datasets::Mode;

constexpr uint64_t kGeneratedTrain = 10000, kGeneratedTest = 2000;  // images

std::string data_folder(const Source& source) {
  if (!source.folder.empty()) return source.folder;
  const char* variable = std::getenv("AMBIT_DATA");
  return variable && *variable ? variable : "data";
}

// Convert digits to the network's input: 28 x 28 centred in 32 x 32, equal in all three channels.
CIFAR10 as_cifar10(const MNIST& digits) {
  constexpr size_t kSide = 28, kFrame = 32, kMargin = (kFrame - kSide) / 2;
  const ambit::Tensor &images = digits.raw_images(), &targets = digits.targets();
  if (images.size(2) != kSide || images.size(3) != kSide) {
    throw ambit::ShapeError(fmt::format("MNIST: expected images of 28 x 28 pixels, got {} x {}",
                                        images.size(2), images.size(3)));
  }
  std::vector<uint8_t> records(*digits.size() * CIFAR10::kRecordBytes);
  const auto* from = images.data_ptr<uint8_t>();
  const auto* label = targets.data_ptr<int64_t>();
  for (size_t i = 0; i < *digits.size(); ++i, from += kSide * kSide) {
    uint8_t* record = records.data() + i * CIFAR10::kRecordBytes;
    record[0] = static_cast<uint8_t>(label[i]);
    for (size_t row = 0; row < 3 * kSide; ++row) {
      const size_t colour = row / kSide, y = row % kSide;
      uint8_t* to = record + 1 + (colour * kFrame + kMargin + y) * kFrame + kMargin;
      std::copy_n(from + y * kSide, kSide, to);
    }
  }
  return CIFAR10(records);
}

Images generate(uint64_t seed, const std::string& folder) {
  return {CIFAR10(generate_images(seed, 0, kGeneratedTrain)),
          CIFAR10(generate_images(seed, kGeneratedTrain, kGeneratedTest)),
          {kGeneratedClasses.begin(), kGeneratedClasses.end()},
          fmt::format("generated images, since '{}' contains neither CIFAR-10 nor MNIST", folder)};
}

}  // namespace

Images find_images(const Source& source, uint64_t seed) {
  const std::string folder = data_folder(source);
  if (source.download) download_cifar10(folder);
  if (CIFAR10::exists(folder)) {
    return {CIFAR10(folder),
            CIFAR10(folder, Mode::kTest),
            {"plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
            fmt::format("CIFAR-10 in '{}'", folder)};
  }
  if (MNIST::exists(folder)) {
    return {as_cifar10(MNIST(folder)),
            as_cifar10(MNIST(folder, Mode::kTest)),
            {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"},
            fmt::format("MNIST in '{}'", folder)};
  }
  if (source.folder.empty()) return generate(seed, folder);
  throw ambit::Error(
      fmt::format("--data: expected a folder that is or contains cifar-10-batches-bin, "
                  "cifar-10-sample or mnist, "
                  "got '{}' (--download downloads CIFAR-10)",
                  folder));
}

}  // namespace images
