// CIFAR-10's "Python version", as torchvision unpacks it. Private to data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ambit::data {

/// Append the images of a file as records of the binary version, whose classes are not checked yet.
/// Errors: SerializationError naming the file.
void append_cifar10_pickle(std::vector<uint8_t>& records, const std::string& path);

}  // namespace ambit::data
