// A file to read from; its errors name it. Private to core.
#pragma once

#include <ambit/tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ambit {

/// Throw SerializationError "load: cannot read '<path>': <why>", on one line.
[[noreturn]] AMBIT_API void fail_load(const std::string& path, const std::string& why);

/// Return false for a bool tensor with bytes other than 0 and 1; using it would be undefined.
AMBIT_API bool is_valid(const Tensor& t);

/// A regular file, not a folder, pipe or device. Errors of all: those of fail_load.
class AMBIT_API InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return fd_; }
  uint64_t size_bytes() const { return size_bytes_; }
  void read(void* to, size_t bytes, uint64_t offset) const { read({{to, bytes, offset}}); }

  /// `bytes` bytes from `offset` on, to be read into `to`.
  struct Piece {
    void* to;
    size_t bytes;
    uint64_t offset;
  };
  /// Read all pieces together, so that threads start once.
  void read(const std::vector<Piece>& pieces) const;

 private:
  void read_part(char* next, size_t bytes, uint64_t offset) const;
  [[noreturn]] void fail(int error) const;

  std::string path_;
  int fd_ = -1;
  uint64_t size_bytes_ = 0;
};

}  // namespace ambit
