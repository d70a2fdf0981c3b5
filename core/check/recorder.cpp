#include "recorder.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include "blocks.h"

namespace ambit::check {
namespace {

// A bound of the report and of its memory. Later places are dropped.
constexpr size_t kMaxPlaces = 20'000;

std::terminate_handler before = nullptr;

// An exception that is not caught ends the process without the functions of atexit().
[[noreturn]] void terminate() {
  Recorder::get().finish();
  if (before) before();
  std::abort();
}

}  // namespace

nlohmann::json json_of(const Stack& stack) {
  nlohmann::json frames = nlohmann::json::array();
  for (const auto& [file, address] : frames_of(stack)) frames.push_back({file, address});
  return frames;
}

nlohmann::json json_of(const SharedStack& stack) { return stack ? json_of(*stack) : nullptr; }

Recorder& Recorder::get() {
  static auto* recorder = new Recorder;
  return *recorder;
}

Recorder::Recorder() {
  before = std::set_terminate(terminate);
  std::atexit([] { get().finish(); });
}

bool Recorder::writes() {
  static const bool has_folder = [] {
    const char* folder = std::getenv("AMBIT_CHECK");
    return folder && *folder;
  }();
  return has_folder;
}

// Requires the mutex. A child of fork() has a file of its own, with all of its events.
void Recorder::open() {
  const int process = getpid();
  if (process == process_) return;
  process_ = process;
  counts_.clear();
  const char* folder = std::getenv("AMBIT_CHECK");
  const std::string path = std::string(folder ? folder : ".") + "/" + std::to_string(process);
  file_ = std::fopen(path.c_str(), "ae");
}

void Recorder::write(const nlohmann::json& line) {
  if (!file_) return;
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  std::fputs(text.c_str(), file_);
  std::fflush(file_);  // the process may crash
}

void Recorder::add(const Event& event, const Stack& stack) {
  if (!writes()) return;
  const size_t step = Blocks::get().steps() + 1;
  const std::lock_guard lock(mutex_);
  open();
  const auto key = std::pair(event.kind + ' ' + event.key, stack);
  auto found = counts_.find(key);
  if (found == counts_.end()) {
    if (counts_.size() >= kMaxPlaces) return;
    found = counts_.emplace(key, Count{.id = counts_.size()}).first;
    nlohmann::json line = event.facts ? event.facts() : nlohmann::json::object();
    line["event"] = event.kind;
    line["id"] = found->second.id;
    line["stack"] = json_of(stack);
    line["function"] = api_function(stack);
    write(line);
  }
  Count& count = found->second;
  ++count.count;
  count.bytes += event.bytes;
  if (event.contents != 0 && event.contents == count.contents) ++count.repeated;
  count.contents = event.contents;
  if (std::exchange(count.last_step, step) != step) ++count.steps;
}

void Recorder::finish() noexcept try {
  if (!writes()) return;
  Blocks& blocks = Blocks::get();
  const size_t steps = blocks.steps();
  const bool has_optimizer = blocks.has_optimizer();
  const std::map<std::string, Peak> peaks = blocks.peaks();
  const std::lock_guard lock(mutex_);
  open();
  for (const auto& [key, count] : counts_) {
    write({{"event", "count"},
           {"id", count.id},
           {"count", count.count},
           {"bytes", count.bytes},
           {"repeated", count.repeated},
           {"steps", count.steps}});
  }
  for (const auto& [device, peak] : peaks) {
    write(
        {{"event", "peak"}, {"device", device}, {"bytes", peak.bytes}, {"modules", peak.modules}});
  }
  if (steps > 0) write({{"event", "steps"}, {"count", steps}, {"optimizer", has_optimizer}});
} catch (const std::exception&) {
}

}  // namespace ambit::check
