// Source of the images: found, downloaded or generated, always in CIFAR-10's format.
#pragma once

#include <ambit/data/cifar10.h>

#include <cstdint>
#include <string>
#include <vector>

namespace images {

struct Images {
  ambit::data::datasets::CIFAR10 train, test;
  std::vector<std::string> classes;
  std::string source;  ///< for output: a folder, or why they are generated
};

/// Command-line options for images.
struct Source {
  std::string folder;     ///< empty: $AMBIT_DATA, else ./data
  bool download = false;  ///< download CIFAR-10 into the folder first
};

/// Search the folder for CIFAR-10, then MNIST. If no folder is given and none is found, generate
/// images from `seed`. Errors: ambit::Error for a given folder without data, and for invalid files.
Images find_images(const Source& source, uint64_t seed);

}  // namespace images
