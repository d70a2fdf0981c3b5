// The steps in other event files of a folder. Private to tensorboard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace ambit::tensorboard {

/// TensorBoard reads all event files of a folder as one run, and drops a tag's points if a point
/// that it reads later has the same or a lower step.
class EarlierSteps {
 public:
  EarlierSteps() = default;
  /// Read the steps in all event files of a folder. Unreadable files and records are ignored.
  explicit EarlierSteps(const std::filesystem::path& folder);

  /// Warn on stderr, once, if an event's step is below one in another file.
  void warn_before(std::string_view event);

 private:
  void read(const std::filesystem::path& file);

  std::string folder_;
  std::map<std::string, int64_t, std::less<>> last_;  // step by tag
};

}  // namespace ambit::tensorboard
