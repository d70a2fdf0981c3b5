// A file is a pickle of a dict: "data" is an array of bytes [N,3072], "labels" a list of N ints.
// Its keys are strings, or bytes if Python 3 rewrote the file. Format: see cifar10.cpp.
#include "cifar10_python.h"

#include <ambit/data/cifar10.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <string_view>

#include "core/files/pytorch/checkpoint_reader.h"
#include "data_file.h"

namespace ambit::data {
namespace {

constexpr int64_t kImageBytes = datasets::CIFAR10::kRecordBytes - 1;
constexpr uint64_t kMostPickleBytes = uint64_t{1} << 27;  // four times the official files' size

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError(fmt::format(text, std::forward<T>(args)...));
}

std::string_view text_of(const Value& key) {
  if (key.kind() == Value::Kind::string) return key.to_string();
  if (key.kind() != Value::Kind::opaque || key.to_opaque().type != "bytes") return {};
  const Value::List& arguments = key.to_opaque().arguments;
  return arguments.empty() ? std::string_view() : arguments[0].to_string();
}

const Value& need(const Value& batch, std::string_view name) {
  for (const auto& [key, value] : batch.entries()) {
    if (text_of(key) == name) return value;
  }
  fail("expected '{}' in the dict, got none", name);
}

void append(std::vector<uint8_t>& records, std::string_view pickle) {
  const Value batch = read_plain_pickle(pickle);
  const Tensor images = need(batch, "data").to_tensor().contiguous();
  const Value::List& labels = need(batch, "labels").items();
  if (images.dtype() != kUInt8 || images.dim() != 2 || images.size(1) != kImageBytes) {
    fail("expected bytes [N,{}] as 'data', got {}{}", kImageBytes, name(images.dtype()),
         str(images.sizes()));
  }
  if (labels.size() != static_cast<uint64_t>(images.size(0))) {
    fail("expected {} labels, got {}", images.size(0), labels.size());
  }
  const auto* image = images.data_ptr<uint8_t>();
  records.reserve(records.size() + labels.size() * datasets::CIFAR10::kRecordBytes);
  for (const Value& label : labels) {
    if (label.to_int() < 0 || label.to_int() > UINT8_MAX) {
      fail("expected classes 0 to 9, got {}", label.to_int());
    }
    records.push_back(static_cast<uint8_t>(label.to_int()));
    records.insert(records.end(), image, image + kImageBytes);
    image += kImageBytes;
  }
}

}  // namespace

void append_cifar10_pickle(std::vector<uint8_t>& records, const std::string& path) {
  DataFile file("CIFAR10", path);
  try {
    if (file.is_packed()) fail("expected a pickle as it is, got a compressed file");
    if (file.most_bytes() > kMostPickleBytes) {
      fail("expected at most {} bytes, got {}", kMostPickleBytes, file.most_bytes());
    }
    std::string pickle(file.most_bytes(), '\0');
    pickle.resize(file.read(pickle.data(), pickle.size()));
    append(records, pickle);
  } catch (const SerializationError& e) {
    fail("CIFAR10: cannot read '{}': {}", printable(path), e.what());
  }
}

}  // namespace ambit::data
