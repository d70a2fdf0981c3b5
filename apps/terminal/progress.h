// Progress of an epoch: a bar on a terminal, occasional lines elsewhere. It is printed on stderr,
// separate from the program's output.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace terminal {

class Progress {
 public:
  /// `label` is printed before the bar, which is full after `total` steps; `done` of them are
  /// complete already. `unit`: plural name of what a step processes.
  Progress(std::string label, size_t total, size_t done = 0, std::string unit = "images");
  /// Disable progress in this process.
  static void hide();
  /// Erases the bar, so that subsequent output starts a line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Count one step of that number of images or other units. `loss` is called only if it is shown,
  /// because reading a loss waits for the device.
  void step(size_t images, const std::function<double()>& loss);
  /// Erase the bar, so that a line can be printed; the next step redraws it.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string figures(double loss) const;
  void draw(double loss);
  void print_line(double loss);

  std::string label_, unit_;
  size_t total_, done_, begun_at_, images_ = 0;
  bool visible_ = false, on_terminal_;
  Clock::time_point begun_ = Clock::now(), shown_ = begun_;
};

}  // namespace terminal
