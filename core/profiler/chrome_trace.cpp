// A profile in the Trace Event Format of Chrome, with torch.profiler's categories, by which
// TensorBoard's plugin tells what is what.
// Source: "Trace Event Format", Google, 2016.
#include <ambit/device.h>
#include <ambit/profiler.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files/atomic_file.h"
#include "recorder.h"
#include "results.h"

namespace ambit::profiler {
namespace {

std::string quoted(const std::string& text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr ptrdiff_t kFirstDevice = 1'000'000;  // no thread of the host has such a number

const char* category(EventKind kind) {
  switch (kind) {
    case EventKind::op:
      return "cpu_op";
    case EventKind::backward:
      return "backward";
    case EventKind::copy:
      return "copy";
    case EventKind::scope:
      break;
  }
  return "user_annotation";
}

// Writes one event after the other, some hundred KB at a time.
class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {
    text_ = "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  }

  template <class... A>
  void add(fmt::format_string<A...> format, A&&... args) {
    text_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(args)...);
    if (text_.size() > 1 << 18) flush();
  }
  void finish() {
    text_ += "\n]}\n";
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(text_.data(), text_.size());
    text_.clear();
  }

  AtomicFile file_;
  std::string text_;
  bool is_first_ = true;
};

void add_call(Writer& writer, int pid, const FunctionEvent& e) {
  std::string details = fmt::format("\"kernels\": {}", e.kernels);
  const auto add = [&](auto format, const auto& value) {
    fmt::format_to(std::back_inserter(details), fmt::runtime(format), value);
  };
  if (e.bytes != 0) add(", \"bytes\": {}", e.bytes);
  if (e.kind == EventKind::op || e.kind == EventKind::copy) {
    add(", \"device\": {}", quoted(e.device.str()));
  }
  if (!e.dtypes.empty()) add(", \"dtypes\": {}", quoted(e.dtypes));
  if (!e.input_shapes.empty()) add(", \"Input Dims\": {}", quoted(e.input_shapes));
  if (e.allocated != 0) add(", \"allocated\": {}", e.allocated);
  if (e.freed != 0) add(", \"freed\": {}", e.freed);
  writer.add(
      R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, )"
      R"("args": {{{}}}}})",
      category(e.kind), quoted(e.name), pid, e.thread, e.start, e.cpu_time, details);
  if (e.in_use != 0) {
    writer.add(R"({{"ph": "C", "name": {}, "pid": {}, "ts": {:.3f}, "args": {{"bytes": {}}}}})",
               quoted("memory of " + e.device.str()), pid, e.start + e.cpu_time, e.in_use);
  }
}

void add_thread_name(Writer& writer, int pid, ptrdiff_t tid, const std::string& name) {
  writer.add(
      R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}})", pid,
      tid, quoted(name));
}

void add_device_work(Writer& writer, int pid, const FunctionEvent& e,
                     std::vector<Device>& devices) {
  const auto row = std::ranges::find(devices, e.device);
  const auto tid = kFirstDevice + (row - devices.begin());
  if (row == devices.end()) {
    devices.push_back(e.device);
    add_thread_name(writer, pid, tid, e.device.str());
  }
  writer.add(
      R"({{"ph": "X", "cat": "kernel", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}})",
      quoted(e.name), pid, tid, e.device_start, e.self_device_time);
}

}  // namespace

void Profile::export_chrome_trace(const std::string& path) const {
  const Recorder::Everything& all = results().recorded;
  const int pid = ::getpid();
  Writer writer(path);
  writer.add(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": "ambit"}}}})",
             pid);
  std::vector<Device> devices;  // each is a row of its own, below the threads
  for (const auto& thread : all.threads) {
    add_thread_name(writer, pid, thread.thread, fmt::format("thread {}", thread.thread));
    for (const std::vector<Call>& calls : thread.calls) {
      for (const Call& call : calls) {
        const FunctionEvent event = event_of(call, thread.thread, all.start);
        add_call(writer, pid, event);
        if (event.device_start >= 0) add_device_work(writer, pid, event, devices);
      }
    }
  }
  writer.finish();
}

}  // namespace ambit::profiler
