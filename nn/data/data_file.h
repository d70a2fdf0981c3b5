// A file of a dataset, compressed or not. Private to data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct gzFile_s;  // zlib's

namespace ambit::data {

/// Most bytes that a file of a dataset may hold, unpacked: more than those of any that there is.
/// A file of some megabytes could say, and unpack to, a thousand times its size.
inline constexpr uint64_t kMostBytes = uint64_t{1} << 30;

/// A regular file, read from front to back and unpacked on the way if it is gzip's.
/// Errors of all: SerializationError naming the dataset, the path and the reason.
class DataFile {
 public:
  DataFile(const char* dataset, std::string path);

  bool is_packed() const { return packed_; }
  /// The bytes that reading could give at most: those on the disk, or what they could unpack to.
  uint64_t most_bytes() const;
  /// Read up to `bytes`, and return how many there were: fewer only at the end, where the checksum
  /// of what was packed is compared too.
  size_t read(void* to, size_t bytes);
  /// Return whether nothing follows.
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
