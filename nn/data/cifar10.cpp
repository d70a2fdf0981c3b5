// CIFAR-10's binary files consist of records: a class and three planes. The "Python version" is
// converted to such records. Format: www.cs.toronto.edu/~kriz/cifar.html, "Binary version".
#include <ambit/backend/op.h>
#include <ambit/data/cifar10.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <vector>

#include "cifar10_python.h"
#include "data_file.h"

namespace ambit::data::datasets {
namespace {

constexpr size_t kRecordBytes = CIFAR10::kRecordBytes;

// Return the records. Errors: SerializationError naming `source` if a record is incomplete or its
// class is unknown.
std::span<const uint8_t> checked(std::span<const uint8_t> records, const std::string& source) {
  if (records.empty() || records.size() % kRecordBytes != 0) {
    throw SerializationError(fmt::format("CIFAR10: expected images of {} bytes in {}, got {} bytes",
                                         kRecordBytes, source, records.size()));
  }
  for (size_t i = 0; i < records.size(); i += kRecordBytes) {
    if (records[i] < CIFAR10::classes().size()) continue;
    throw SerializationError(
        fmt::format("CIFAR10: expected classes 0 to 9 in {}, got {} in image {}", source,
                    records[i], i / kRecordBytes));
  }
  return records;
}

ByteImages split(std::span<const uint8_t> records) {
  const auto n = static_cast<int64_t>(records.size() / kRecordBytes);
  Tensor images = empty({n, 3, 32, 32}, TensorOptions(kUInt8).device(kCPU));
  Tensor targets = empty({n}, TensorOptions(kInt64).device(kCPU));
  auto* image = images.data_ptr<uint8_t>();
  auto* target = targets.data_ptr<int64_t>();
  for (; !records.empty(); records = records.subspan(kRecordBytes)) {
    *target++ = records[0];
    image = std::copy_n(records.data() + 1, kRecordBytes - 1, image);
  }
  return {images, targets};
}

// The files in the official archive are not compressed, so the file size gives the number of images
// before one is read.
void append_file(std::vector<uint8_t>& records, const std::string& path) {
  DataFile file("CIFAR10", path);
  const auto fail = [&](const std::string& expected, const std::string& got) {
    throw SerializationError(
        fmt::format("CIFAR10: expected {} in '{}', got {}", expected, printable(path), got));
  };
  const uint64_t bytes = file.most_bytes();
  if (file.is_packed()) fail("an uncompressed file", "a compressed file");
  if (bytes > kMostBytes) fail(fmt::format("at most {} bytes", kMostBytes), fmt::to_string(bytes));
  const size_t before = records.size();
  records.resize(before + bytes);
  const size_t got = file.read(records.data() + before, bytes);
  if (got != bytes || !file.at_end()) {
    fail("a file that keeps its size", "one that changed while it was read");
  }
}

// Return the names without the binary version's extension ".bin".
std::vector<std::string> file_names(Mode mode) {
  if (mode == Mode::kTest) return {"test_batch"};
  return {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"};
}

struct Folder {
  std::filesystem::path path;
  const char* extension;  // "" for the Python version
};

// Return the folder that contains the first file; nullopt if there is none.
std::optional<Folder> find_folder(const std::string& root, Mode mode) {
  const std::filesystem::path base(root);
  for (const Folder& folder :
       {Folder{base, ".bin"}, Folder{base / "cifar-10-batches-bin", ".bin"},
        Folder{base / "cifar-10-sample", ".bin"}, Folder{base / "cifar-10-batches-py", ""}}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder.path / (file_names(mode)[0] + folder.extension), ignored)) {
      return folder;
    }
  }
  return {};
}

ByteImages read(const std::string& root, Mode mode) {
  const auto folder = find_folder(root, mode);
  if (!folder) {
    throw SerializationError(
        fmt::format("CIFAR10: expected {0}.bin in '{1}', or in its folder cifar-10-batches-bin or "
                    "cifar-10-sample, or {0} in cifar-10-batches-py, got no such file",
                    file_names(mode)[0], printable(root)));
  }
  std::vector<uint8_t> records;
  for (const std::string& name : file_names(mode)) {
    const std::string path = (folder->path / (name + folder->extension)).string();
    const size_t before = records.size();
    if (*folder->extension) {
      append_file(records, path);
    } else {
      append_cifar10_pickle(records, path);
    }
    checked(std::span(records).subspan(before), fmt::format("'{}'", printable(path)));
  }
  return split(records);
}

}  // namespace

CIFAR10::CIFAR10(const std::string& root, Mode mode) try : ImageDataset(read(root, mode), mode) {
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("CIFAR10");
}

CIFAR10::CIFAR10(std::span<const uint8_t> records)
    : ImageDataset(split(checked(records, "memory"))) {}

bool CIFAR10::exists(const std::string& root, Mode mode) {
  return find_folder(root, mode).has_value();
}

const std::array<const char*, 10>& CIFAR10::classes() {
  static constexpr std::array<const char*, 10> kClasses{
      "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  return kClasses;
}

}  // namespace ambit::data::datasets
