// How far an epoch is: a bar on a terminal, lines now and then elsewhere. On stderr, so that the
// program's own output stays what it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace terminal {

class Progress {
 public:
  /// `label` stands before the bar, which is full after `total` steps; `done` of them are made
  /// already. `unit`: what a step takes, in the plural.
  Progress(std::string label, size_t total, size_t done = 0, std::string unit = "images");
  /// Show no progress in this process any more.
  static void hide();
  /// Wipes the bar: what is printed next, an error too, starts a line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Count one step of so many images, or other units. `loss` is called only when it is shown: to
  /// read a loss is to wait for the device.
  void step(size_t images, const std::function<double()>& loss);
  /// Wipe the bar, so that a line can be printed; the next step draws it again.
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
