// One event file: records appended through a buffer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "earlier_steps.h"

namespace ambit::tensorboard {

/// Errors of all functions: Error naming the file and the system's reason.
class EventFile {
 public:
  /// Create the folder if it does not exist, and in it a new file that starts with the version of
  /// the format.
  explicit EventFile(const std::filesystem::path& folder);
  /// Close. The buffer is discarded.
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Append to the buffer and write it when it has grown large. Return the number of events
  /// written. Print a line on stderr once if another file in the folder has a later step.
  size_t append(std::string_view event);
  /// Write the buffer. If the write fails, the file is unchanged. Return the number of events
  /// written.
  size_t write_out();
  /// Write the buffer and close. Return the number of events written.
  size_t close();

 private:
  EventFile() = default;
  void buffer(std::string_view event);
  void expect_linked() const;
  [[noreturn]] void fail(const char* step, const std::string& reason) const;

  std::string path_;
  EarlierSteps earlier_;
  int fd_ = -1;
  std::string buffer_;  // whole records
  size_t buffered_events_ = 0;
  int64_t size_bytes_ = 0;  // size of the file
};

}  // namespace ambit::tensorboard
