// Only the beginning of each record is read: protobuf writes fields in order, so step and tag come
// first. Sources: event_file.cpp for the format of records; protobuf.dev, "Encoding".
#include "earlier_steps.h"

#include <ambit/detail/printable.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>

namespace ambit::tensorboard {
namespace {

// Reads the fields of one message, whose end may be missing.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  /// Advance to the next field; false at the end.
  bool next() {
    const std::optional<uint64_t> key = varint();
    if (!key) return false;
    id_ = *key >> 3;
    bytes_ = {};
    switch (*key & 7) {
      case 0: {
        const auto number = varint();
        number_ = number.value_or(0);
        return number.has_value();
      }
      case 1:
        return take(8);
      case 2: {
        const auto length = varint();
        return length && take(*length);
      }
      case 5:
        return take(4);
      default:
        return false;
    }
  }
  uint64_t id() const { return id_; }
  uint64_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    return {};
  }
  bool take(uint64_t count) {
    count = std::min<uint64_t>(count, rest_.size());
    bytes_ = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }

  std::string_view rest_, bytes_;
  uint64_t id_ = 0, number_ = 0;
};

struct Point {
  int64_t step = 0;
  std::string_view tag;  // empty: no value
};

// Return an event's step (field 2) and the tag of its first value (field path 5, 1, 1).
Point point_of(std::string_view event) {
  constexpr uint64_t kStep = 2, kSummary = 5, kFirst = 1;
  Point point;
  for (Fields fields(event); fields.next();) {
    if (fields.id() == kStep) point.step = static_cast<int64_t>(fields.number());
    if (fields.id() != kSummary) continue;
    Fields values(fields.bytes());
    if (!values.next() || values.id() != kFirst) continue;
    Fields value(values.bytes());
    if (value.next() && value.id() == kFirst) point.tag = value.bytes();
    return point;
  }
  return point;
}

// A file, read in large pieces on demand; skipped parts are not read.
class Window {
 public:
  explicit Window(const std::filesystem::path& file) : bytes_(kBytes, '\0') {
    descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info {};
    const bool is_known = descriptor_ >= 0 && ::fstat(descriptor_, &info) == 0;
    if (is_known && S_ISREG(info.st_mode)) file_bytes_ = static_cast<uint64_t>(info.st_size);
  }
  ~Window() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Return the file's size; 0 if it cannot be read.
  uint64_t file_bytes() const { return file_bytes_; }

  /// Return up to `count` bytes from `offset` on; fewer at the end of the file.
  std::string_view at(uint64_t offset, size_t count) {
    if (offset < begin_ || offset + count > begin_ + size_) {
      const ssize_t got =
          ::pread(descriptor_, bytes_.data(), bytes_.size(), static_cast<off_t>(offset));
      begin_ = offset;
      size_ = got > 0 ? static_cast<size_t>(got) : 0;
    }
    const auto first = static_cast<size_t>(offset - begin_);
    return std::string_view(bytes_).substr(0, size_).substr(first, count);
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 16;

  std::string bytes_;
  int descriptor_ = -1;
  uint64_t file_bytes_ = 0, begin_ = 0;
  size_t size_ = 0;
};

}  // namespace

EarlierSteps::EarlierSteps(const std::filesystem::path& folder) : folder_(folder.string()) {
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error), end;
  for (; !error && files != end; files.increment(error)) {
    if (files->path().filename().string().find("tfevents") != std::string::npos) {
      read(files->path());
    }
  }
}

void EarlierSteps::read(const std::filesystem::path& file) {
  // A record is its length, 4 bytes of checksum, its bytes, and 4 of checksum.
  constexpr uint64_t kHead = 12, kTail = 4, kTagEnd = 1024;
  Window window(file);
  for (uint64_t at = 0; at + kHead < window.file_bytes();) {
    const std::string_view head = window.at(at, kHead);
    uint64_t length = 0;
    if (head.size() < kHead) return;
    std::memcpy(&length, head.data(), sizeof length);
    if (length > window.file_bytes()) return;
    const Point point = point_of(window.at(at + kHead, std::min(length, kTagEnd)));
    at += kHead + length + kTail;
    if (point.tag.empty()) continue;
    const auto known = last_.find(point.tag);
    if (known == last_.end()) {
      last_.emplace(point.tag, point.step);
    } else {
      known->second = std::max(known->second, point.step);
    }
  }
}

void EarlierSteps::warn_before(std::string_view event) {
  if (last_.empty()) return;
  const Point point = point_of(event);
  const auto known = last_.find(point.tag);
  if (known == last_.end() || known->second <= point.step) return;
  const std::string text = fmt::format(
      "SummaryWriter: another event file in '{}' has step {} of '{}', which is later than step {}: "
      "TensorBoard will hide the points from that step on; use another folder for each training",
      folder_, known->second, point.tag, point.step);
  std::fprintf(stderr, "ambit: %s\n", one_line(text).c_str());
  last_.clear();
}

}  // namespace ambit::tensorboard
