// Writes zip files of stored entries, one after the other, without going back: libzip would need a
// file to seek in, and aligns nothing. Private to core.
// Format: APPNOTE.TXT 6.3.10 of PKWARE.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/atomic_file.h"

namespace ambit {

class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path) : file_(path) {}

  /// The data begin at a multiple of 64 bytes of the file, as PyTorch's do. Names in UTF-8 of at
  /// most 65535 bytes, each once.
  void add(std::string_view name, const void* data, uint64_t size_bytes);
  /// Write the directory and put the file in its place.
  void commit();

 private:
  struct Entry {
    std::string name;
    uint64_t size_bytes, offset;
    uint32_t crc;
  };
  void write(const std::string& bytes);

  AtomicFile file_;
  uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace ambit
