// Files and records of CIFAR-10, five and one; the binary version and Python's.
#include <ambit/data/cifar10.h>
#include <ambit/error.h>

#include <string>

#include "memory_file.h"

using ambit::data::datasets::CIFAR10;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const CIFAR10 images({data, size});
    if (*images.size() != size / CIFAR10::kRecordBytes) std::abort();
  } catch (const ambit::SerializationError&) {
  }
  static const LinkFolder folder;
  const MemoryFile file(data, size);
  for (int i = 1; i <= 5; ++i) folder.link("data_batch_" + std::to_string(i) + ".bin", file);
  try {
    const CIFAR10 images(folder.path());
    if (*images.size() != 5 * (size / CIFAR10::kRecordBytes)) std::abort();
  } catch (const ambit::SerializationError&) {
  }
  static const LinkFolder torchvision;
  torchvision.link("cifar-10-batches-py/test_batch", file);
  try {
    const CIFAR10 images(torchvision.path(), ambit::data::datasets::Mode::kTest);
  } catch (const ambit::SerializationError&) {
  }
  return 0;
}
