#include "input_file.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "in_parts.h"

namespace ambit {

void fail_load(const std::string& path, const std::string& why) {
  throw SerializationError(
      fmt::format("load: cannot read '{}': {}", one_line(path), one_line(why)));
}

bool is_valid(const Tensor& t) {
  if (t.dtype() != kBool) return true;
  const auto* bytes = static_cast<const unsigned char*>(t.data_ptr());
  return std::all_of(bytes, bytes + t.numel(), [](unsigned char b) { return b <= 1; });
}

InputFile::InputFile(const std::string& path) : path_(path) {
  // Opening a pipe would block until a writer opens it.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) fail(errno);
  struct stat info {};
  const int error = ::fstat(fd_, &info) != 0 ? errno
                    : S_ISDIR(info.st_mode)  ? EISDIR
                    : !S_ISREG(info.st_mode) ? EINVAL
                                             : 0;
  if (error) {
    ::close(fd_);
    fail(error);
  }
  size_bytes_ = static_cast<uint64_t>(info.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read(const std::vector<Piece>& pieces) const {
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  in_parts(parts_of(bytes), bytes, [&](size_t, uint64_t begin, uint64_t end) {
    uint64_t first = 0;  // position of the piece among all bytes
    for (const Piece& piece : pieces) {
      const uint64_t from = std::max(begin, first), to = std::min(end, first + piece.bytes);
      if (from < to) {
        read_part(static_cast<char*>(piece.to) + (from - first), to - from,
                  piece.offset + (from - first));
      }
      first += piece.bytes;
    }
  });
}

void InputFile::read_part(char* next, size_t bytes, uint64_t offset) const {
  while (bytes > 0) {
    const ssize_t got = ::pread(fd_, next, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) fail_load(path_, "the file was shortened while it was read");
    next += got;
    bytes -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
}

void InputFile::fail(int error) const { fail_load(path_, std::generic_category().message(error)); }

}  // namespace ambit
