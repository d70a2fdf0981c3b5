// Atomic replacement after the usual recipe: write, fsync, rename, fsync the folder.
// Source: rename(2), fsync(2); D. Luu, "Files are hard", on why each step is needed.
#include "atomic_file.h"

#include <ambit/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ambit {

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(path) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) fail("open", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    // Renaming over it would replace the device or the pipe itself.
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("open", errno);
    return;
  }
  if (exists) {
    std::error_code error;
    target_ = std::filesystem::canonical(path, error).string();
    if (error) fail("open", error.value());
  }
  open_temporary();
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

// The name carries the process and a count, and O_EXCL never opens what another writer uses.
void AtomicFile::open_temporary() {
  static std::atomic<unsigned> count{0};
  do {
    temporary_ = fmt::format("{}.{}-{}.tmp", target_, ::getpid(), count.fetch_add(1));
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ >= 0) return;
  temporary_.clear();
  fail("create a file beside", errno);
}

void AtomicFile::write(const void* data, size_t size_bytes) {
  const char* next = static_cast<const char*>(data);
  while (size_bytes > 0) {
    const ssize_t written = ::write(fd_, next, size_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    next += written;
    size_bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  const bool direct = temporary_.empty();
  if (!direct && ::fsync(fd_) != 0) fail("write", errno);
  if (::close(std::exchange(fd_, -1)) != 0) fail("write", errno);
  if (direct) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace", errno);
  temporary_.clear();
  sync_folder();
}

// Makes the rename survive a power cut. A folder that we may write but not read cannot be opened,
// and some file systems know no such flush; neither makes the new file wrong.
void AtomicFile::sync_folder() const {
  const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  const int error = ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
  ::close(fd);
  if (error) fail("flush the folder of", error);
}

void AtomicFile::fail(const char* step, int error) const {
  throw SerializationError(
      fmt::format("save: cannot {} '{}': {}", step, path_, std::generic_category().message(error)));
}

}  // namespace ambit
