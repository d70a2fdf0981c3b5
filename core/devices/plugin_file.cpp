// Source of the ELF format: elf(5).
#include "plugin_file.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

namespace ambit {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return fd_; }

 private:
  int fd_;
};

bool read(int fd, void* to, size_t bytes, uint64_t offset) {
  return ::pread(fd, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// Errors: BackendError if `bytes` at `offset` exceed the file.
void check_inside(uint64_t offset, uint64_t bytes, uint64_t size_bytes) {
  uint64_t end = 0;
  const bool fits = !__builtin_add_overflow(offset, bytes, &end);
  if (fits && end <= size_bytes) return;
  throw BackendError(
      fmt::format("expected a whole library of at least {} bytes, got {}: not all of it was copied",
                  fits ? fmt::to_string(end) : "2^64", size_bytes));
}

[[noreturn]] void fail_folder(const fs::path& folder) {
  errno = 0;
  if (!plugins_in(folder).empty()) {
    throw BackendError("expected a plugin, got a folder of plugins");
  }
  throw BackendError(
      fmt::format("expected libambit_<name>.so in the folder, got {}",
                  errno != 0 ? std::generic_category().message(errno) : "no such file"));
}

// Anyone who can write there can run code here. A sticky folder, such as /tmp, prevents others from
// changing a file, but not from creating one first.
void check_writers(const char* what, const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & S_IWOTH) == 0) return;
  throw BackendError(
      fmt::format("expected a plugin that other users may not write, got the {} {} with mode {:o}; "
                  "AMBIT_TRUST_PLUGINS=1 loads it anyway",
                  what, printable(path.string()), info.st_mode & 07777));
}

bool trusts_everybody() {
  const char* value = std::getenv("AMBIT_TRUST_PLUGINS");
  return value && std::string_view(value) == "1";
}

}  // namespace

// Not libstdc++'s directory_iterator, which terminates the process when out of memory.
std::vector<fs::path> plugins_in(const fs::path& folder) {
  std::vector<fs::path> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
  while (const dirent* const file = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string_view name = file->d_name;
    if (name.starts_with("libambit_") && name.ends_with(".so")) found.push_back(folder / name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void check_plugin_file(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      throw BackendError("expected a file, got none of that name");
    }
    throw BackendError(
        fmt::format("expected a file, got: {}", std::generic_category().message(errno)));
  }
  if (S_ISDIR(info.st_mode)) fail_folder(path);
  // Opening a pipe would block until another process writes to it.
  if (!S_ISREG(info.st_mode)) throw BackendError("expected a file, got a pipe or a device");
  if (!trusts_everybody()) {
    check_writers("file", path);
    check_writers("folder", path.parent_path());
  }
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd >= 0) check_whole_library(fd, static_cast<uint64_t>(info.st_size));
}

void check_whole_library(int descriptor, uint64_t size_bytes) {
  Elf64_Ehdr header{};
  const bool is_elf = read(descriptor, &header, sizeof header, 0) &&
                      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64 &&
                      header.e_ident[EI_DATA] == ELFDATA2LSB;
  if (!is_elf) return;
  check_inside(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize, size_bytes);
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return;
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  const size_t segments_bytes = segments.size() * sizeof(Elf64_Phdr);
  check_inside(header.e_phoff, segments_bytes, size_bytes);
  if (!read(descriptor, segments.data(), segments_bytes, header.e_phoff)) return;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD) check_inside(segment.p_offset, segment.p_filesz, size_bytes);
  }
}

}  // namespace ambit
