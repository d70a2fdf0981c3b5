// Every size and offset is written in the Zip64 form, which files above 4 GiB need: one form is
// simpler than two, and tests on small files cover large ones.
#include "zip_writer.h"

#include <libdeflate.h>
#include <zlib.h>

#include <bit>
#include <cstring>
#include <vector>

#include "core/files/in_parts.h"
#include "pytorch_file.h"

namespace ambit {
namespace {

static_assert(std::endian::native == std::endian::little, "zip files are little-endian");

constexpr uint64_t kAlignment = 64;
constexpr uint16_t kVersion = 45;         // the first version of the format with Zip64
constexpr uint16_t kUtf8 = 1 << 11;       // flag: names are in UTF-8
constexpr uint16_t kMadeOnUnix = 3 << 8;  // so that the attributes are a Unix mode
constexpr uint32_t kMode = 0100644u << 16;
constexpr uint16_t kEpoch = (1 << 5) | 1;  // 1 January 1980: equal tensors give equal files
constexpr uint16_t kZip64 = 0x0001, kPadding = 0x4246;  // extra fields; "FB" is PyTorch's own
constexpr uint16_t kExtraHeader = 4;                    // bytes of an extra field's id and length
constexpr uint16_t kIn64Bits16 = 0xffff;                // "see the Zip64 field"
constexpr uint32_t kIn64Bits = 0xffffffff;

// Appends numbers in the format's byte order.
class Record {
 public:
  template <class... T>
  Record& put(T... values) {
    (append(&values, sizeof values), ...);
    return *this;
  }
  Record& text(std::string_view s) {
    bytes_ += s;
    return *this;
  }
  Record& zeros(size_t n) {
    bytes_.append(n, '\0');
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void append(const void* data, size_t n) { bytes_.append(static_cast<const char*>(data), n); }
  std::string bytes_;
};

uint32_t crc_of(const void* data, uint64_t size_bytes) {
  struct Part {
    uint32_t crc;
    uint64_t bytes;
  };
  std::vector<Part> parts(parts_of(size_bytes));
  in_parts(parts.size(), size_bytes, [&](size_t i, uint64_t begin, uint64_t end) {
    const uint64_t bytes = end - begin;
    parts[i] = {libdeflate_crc32(0, static_cast<const char*>(data) + begin, bytes), bytes};
  });
  uint32_t crc = 0;
  for (const Part& part : parts) {
    crc = static_cast<uint32_t>(crc32_combine(crc, part.crc, static_cast<z_off_t>(part.bytes)));
  }
  return crc;
}

}  // namespace

void ZipWriter::add(std::string_view name, const void* data, uint64_t size_bytes) {
  const uint32_t crc = crc_of(data, size_bytes);
  const auto name_bytes = static_cast<uint16_t>(name.size());
  constexpr uint16_t kZip64Bytes = 2 * sizeof(uint64_t), kFixedBytes = 30;
  const uint64_t end = at_ + kFixedBytes + name.size() + 2 * kExtraHeader + kZip64Bytes;
  const auto padding = static_cast<uint16_t>((kAlignment - end % kAlignment) % kAlignment);
  const auto extra_bytes = static_cast<uint16_t>(2 * kExtraHeader + kZip64Bytes + padding);

  entries_.push_back({std::string(name), size_bytes, at_, crc});
  Record header;
  header.text("PK\x03\x04").put(kVersion, kUtf8, uint16_t{0} /* stored */, uint16_t{0}, kEpoch);
  header.put(crc, kIn64Bits, kIn64Bits, name_bytes, extra_bytes).text(name);
  header.put(kZip64, kZip64Bytes, size_bytes, size_bytes);
  header.put(kPadding, padding).zeros(padding);
  write(header.bytes());
  sink_(data, size_bytes);
  at_ += size_bytes;
}

void ZipWriter::add_in_folder(std::string_view name, std::string_view bytes) {
  add(std::string(pytorch_file::kFolder).append(name), bytes.data(), bytes.size());
}

void ZipWriter::finish() {
  const uint64_t begin = at_;
  constexpr uint16_t kZip64Bytes = 3 * sizeof(uint64_t);
  for (const Entry& e : entries_) {
    Record entry;
    entry.text("PK\x01\x02").put(static_cast<uint16_t>(kMadeOnUnix | kVersion), kVersion, kUtf8);
    entry.put(uint16_t{0} /* stored */, uint16_t{0}, kEpoch, e.crc, kIn64Bits, kIn64Bits);
    entry.put(static_cast<uint16_t>(e.name.size()), uint16_t{kExtraHeader + kZip64Bytes});
    entry.put(uint16_t{0} /* comment */, uint16_t{0} /* disk */, uint16_t{0}, kMode, kIn64Bits);
    entry.text(e.name).put(kZip64, kZip64Bytes, e.size_bytes, e.size_bytes, e.offset);
    write(entry.bytes());
  }
  const uint64_t directory_end = at_, count = entries_.size();
  Record end;
  constexpr uint64_t kEndBytes = 44;  // length of the Zip64 record after this field
  end.text("PK\x06\x06").put(kEndBytes, static_cast<uint16_t>(kMadeOnUnix | kVersion), kVersion);
  end.put(uint32_t{0}, uint32_t{0} /* disks */, count, count, directory_end - begin, begin);
  end.text("PK\x06\x07").put(uint32_t{0}, directory_end, uint32_t{1});
  end.text("PK\x05\x06").put(uint16_t{0}, uint16_t{0}, kIn64Bits16, kIn64Bits16);
  end.put(kIn64Bits, kIn64Bits, uint16_t{0} /* comment */);
  write(end.bytes());
}

void ZipWriter::write(const std::string& bytes) {
  sink_(bytes.data(), bytes.size());
  at_ += bytes.size();
}

}  // namespace ambit
