// MNIST's idx files. Format: yann.lecun.com/exdb/mnist.
#include <ambit/backend/op.h>
#include <ambit/data/mnist.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>

#include "data_file.h"

namespace ambit::data::datasets {
namespace {

constexpr size_t kMostDims = 3;  // of images

std::string images_name(Mode mode) {
  return mode == Mode::kTrain ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte";
}
std::string labels_name(Mode mode) {
  return mode == Mode::kTrain ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte";
}

// Return the path of `name` or `name`.gz in root, in its folder mnist, or in torchvision's
// MNIST/raw; nullopt if there is none.
std::optional<std::string> find_file(const std::string& root, const std::string& name) {
  const std::filesystem::path base(root);
  for (const auto& folder : {base, base / "mnist", base / "MNIST" / "raw"}) {
    for (const std::string& file : {name, name + ".gz"}) {
      std::error_code ignored;
      if (std::filesystem::exists(folder / file, ignored)) return (folder / file).string();
    }
  }
  return {};
}

std::string need_file(const std::string& root, const std::string& name) {
  if (auto path = find_file(root, name)) return *path;
  throw SerializationError(
      fmt::format("MNIST: expected {0} or {0}.gz in '{1}', or in its folder mnist or MNIST/raw, "
                  "got no such file",
                  name, root));
}

uint32_t big_endian(const uint8_t* b) {
  return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
}

// An idx file of bytes: the magic number 0x0800 + dims, the sizes as big-endian u32, the data.
// Allocates only after checking that the file can hold these sizes.
Tensor read_idx(const std::string& path, size_t dims) {
  DataFile file("MNIST", path);
  const auto fail = [&](const std::string& expected, const auto& got) {
    throw SerializationError(
        fmt::format("MNIST: expected {} in '{}', got {}", expected, printable(path), got));
  };
  const size_t header = 4 + 4 * dims;
  std::array<uint8_t, 4 + 4 * kMostDims> bytes{};
  const size_t there = file.read(bytes.data(), header);
  if (there < header) fail(fmt::format("at least {} bytes", header), there);
  const uint32_t magic = static_cast<uint32_t>(0x0800 + dims);
  if (big_endian(bytes.data()) != magic) {
    fail(fmt::format("the magic number {}", magic), big_endian(bytes.data()));
  }
  Dims sizes;
  uint64_t needed = 1, without_zeros = 1;  // both limited; strides use without_zeros
  for (size_t d = 0; d < dims; ++d) {
    const uint32_t size = big_endian(bytes.data() + 4 + 4 * d);
    // Clamp the product, so that its product with a u32 fits into 64 bits; sizes above the limit
    // are rejected below.
    needed = std::min<uint64_t>(needed, kMostBytes) * size;
    without_zeros = std::min<uint64_t>(without_zeros, kMostBytes + 1) * std::max(size, 1u);
    sizes.push_back(size);
  }
  if (without_zeros > kMostBytes) {
    fail(fmt::format("at most {} bytes of data", kMostBytes), ambit::str(sizes));
  }
  const std::string whole = fmt::format("{} bytes for {}", header + needed, ambit::str(sizes));
  if (header + needed > file.most_bytes()) fail(whole, "fewer");
  Tensor out = empty(sizes, TensorOptions(kUInt8).device(kCPU));
  const size_t got = file.read(out.data_ptr<uint8_t>(), needed);
  if (got < needed) fail(whole, header + got);
  if (!file.at_end()) fail(whole, "more");
  return out;
}

ByteImages read(const std::string& root, Mode mode) {
  const std::string labels_path = need_file(root, labels_name(mode));
  const Tensor images = read_idx(need_file(root, images_name(mode)), 3);
  const Tensor labels = read_idx(labels_path, 1);
  if (images.size(0) != labels.size(0)) {
    throw SerializationError(fmt::format("MNIST: expected {} labels in '{}', got {}",
                                         images.size(0), printable(labels_path), labels.size(0)));
  }
  const auto* label = labels.data_ptr<uint8_t>();
  const auto worst = std::max_element(label, label + labels.numel());
  if (labels.numel() > 0 && *worst > 9) {
    throw SerializationError(fmt::format("MNIST: expected labels 0 to 9 in '{}', got {}",
                                         printable(labels_path), *worst));
  }
  return {images.unsqueeze(1), labels.to(kInt64)};
}

}  // namespace

bool MNIST::exists(const std::string& root, Mode mode) {
  return find_file(root, images_name(mode)).has_value();
}

MNIST::MNIST(const std::string& root, Mode mode) try : ImageDataset(read(root, mode), mode) {
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("MNIST");
}

}  // namespace ambit::data::datasets
