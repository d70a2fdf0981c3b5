// gzip's files by zlib, which also reads plain ones.
#include "file_bytes.h"

#include <ambit/error.h>

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace ambit::data {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

[[noreturn]] void fail(const char* what, const std::string& path, const std::string& why) {
  throw SerializationError(fmt::format("{}: cannot read '{}': {}", what, path, why));
}

}  // namespace

std::vector<uint8_t> read_file(const char* what, const std::string& path, size_t most) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail(what, path, std::generic_category().message(errno));
  if (S_ISDIR(info.st_mode)) fail(what, path, std::generic_category().message(EISDIR));
  // gzread() hands through what is not compressed.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), ::gzclose);
  if (!file) fail(what, path, std::generic_category().message(errno));
  std::vector<uint8_t> bytes;
  while (bytes.size() <= most) {
    const size_t had = bytes.size();
    const size_t asked = std::min(kChunkBytes, most + 1 - had);
    bytes.resize(had + asked);
    const int got = ::gzread(file.get(), bytes.data() + had, static_cast<unsigned>(asked));
    int error = Z_OK;
    const char* text = ::gzerror(file.get(), &error);
    // At the end of a truncated file gzread() returns what there was and leaves Z_BUF_ERROR.
    if (got < 0 || error != Z_OK) {
      fail(what, path, error == Z_ERRNO ? std::generic_category().message(errno) : text);
    }
    bytes.resize(had + static_cast<size_t>(got));
    if (static_cast<size_t>(got) < asked) break;
  }
  return bytes;
}

}  // namespace ambit::data
