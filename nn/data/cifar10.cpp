// CIFAR-10's binary files: records of a class and three planes, nothing else.
// Format: www.cs.toronto.edu/~kriz/cifar.html, "Binary version".
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

#include "data_file.h"

namespace ambit::data::datasets {
namespace {

constexpr size_t kRecordBytes = CIFAR10::kRecordBytes;

// Returns the records when they are whole and of known classes; `source` is for messages.
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

// The official files are packed as a whole, not one by one: their size says how many images they
// hold before one is read.
void append_file(std::vector<uint8_t>& records, const std::string& path) {
  DataFile file("CIFAR10", path);
  const auto fail = [&](const std::string& expected, const std::string& got) {
    throw SerializationError(
        fmt::format("CIFAR10: expected {} in '{}', got {}", expected, printable(path), got));
  };
  const uint64_t bytes = file.most_bytes();
  if (file.is_packed()) fail("images as they are", "a compressed file");
  if (bytes > kMostBytes) fail(fmt::format("at most {} bytes", kMostBytes), fmt::to_string(bytes));
  const size_t before = records.size();
  records.resize(before + bytes);
  const size_t got = file.read(records.data() + before, bytes);
  if (got != bytes || !file.at_end()) {
    fail("a file that keeps its size", "one that changed while it was read");
  }
  checked(std::span(records).subspan(before), fmt::format("'{}'", path));
}

std::vector<std::string> file_names(Mode mode) {
  if (mode == Mode::kTest) return {"test_batch.bin"};
  return {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
          "data_batch_5.bin"};
}

// Returns the folder of the first of the files; nothing where it is not found.
std::optional<std::filesystem::path> find_folder(const std::string& root, Mode mode) {
  const std::filesystem::path base(root);
  for (const auto& folder : {base, base / "cifar-10-batches-bin", base / "cifar-10-sample"}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / file_names(mode)[0], ignored)) return folder;
  }
  return {};
}

ByteImages read(const std::string& root, Mode mode) {
  const auto folder = find_folder(root, mode);
  if (!folder) {
    throw SerializationError(
        fmt::format("CIFAR10: expected {} in '{}', or in its folder cifar-10-batches-bin or "
                    "cifar-10-sample, got no such file",
                    file_names(mode)[0], printable(root)));
  }
  std::vector<uint8_t> records;
  for (const std::string& file : file_names(mode)) {
    const std::string path = (*folder / file).string();
    append_file(records, path);
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
