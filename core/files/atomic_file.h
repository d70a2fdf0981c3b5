// A file that is replaced as a whole: readers see the old content or the new, never half of it.
// Private to core.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>

namespace ambit {

/// Writes to a temporary file in the target's folder; commit() puts it in the target's place.
/// Without commit() the temporary file is removed and the target stays as it was. Symbolic links
/// are followed, also those that lead to a file that is not there yet; the new file has the old
/// one's mode, and its owner and group where the system lets us give them. A file that may not be
/// written is not replaced, and one whose mode lets nobody write not even by root. A target that is
/// not a regular file (a pipe, a device) is written directly.
/// What writers have left behind that were killed is removed when a file is opened in that folder.
/// Errors of all: SerializationError naming the target and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Do what the constructor does, and undo it; a pipe or a device is not opened.
  static void check(const std::string& path);

  void write(const void* data, size_t size_bytes);
  /// Flush to the disk, rename, and flush the folder.
  void commit();

 private:
  enum class Special { write, leave };

  AtomicFile() =
      default;  // so that what the other constructor has opened is closed where it throws
  AtomicFile(const std::string& path, Special special);
  void open_temporary(const struct stat* before);
  bool open_new(mode_t mode);
  void keep_owner_and_mode(const struct stat& before) const;
  void sync_folder() const;
  [[noreturn]] void fail(const char* step, int error) const;

  std::string path_;       // as the caller named it: for messages
  std::string name_;       // of the file itself, behind symbolic links, in its folder
  std::string temporary_;  // in that folder; empty: writing directly, or nothing left to remove
  int folder_ = -1;
  int fd_ = -1;
};

}  // namespace ambit
