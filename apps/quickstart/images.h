// Where the images come from: found, downloaded or generated, and always of CIFAR-10's form.
#pragma once

#include <ambit/data/cifar10.h>

#include <string>
#include <vector>

#include "options.h"

namespace quickstart {

struct Images {
  ambit::data::datasets::CIFAR10 train, test;
  std::vector<std::string> classes;
  std::string source;  ///< for people: a folder, or why they are generated
};

/// Look in --data, else in $AMBIT_DATA, else in ./data for CIFAR-10 or MNIST, the former first;
/// with
/// --download get it first. Where neither --data nor data are, generate images.
/// Errors: ambit::Error for a --data without data, and for broken files.
Images find_images(const Options& options);

}  // namespace quickstart
