// The steps that other event files of a folder have. Private to tensorboard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace ambit::tensorboard {

/// TensorBoard reads a folder's event files as one run, and drops the points of a tag whose step is
/// not below that of a point which it reads after them.
class EarlierSteps {
 public:
  EarlierSteps() = default;
  /// Read the steps in all event files of a folder. What cannot be read is left out.
  explicit EarlierSteps(const std::filesystem::path& folder);

  /// Say on stderr, the first time, that an event's step is below one that another file has.
  void warn_before(std::string_view event);

 private:
  void read(const std::filesystem::path& file);

  std::string folder_;
  std::map<std::string, int64_t, std::less<>> last_;  // step by tag
};

}  // namespace ambit::tensorboard
