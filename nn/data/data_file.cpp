// Uses zlib, which also reads uncompressed files.
#include "data_file.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ambit::data {

DataFile::DataFile(const char* dataset, std::string path)
    : dataset_(dataset), path_(std::move(path)) {
  // Opening a pipe would block until a writer opens it.
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail(std::generic_category().message(errno));
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  const int error = errno;
  if (known && S_ISREG(info.st_mode)) file_.reset(::gzdopen(fd, "rb"));
  if (!file_) ::close(fd);
  if (!known) fail(std::generic_category().message(error));
  if (S_ISDIR(info.st_mode)) fail(std::generic_category().message(EISDIR));
  if (!S_ISREG(info.st_mode)) fail("expected a file, got a pipe or a device");
  if (!file_) fail(std::generic_category().message(ENOMEM));
  size_bytes_ = static_cast<uint64_t>(info.st_size);
  packed_ = ::gzdirect(file_.get()) == 0;
}

uint64_t DataFile::most_bytes() const {
  constexpr uint64_t kBestRatio = 1032;  // deflate's maximum: 258 bytes in two bits
  return packed_ ? std::min(size_bytes_, kMostBytes) * kBestRatio : size_bytes_;
}

size_t DataFile::read(void* to, size_t bytes) {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  size_t done = 0;
  while (done < bytes) {
    const auto asked = static_cast<unsigned>(std::min(kPieceBytes, bytes - done));
    const int got = ::gzread(file_.get(), static_cast<char*>(to) + done, asked);
    int error = Z_OK;
    const char* text = ::gzerror(file_.get(), &error);
    // At the end of a truncated file gzread() returns the remaining bytes and sets Z_BUF_ERROR.
    if (got < 0 || error != Z_OK) {
      fail(error == Z_ERRNO ? std::generic_category().message(errno) : text);
    }
    done += static_cast<size_t>(got);
    if (static_cast<unsigned>(got) < asked) break;
  }
  return done;
}

bool DataFile::at_end() {
  char beyond = 0;
  return read(&beyond, 1) == 0;
}

void DataFile::fail(const std::string& why) const {
  throw SerializationError(
      fmt::format("{}: cannot read '{}': {}", dataset_, printable(path_), why));
}

void DataFile::Close::operator()(gzFile_s* file) const { ::gzclose(file); }

}  // namespace ambit::data
