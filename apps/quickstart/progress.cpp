// The bar is redrawn in place, ten times a second at most.
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace quickstart {
namespace {

constexpr size_t kWidth = 30;  // characters
constexpr auto kPause = std::chrono::milliseconds(100);

}  // namespace

Progress::Progress(std::string label, size_t total)
    : label_(std::move(label)), total_(total), on_terminal_(::isatty(STDOUT_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::step() {
  ++done_;
  if (on_terminal_ && (!visible_ || Clock::now() - drawn_ >= kPause)) draw();
}

void Progress::clear() {
  if (!visible_) return;
  fmt::print("\r\033[K");
  std::fflush(stdout);
  visible_ = false;
}

void Progress::draw() {
  drawn_ = Clock::now();
  const size_t filled = kWidth * done_ / total_;
  const double seconds = std::chrono::duration<double>(drawn_ - begun_).count();
  const double left = seconds / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  fmt::print("\r\033[K{} |{:#<{}}{:<{}}| {}/{}, {:.0f} s left", label_, "", filled, "",
             kWidth - filled, done_, total_, left);
  std::fflush(stdout);
  visible_ = true;
}

}  // namespace quickstart
