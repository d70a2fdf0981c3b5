// A lock shows whether a writer is alive: unlike a process id it is not reused, and it is visible
// from other containers. Source: flock(2).
#include "stale_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

namespace ambit {
namespace {

constexpr std::string_view kBegin = ".ambit-", kEnd = ".tmp";
constexpr size_t kDigits = 16;

bool is_temporary_name(std::string_view name) {
  return name.size() == kBegin.size() + kDigits + kEnd.size() && name.starts_with(kBegin) &&
         name.ends_with(kEnd) &&
         name.substr(kBegin.size(), kDigits).find_first_not_of("0123456789abcdef") == name.npos;
}

void remove_if_stale(int folder, const char* name) noexcept {
  // Do not block on a pipe of that name, nor follow a link.
  const int fd = ::openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info {};
  const bool ours = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid();
  // If the writer renamed the file before we locked it, the name no longer exists.
  if (ours && mark_as_written(fd)) ::unlinkat(folder, name, 0);
  ::close(fd);
}

}  // namespace

std::string temporary_name() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {  // no entropy at boot
    number = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    number = number << 22 ^ static_cast<uint64_t>(::getpid());
  }
  return fmt::format("{}{:0{}x}{}", kBegin, number, kDigits, kEnd);
}

bool mark_as_written(int fd) noexcept { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

void remove_stale_files(int folder) noexcept {
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  DIR* const opened = ::fdopendir(fd);
  if (!opened) {
    ::close(fd);
    return;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opened, ::closedir);
  while (const dirent* entry = ::readdir(listing.get())) {
    if (is_temporary_name(entry->d_name)) remove_if_stale(folder, entry->d_name);
  }
}

}  // namespace ambit
