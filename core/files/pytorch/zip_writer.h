// Writes zip files of stored entries, one after the other, without going back: libzip would need a
// file to seek in, and aligns nothing. Private to core.
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
  /// Takes the file's bytes, in order. What it throws, the functions here throw.
  using Sink = std::function<void(const void* data, uint64_t size_bytes)>;

  explicit ZipWriter(Sink sink) : sink_(std::move(sink)) {}

  /// The data begin at a multiple of 64 bytes of the file, as PyTorch's do. Names in UTF-8 of at
  /// most 65535 bytes, each once.
  void add(std::string_view name, const void* data, uint64_t size_bytes);
  /// The same of an entry in PyTorch's folder.
  void add_in_folder(std::string_view name, std::string_view bytes);
  /// Write the directory, with which the file ends.
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
