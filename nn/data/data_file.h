// A file of a dataset, compressed or not. Private to data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct gzFile_s;  // from zlib

namespace ambit::data {

/// Maximum uncompressed size of a dataset's file; known ones are smaller. It is limited because a
/// file of some megabytes can declare, and decompress to, a thousand times its size.
inline constexpr uint64_t kMostBytes = uint64_t{1} << 30;

/// A regular file, read sequentially, and decompressed if it is in gzip format.
/// Errors of all functions: SerializationError naming the dataset, the path and the reason.
class DataFile {
 public:
  DataFile(const char* dataset, std::string path);

  bool is_packed() const { return packed_; }
  /// Return an upper bound of the readable bytes: the file size, or what it could decompress to.
  uint64_t most_bytes() const;
  /// Read up to `bytes` bytes and return their number: fewer only at the end of the file, where the
  /// checksum of compressed data is verified too.
  size_t read(void* to, size_t bytes);
  /// Return whether all bytes have been read.
  bool at_end();

 private:
  [[noreturn]] void fail(const std::string& why) const;

  struct Close {
    void operator()(gzFile_s* file) const;
  };

  const char* dataset_;
  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
  uint64_t size_bytes_ = 0;  // on the disk
  bool packed_ = false;
};

}  // namespace ambit::data
