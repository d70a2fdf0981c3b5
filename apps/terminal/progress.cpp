// The bar is redrawn in place, at most ten times per second. A plain line is printed at the end of
// the epoch, and every half minute before it.
#include "terminal/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "terminal/program.h"

namespace terminal {
namespace {

constexpr size_t kWidth = 30;  // characters
constexpr std::chrono::milliseconds kRedraw(100), kNextLine(30'000);

bool is_hidden = false;

// Return the terminal's width in characters; 80 if unknown.
size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(std::string label, size_t total, size_t done, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      done_(done),
      begun_at_(done),
      on_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::hide() { is_hidden = true; }

Progress::~Progress() { clear(); }

void Progress::step(size_t images, const std::function<double()>& loss) {
  ++done_;
  images_ += images;
  if (is_hidden) return;
  const auto since = Clock::now() - shown_;
  if (on_terminal_ ? !visible_ || since >= kRedraw : done_ == total_ || since >= kNextLine) {
    const double value = loss();
    on_terminal_ ? draw(value) : print_line(value);
    shown_ = Clock::now();
  }
}

void Progress::clear() {
  if (!visible_) return;
  print_notice("\r\033[K");
  visible_ = false;
}

std::string Progress::figures(double loss) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  const double left =
      seconds / static_cast<double>(done_ - begun_at_) * static_cast<double>(total_ - done_);
  return fmt::format("{}/{}, loss {:.3f}, {:.0f} {}/s, {:.0f} s left", done_, total_, loss,
                     static_cast<double>(images_) / seconds, unit_, left);
}

// A line longer than the terminal's would wrap and could not be redrawn, so the bar is shortened.
void Progress::draw(double loss) {
  const std::string text = figures(loss);
  const size_t columns = terminal_columns();
  const size_t others = label_.size() + text.size() + 5;  // " |", "| ", and the cursor
  const size_t width = columns > others ? std::min(kWidth, columns - others) : 0;
  const size_t filled = width * done_ / total_;
  const std::string line =
      fmt::format("{} |{:#<{}}{:<{}}| {}", label_, "", filled, "", width - filled, text);
  print_notice("\r\033[K" + line.substr(0, columns - 1));
  visible_ = true;
}

void Progress::print_line(double loss) {
  print_notice(fmt::format("{}: step {}\n", label_, figures(loss)));
}

}  // namespace terminal
