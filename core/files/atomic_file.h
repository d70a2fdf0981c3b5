// A file that is replaced as a whole: readers see the old content or the new, never half of it.
// Private to core.
#pragma once

#include <cstddef>
#include <string>

namespace ambit {

/// Writes to a temporary file in the target's folder; commit() puts it in the target's place.
/// Without commit() the temporary file is removed and the target stays as it was. Symbolic links
/// are followed; a target that is not a regular file (a pipe, a device) is written directly.
/// Errors of all: SerializationError naming the target and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size_bytes);
  /// Flush to the disk, rename, and flush the folder.
  void commit();

 private:
  void open_temporary();
  void sync_folder() const;
  [[noreturn]] void fail(const char* step, int error) const;

  std::string path_;       // as the caller named it: for messages
  std::string target_;     // the file itself, behind symbolic links
  std::string temporary_;  // empty: writing directly, or nothing left to remove
  int fd_ = -1;
};

}  // namespace ambit
