// Where the images come from: found, downloaded or generated, and always of CIFAR-10's form.
#pragma once

#include <ambit/data/cifar10.h>

#include <cstdint>
#include <string>
#include <vector>

namespace images {

struct Images {
  ambit::data::datasets::CIFAR10 train, test;
  std::vector<std::string> classes;
  std::string source;  ///< for people: a folder, or why they are generated
};

/// What the command line says of images.
struct Source {
  std::string folder;     ///< empty: $AMBIT_DATA, else ./data
  bool download = false;  ///< get CIFAR-10 into the folder first
};

/// Look in the folder for CIFAR-10 or MNIST, the former first. Where neither a folder is given nor
/// data are, generate images from `seed`.
/// Errors: ambit::Error for a given folder without data, and for broken files.
Images find_images(const Source& source, uint64_t seed);

}  // namespace images
