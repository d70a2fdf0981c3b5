// MNIST's two files, compressed or not. The first two bytes of the input are the length of the
// first file.
#include <ambit/data/mnist.h>
#include <ambit/error.h>

#include <algorithm>

#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t first = std::min<size_t>(size - 2, size_t{data[0]} << 8 | data[1]);
  const MemoryFile images(data + 2, first), labels(data + 2 + first, size - 2 - first);
  static const LinkFolder folder;
  folder.link("train-images-idx3-ubyte", images);
  folder.link("train-labels-idx1-ubyte.gz", labels);
  try {
    const ambit::data::datasets::MNIST mnist(folder.path());
    if (mnist.raw_images().size(0) != mnist.targets().size(0)) std::abort();
  } catch (const ambit::SerializationError&) {
  }
  return 0;
}
