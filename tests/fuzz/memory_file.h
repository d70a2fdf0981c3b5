// Files in memory, for readers that need a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

/// A file in memory, removed with the object.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0) std::abort();
    while (size > 0) {
      const ssize_t written = ::write(fd_, data, size);
      if (written <= 0) std::abort();
      data += written;
      size -= static_cast<size_t>(written);
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

/// A folder that exists until exit, with links of fixed names to the files of one input.
class LinkFolder {
 public:
  LinkFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ambit-fuzz-XXXXXX").string();
    if (!::mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  ~LinkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  LinkFolder(const LinkFolder&) = delete;
  LinkFolder& operator=(const LinkFolder&) = delete;

  std::string path() const { return path_.string(); }
  void link(const std::string& name, const MemoryFile& file) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::filesystem::remove(path_ / name);
    std::filesystem::create_symlink(file.path(), path_ / name);
  }

 private:
  std::filesystem::path path_;
};
