// A profile in Chrome's Trace Event Format, with torch.profiler's categories and arguments, which
// TensorBoard's plugin uses to classify events: all host calls are a "cpu_op", a device's work is
// linked by a number to a "runtime" call, and memory is reported by instant events.
// Source: "Trace Event Format", Google, 2016; torch_tb_profiler 0.4.3, profiler/trace.py.
#include <ambit/device.h>
#include <ambit/profiler.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/files/atomic_file.h"
#include "recorder.h"
#include "results.h"

namespace ambit::profiler {
namespace {

std::string quoted(const std::string& text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Writes events to the file in pieces of some hundred KB.
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

// "1234.567": microseconds, truncated to nanoseconds at both ends alike, so that nested events stay
// inside.
std::string time_text(int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}
int64_t nanoseconds(double microseconds) { return static_cast<int64_t>(microseconds * 1e3); }

class Trace {
 public:
  explicit Trace(Writer& writer) : writer_(writer) { name_process(pid_, "ambit"); }

  void add(const FunctionEvent& e) {
    if (threads_.insert(e.thread).second)
      name_thread(pid_, e.thread, fmt::format("thread {}", e.thread));
    ++number_;
    add_call(e);
    if (e.device_start >= 0) add_device_work(e);
    if (e.in_use != 0 || e.allocated != 0 || e.freed != 0) add_memory(e);
  }

 private:
  void add_call(const FunctionEvent& e) {
    std::string details = fmt::format("\"External id\": {}, \"kernels\": {}", number_, e.kernels);
    const auto add = [&](auto format, const auto& value) {
      fmt::format_to(std::back_inserter(details), fmt::runtime(format), value);
    };
    if (e.bytes != 0) add(", \"bytes\": {}", e.bytes);
    if (e.kind == EventKind::op || e.kind == EventKind::copy) {
      add(", \"device\": {}", quoted(e.device.str()));
    }
    if (!e.dtypes.empty()) add(", \"dtypes\": {}", quoted(e.dtypes));
    if (!e.input_shapes.empty()) add(", \"Input Dims\": [{}]", e.input_shapes);
    if (e.allocated != 0) add(", \"allocated\": {}", e.allocated);
    if (e.freed != 0) add(", \"freed\": {}", e.freed);
    const int64_t start = nanoseconds(e.start), end = nanoseconds(e.start + e.cpu_time);
    add_slice(e.kind == EventKind::scope ? "user_annotation" : "cpu_op", e.name, pid_, e.thread,
              start, end - start, details);
  }

  // The runtime call has duration 0, since its duration would be subtracted from the op's.
  void add_device_work(const FunctionEvent& e) {
    const int device = e.device.index(), row = static_cast<int>(e.device.kind());
    if (devices_.insert(e.device.str()).second) {
      name_process(device, e.device.str());
      name_thread(device, row, e.device.str());
    }
    const std::string link = fmt::format("\"External id\": {0}, \"correlation\": {0}", number_);
    const int64_t queued = nanoseconds(e.start), start = nanoseconds(e.device_start);
    add_slice("runtime", "queue", pid_, e.thread, queued, 0, link);
    add_slice(e.kind == EventKind::copy ? "gpu_memcpy" : "kernel", e.name, device, row, start,
              nanoseconds(e.device_start + e.self_device_time) - start,
              fmt::format("{}, \"device\": {}", link, device));
    constexpr auto kArrow =
        R"({{"ph": "{}", "cat": "ac2g", "name": "ac2g", "id": {}, "pid": {}, "tid": {}, )"
        R"("ts": {}{}}})";
    writer_.add(kArrow, "s", number_, pid_, e.thread, time_text(queued), "");
    writer_.add(kArrow, "f", number_, device, row, time_text(start), R"(, "bp": "e")");
  }

  // Written as instant events within the call for TensorBoard, and as a counter for Perfetto. The
  // blocks are unknown: each event gets a number as its address.
  void add_memory(const FunctionEvent& e) {
    const int64_t start = nanoseconds(e.start), end = nanoseconds(e.start + e.cpu_time);
    const std::string at = time_text(std::max(start, end - 1));
    for (const int64_t bytes : {e.allocated, -e.freed}) {
      if (bytes == 0) continue;
      writer_.add(
          R"({{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": {}, )"
          R"("tid": {}, "ts": {}, "args": {{"Device Type": {}, "Device Id": {}, )"
          R"("Addr": {}, "Bytes": {}, )"
          R"("Total Allocated": {}, "Total Reserved": {}}}}})",
          pid_, e.thread, at, e.device.is_cpu() ? 0 : 1, e.device.is_cpu() ? -1 : e.device.index(),
          ++addresses_, bytes, e.in_use, e.reserved);
    }
    writer_.add(R"({{"ph": "C", "name": {}, "pid": {}, "ts": {}, "args": {{"bytes": {}}}}})",
                quoted("memory of " + e.device.str()), pid_, at, e.in_use);
  }

  void add_slice(const char* category, const std::string& name, int pid, int tid, int64_t start,
                 int64_t duration, const std::string& details) {
    writer_.add(
        R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, )"
        R"("args": {{{}}}}})",
        category, quoted(name), pid, tid, time_text(start), time_text(duration), details);
  }
  void name_process(int pid, const std::string& name) {
    writer_.add(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}}}})", pid,
                quoted(name));
  }
  void name_thread(int pid, int tid, const std::string& name) {
    writer_.add(
        R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
        pid, tid, quoted(name));
  }

  Writer& writer_;
  const int pid_ = ::getpid();
  std::set<int> threads_;
  std::set<std::string> devices_;  // each is a process with the number of the device
  int64_t number_ = 0, addresses_ = 0;
};

}  // namespace

void Profile::export_chrome_trace(const std::string& path) const {
  const Recorder::Recording& recorded = results().recorded;
  Writer writer(path);
  Trace trace(writer);
  for_each_event(recorded, [&](const FunctionEvent& event) { trace.add(event); });
  writer.finish();
}

}  // namespace ambit::profiler
