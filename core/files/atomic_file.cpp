// Atomic replacement: write, fsync, rename, fsync the folder. All names are relative to the
// folder's descriptor, since it may be renamed meanwhile and its path may have the maximum length.
// Source: rename(2), fsync(2); D. Luu, "Files are hard", on why each step is needed.
#include "atomic_file.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stale_files.h"

namespace ambit {
namespace {

// Resolve symbolic links; the final target need not exist. With too many links, return the last
// path reached: opening it fails with the system's reason.
std::filesystem::path resolve_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // Linux's limit
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) return path;  // not a link, or missing
    path = path.parent_path() / next;
  }
  return path;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : AtomicFile(path, Special::overwrite) {}

AtomicFile::AtomicFile(const std::string& path, Special special) : AtomicFile() {
  path_ = path;
  struct stat before {};
  const bool exists = ::stat(path.c_str(), &before) == 0;
  if (!exists && (errno != ENOENT || path.empty())) fail("open", errno);
  if (path.ends_with('/') || (exists && S_ISDIR(before.st_mode))) fail("open", EISDIR);
  // Check the mode alone: root may write any file, and would replace a write-protected one.
  constexpr mode_t kAnyWrite = S_IWUSR | S_IWGRP | S_IWOTH;
  if (exists && (before.st_mode & kAnyWrite) == 0) fail("replace the write-protected", EACCES);
  if (exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail("write", errno);
  if (exists && !S_ISREG(before.st_mode)) {
    if (special == Special::check_only) return;
    // A rename would replace the device or the pipe itself.
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("open", errno);
    return;
  }
  const std::filesystem::path target = resolve_links(path);
  const std::filesystem::path folder = target.parent_path();
  name_ = target.filename().string();
  folder_ = ::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) fail("open the folder of", errno);
  remove_stale_files(folder_);
  open_temporary(exists ? &before : nullptr);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  if (folder_ >= 0) ::close(folder_);
}

void AtomicFile::check(const std::string& path) { AtomicFile(path, Special::check_only); }

void AtomicFile::open_temporary(const struct stat* before) {
  // Only the owner can read it until keep_owner_and_mode() sets the old mode.
  const mode_t mode = before ? S_IRUSR | S_IWUSR : 0666;
  while (!open_new(mode)) {
  }
  if (before) keep_owner_and_mode(*before);
}

// O_EXCL never opens a file that another writer uses. Before the new file is locked, another
// process may remove it as stale: then it has no name any more. Return false to try another name.
bool AtomicFile::open_new(mode_t mode) {
  temporary_ = temporary_name();
  fd_ = ::openat(folder_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd_ < 0) {
    const int error = errno;
    temporary_.clear();
    if (error == EEXIST) return false;
    fail("create a file next to", error);
  }
  // On a file system without locks, no file is ever removed as stale.
  const bool taken = !mark_as_written(fd_) && errno == EWOULDBLOCK;
  struct stat info {};
  if (::fstat(fd_, &info) != 0) fail("create a file next to", errno);
  if (!taken && info.st_nlink > 0) return true;
  ::close(std::exchange(fd_, -1));
  return false;
}

void AtomicFile::keep_owner_and_mode(const struct stat& before) const {
  struct stat now {};
  if (::fstat(fd_, &now) != 0) fail("create a file next to", errno);
  if (now.st_uid != before.st_uid || now.st_gid != before.st_gid) {
    // Only root may change the owner; the group may be changed to one of the process's groups. If
    // this fails, the file keeps the writer's owner and group.
    constexpr auto kAsItIs = static_cast<uid_t>(-1);
    [[maybe_unused]] const bool kept = ::fchown(fd_, before.st_uid, before.st_gid) == 0 ||
                                       ::fchown(fd_, kAsItIs, before.st_gid) == 0;
  }
  // Drop setuid and setgid, since the content is new.
  if (::fchmod(fd_, before.st_mode & 0777) != 0) fail("keep the mode of", errno);
}

void AtomicFile::write(const void* data, size_t size_bytes) {
  const char* next = static_cast<const char*>(data);
  while (size_bytes > 0) {
    const ssize_t written = ::write(fd_, next, size_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    if (written == 0) fail("write", EIO);  // a retry might never end
    next += written;
    size_bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (temporary_.empty()) {
    if (::close(std::exchange(fd_, -1)) != 0) fail("write", errno);
    return;
  }
  if (::fsync(fd_) != 0) fail("write", errno);
  // Some file systems report write errors only on close(). Closing a duplicate reports them too and
  // keeps the lock, without which another writer might remove the file as stale.
  const int duplicate = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0 || ::close(duplicate) != 0) fail("write", errno);
  if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) fail("replace", errno);
  temporary_.clear();
  sync_folder();
}

// Make the rename survive a power failure. Ignore a folder that may be written but not read (it
// cannot be opened) and a file system without this flush: the new file is complete anyway.
void AtomicFile::sync_folder() const {
  const int fd = ::openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == EACCES) return;
  if (fd < 0) fail("flush the folder of", errno);
  const int error = ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
  ::close(fd);
  if (error) fail("flush the folder of", error);
}

void AtomicFile::fail(const char* step, int error) const {
  throw SerializationError(fmt::format("save: cannot {} '{}': {}", step, printable(path_),
                                       std::generic_category().message(error)));
}

}  // namespace ambit
