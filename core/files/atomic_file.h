// Atomic replacement of a file: readers see the old content or the new, never a mixture.
// Private to core.
#pragma once

#include <ambit/api.h>
#include <sys/stat.h>

#include <cstddef>
#include <string>

namespace ambit {

/// Writes to a temporary file in the target's folder; commit() renames it to the target. Without
/// commit() the temporary file is removed and the target is unchanged. Symbolic links are followed,
/// even to a target that does not exist yet. The new file gets the old one's mode, and its owner
/// and group if the system permits. A file without write permission is not replaced; root does not
/// replace one without any write bit either. A target that is not a regular file (a pipe, a device)
/// is written directly. Opening a file removes temporary files of killed writers in that folder.
/// Errors of all: SerializationError naming the target and the system's reason.
class AMBIT_API AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throw if the constructor would. Leaves no file, and does not open a pipe or a device.
  static void check(const std::string& path);

  void write(const void* data, size_t size_bytes);
  /// Flush to the disk, rename, and flush the folder.
  void commit();

 private:
  enum class Special { overwrite, check_only };

  AtomicFile() = default;  // delegated to, so that the destructor runs if a constructor throws
  AtomicFile(const std::string& path, Special special);
  void open_temporary(const struct stat* before);
  bool open_new(mode_t mode);
  void keep_owner_and_mode(const struct stat& before) const;
  void sync_folder() const;
  [[noreturn]] void fail(const char* step, int error) const;

  std::string path_;       // as given by the caller, for messages
  std::string name_;       // the target's name in folder_, after resolving symbolic links
  std::string temporary_;  // in folder_; empty if there is none: written directly, or renamed
  int folder_ = -1;
  int fd_ = -1;
};

}  // namespace ambit
