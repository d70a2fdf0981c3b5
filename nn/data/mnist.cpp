// MNIST's idx files. Format: yann.lecun.com/exdb/mnist.
#include <ambit/data/mnist.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include "file_bytes.h"

namespace ambit::data::datasets {
namespace {

constexpr size_t kMostBytes = std::numeric_limits<uint32_t>::max();

std::string images_name(Mode mode) {
  return mode == Mode::kTrain ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte";
}
std::string labels_name(Mode mode) {
  return mode == Mode::kTrain ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte";
}

// Finds `name` or `name`.gz in root or in its folder mnist; nothing where there is none.
std::optional<std::string> find_file(const std::string& root, const std::string& name) {
  const std::filesystem::path base(root);
  for (const auto& folder : {base, base / "mnist"}) {
    for (const std::string& file : {name, name + ".gz"}) {
      std::error_code ignored;
      if (std::filesystem::exists(folder / file, ignored)) return (folder / file).string();
    }
  }
  return {};
}

std::string need_file(const std::string& root, const std::string& name) {
  if (auto path = find_file(root, name)) return *path;
  throw SerializationError(fmt::format(
      "MNIST: expected {0} or {0}.gz in '{1}', or in its folder mnist, got no such file", name,
      root));
}

uint32_t big_endian(const uint8_t* b) {
  return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
}

// An idx file of bytes: the magic number 0x0800 + dims, the sizes as big-endian u32, the data.
Tensor read_idx(const std::string& path, size_t dims) {
  const std::vector<uint8_t> bytes = read_file("MNIST", path, kMostBytes);
  const size_t header = 4 + 4 * dims;
  const auto fail = [&](const std::string& expected, uint64_t got) {
    throw SerializationError(
        fmt::format("MNIST: expected {} in '{}', got {}", expected, path, got));
  };
  if (bytes.size() < header) fail(fmt::format("at least {} bytes", header), bytes.size());
  const uint32_t magic = static_cast<uint32_t>(0x0800 + dims);
  if (big_endian(bytes.data()) != magic) {
    fail(fmt::format("the magic number {}", magic), big_endian(bytes.data()));
  }
  Dims sizes;
  uint64_t needed = 1;
  for (size_t d = 0; d < dims; ++d) {
    const uint32_t size = big_endian(bytes.data() + 4 + 4 * d);
    // Every product of two u32 fits; beyond what a file may hold it need not grow further.
    needed = std::min<uint64_t>(needed, kMostBytes) * size;
    sizes.push_back(size);
  }
  if (bytes.size() - header != needed) {
    fail(fmt::format("{} bytes for {}", header + needed, ambit::str(sizes)), bytes.size());
  }
  Tensor out = empty(sizes, kUInt8);
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end(),
            out.data_ptr<uint8_t>());
  return out;
}

ByteImages read(const std::string& root, Mode mode) {
  const std::string labels_path = need_file(root, labels_name(mode));
  const Tensor images = read_idx(need_file(root, images_name(mode)), 3);
  const Tensor labels = read_idx(labels_path, 1);
  if (images.size(0) != labels.size(0)) {
    throw SerializationError(fmt::format("MNIST: expected {} labels in '{}', got {}",
                                         images.size(0), labels_path, labels.size(0)));
  }
  const auto* label = labels.data_ptr<uint8_t>();
  const auto worst = std::max_element(label, label + labels.numel());
  if (labels.numel() > 0 && *worst > 9) {
    throw SerializationError(
        fmt::format("MNIST: expected labels 0 to 9 in '{}', got {}", labels_path, *worst));
  }
  return {images.unsqueeze(1), labels.to(kInt64)};
}

}  // namespace

bool MNIST::exists(const std::string& root, Mode mode) {
  return find_file(root, images_name(mode)).has_value();
}

MNIST::MNIST(const std::string& root, Mode mode) : ImageDataset(read(root, mode)) {}

}  // namespace ambit::data::datasets
