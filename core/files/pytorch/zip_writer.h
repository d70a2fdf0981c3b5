// Writes zip files of stored entries sequentially: libzip would need a seekable file and does not
// align data. Private to core.
// Format: APPNOTE.TXT 6.3.10 of PKWARE.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ambit {

class ZipWriter {
 public:
  /// Receives the file's bytes, in order. Exceptions from it pass through.
  using Sink = std::function<void(const void* data, uint64_t size_bytes)>;

  explicit ZipWriter(Sink sink) : sink_(std::move(sink)) {}

  /// Add an entry. Its data begin at a multiple of 64 bytes in the file, as PyTorch's do. Names
  /// must be unique, in UTF-8, and of at most 65535 bytes.
  void add(std::string_view name, const void* data, uint64_t size_bytes);
  /// Add an entry in PyTorch's folder.
  void add_in_folder(std::string_view name, std::string_view bytes);
  /// Write the central directory, which ends the file.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t size_bytes, offset;
    uint32_t crc;
  };
  void write(const std::string& bytes);

  Sink sink_;
  uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace ambit
