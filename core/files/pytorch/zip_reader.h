// What libambit_zip.so holds, which programs without PyTorch's files need not load: zip files'
// entries, as libzip reads them, and the readers of PyTorch's files. Private to core.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_reader.h"

namespace ambit {

/// What is read from: the file of a descriptor, or memory; both stay the caller's.
class ByteSource {
 public:
  ByteSource(int descriptor, uint64_t size_bytes)
      : descriptor_(descriptor), size_bytes_(size_bytes) {}
  ByteSource(const void* data, uint64_t size_bytes)
      : data_(static_cast<const char*>(data)), size_bytes_(size_bytes) {}

  uint64_t size_bytes() const { return size_bytes_; }
  /// Return how many bytes there were, at most `count`; -1: errno.
  int64_t read(void* to, uint64_t count, uint64_t offset) const;
  /// Read all of them. Errors: SerializationError.
  void read_all(void* to, uint64_t count, uint64_t offset) const;

 private:
  int descriptor_ = -1;
  const char* data_ = nullptr;
  uint64_t size_bytes_;
};

/// Entries are read that are stored or deflated, which together are no longer than the file. A
/// deflated one unpacks to 1032 times its size at most: so what a file can make a reader allocate
/// is bounded by its size. Errors of all: SerializationError.
class ZipReader {
 public:
  struct Entry {
    std::string name;
    uint64_t size_bytes = 0;  ///< unpacked
    bool is_readable = true;  ///< stored or deflated, and not encrypted
  };

  virtual ~ZipReader() = default;
  /// Every name there once.
  virtual const std::vector<Entry>& entries() const = 0;
  /// Read the whole of an entry, by its position, and check its CRC-32, unless that is 0: then it
  /// was not computed. Errors also: for an entry that is not readable.
  virtual void read(size_t entry, void* to) const = 0;
};

/// What late_library("zip") returns. Errors: SerializationError.
struct ZipLibrary {
  std::unique_ptr<ZipReader> (*open)(const ByteSource& bytes);
  /// Read one of PyTorch's files, of either format, with its metadata if asked.
  PytorchContent (*read)(const ByteSource& bytes, Device device, bool metadata);
  /// Return whether a zip file is TorchScript's.
  bool (*is_script)(const ByteSource& bytes);
  /// Read a pickle by itself, which names no storages.
  Value (*read_pickle)(std::string_view bytes);
};

}  // namespace ambit
