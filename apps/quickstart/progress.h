// A progress bar on a terminal; nothing elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace quickstart {

class Progress {
 public:
  /// `label` stands before the bar, which is full after `total` steps.
  Progress(std::string label, size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Count one step.
  void step();
  /// Wipe the bar, so that a line can be printed; the next step draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void draw();

  std::string label_;
  size_t total_, done_ = 0;
  bool visible_ = false, on_terminal_;
  Clock::time_point begun_ = Clock::now(), drawn_{};
};

}  // namespace quickstart
