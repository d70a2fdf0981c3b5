// Interface of libambit_zip.so, which is loaded only to read PyTorch's files: a reader of zip files
// (by libzip) and the readers of PyTorch's formats. Private to core.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_reader.h"

namespace ambit {

/// A source of bytes: a file descriptor or memory. Does not own either.
class ByteSource {
 public:
  ByteSource(int descriptor, uint64_t size_bytes)
      : descriptor_(descriptor), size_bytes_(size_bytes) {}
  ByteSource(const void* data, uint64_t size_bytes)
      : data_(static_cast<const char*>(data)), size_bytes_(size_bytes) {}

  uint64_t size_bytes() const { return size_bytes_; }
  /// Return the source of the first `size_bytes` bytes.
  ByteSource first(uint64_t size_bytes) const {
    ByteSource part = *this;
    part.size_bytes_ = size_bytes;
    return part;
  }
  /// Return the number of bytes read, at most `count`; -1 for an error, with errno set.
  int64_t read(void* to, uint64_t count, uint64_t offset) const;
  /// Read exactly `count` bytes. Errors: SerializationError.
  void read_all(void* to, uint64_t count, uint64_t offset) const;

 private:
  int descriptor_ = -1;
  const char* data_ = nullptr;
  uint64_t size_bytes_;
};

/// Reads stored and deflated entries. Together they may not be longer than the file, and a deflated
/// entry unpacks to at most 1032 times its size, so the file's size bounds a reader's allocations.
/// Errors of all: SerializationError.
class ZipReader {
 public:
  struct Entry {
    std::string name;
    uint64_t size_bytes = 0;  ///< unpacked
    bool is_readable = true;  ///< stored or deflated, and not encrypted
    bool is_stored = true;    ///< not deflated
  };
  /// An entry's position in entries(), and memory for its size_bytes.
  struct Read {
    size_t entry;
    void* to;
  };

  virtual ~ZipReader() = default;
  /// Names are unique.
  virtual const std::vector<Entry>& entries() const = 0;
  /// Read whole entries and check their CRC-32; 0 means that none was computed. Several threads
  /// share the stored entries. Errors: also for an entry that is not readable.
  virtual void read_all(std::span<const Read> reads) const = 0;
  void read(size_t entry, void* to) const {
    const Read one{entry, to};
    read_all({&one, 1});
  }
};

/// The table that late_library("zip") returns. Errors of its functions: SerializationError.
struct ZipLibrary {
  std::unique_ptr<ZipReader> (*open)(const ByteSource& bytes);
  /// Read a file of PyTorch in either format, and its metadata if `metadata`.
  PytorchContent (*read)(const ByteSource& bytes, Device device, bool metadata);
  /// Return true if a zip file is TorchScript.
  bool (*is_script)(const ByteSource& bytes);
  /// Read a bare pickle, which names no storages.
  Value (*read_pickle)(std::string_view bytes);
};

}  // namespace ambit
