// A zip file's entries, as libambit_zip.so reads them with libzip, which programs without such
// files need not load. Private to core.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ambit {

/// Only stored (not compressed) entries are read, which together are no longer than the file: what
/// a file can make a reader allocate is bounded by its size. Errors of all: SerializationError.
class ZipReader {
 public:
  struct Entry {
    std::string name;
    uint64_t size_bytes = 0;
    bool is_stored = true;
  };

  virtual ~ZipReader() = default;
  /// Every name there once.
  virtual const std::vector<Entry>& entries() const = 0;
  /// Read the whole of an entry, by its position, and check its CRC-32. Errors also: for an entry
  /// that is not stored.
  virtual void read(size_t entry, void* to) const = 0;
};

/// What late_library("zip") returns.
struct ZipLibrary {
  /// Open the file of a descriptor, which stays the caller's.
  std::unique_ptr<ZipReader> (*open)(int descriptor, uint64_t size_bytes);
  /// Open a file in memory, which stays the caller's, and as it is.
  std::unique_ptr<ZipReader> (*open_memory)(const void* data, uint64_t size_bytes);
};

}  // namespace ambit
