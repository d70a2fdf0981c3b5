// Profiler: host and device time of ops, backward nodes, copies between devices, optimizer steps
// and the program's own scopes. Names and units are those of torch.profiler.
//   profiler::Profile profile;
//   train();
//   profile.stop();
//   std::cout << profile.key_averages().table();
//   profile.export_chrome_trace("run.pt.trace.json");  // for ui.perfetto.dev, TensorBoard
#pragma once

#include <ambit/device.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ambit::profiler {

/// Parts of a profile in addition to names, times, dtypes and bytes, which it always records.
struct ProfileOptions {
  bool record_shapes = false;   ///< sizes of each kernel's tensors; the most expensive part of
                                ///< profiling
  bool profile_memory = false;  ///< memory held by tensors on each kernel's device
  /// Maximum number of calls in the trace and in events(), which contain the first calls. Averages
  /// include all.
  size_t max_events = 1'000'000;
};

/// The origin of a call.
enum class EventKind : uint8_t {
  op,        ///< a call of a kernel or composite
  backward,  ///< a node of the graph
  copy,      ///< between a device and the host, or two devices
  scope,     ///< RecordFunction, or an optimizer step
};

/// One call. Times in microseconds, sizes in bytes.
struct FunctionEvent {
  std::string name;                ///< "conv_transpose", "exp", "MulBackward0", "SGD.step", ...
  EventKind kind = EventKind::op;  ///< its origin
  int thread = 0;            ///< 0: the thread that made the profile; others in the order of their
                             ///< first calls
  int depth = 0;             ///< number of enclosing calls in its thread
  double start = 0;          ///< time since the profile's start
  double cpu_time = 0;       ///< time on the host; for an accelerator's kernel, to enqueue it
  double self_cpu_time = 0;  ///< excluding nested calls
  double device_start = -1;  ///< start of a kernel; -1: its device does not measure time
  double device_time = 0;    ///< time of its kernels, including nested calls
  double self_device_time = 0;  ///< excluding nested calls
  Device device;                ///< device of an op or a copy
  std::string dtypes;           ///< dtypes of an op's tensors, outputs first: "float32, int64"
  /// With record_shapes, sizes of the tensors that an op reads: "[4, 10], [4]".
  std::string input_shapes;
  std::string output_shapes;  ///< with record_shapes, sizes of the tensors that it writes
  int64_t kernels = 0;        ///< kernel calls, including nested ones
  int64_t bytes = 0;          ///< size of the elements of an op's tensors
  /// With profile_memory, on the event's device: bytes allocated for tensors since the previous
  /// event in any thread. An op's outputs are allocated just before its event.
  int64_t allocated = 0;
  int64_t freed = 0;     ///< with profile_memory: bytes freed since the previous event
  int64_t in_use = 0;    ///< with profile_memory: bytes held by tensors at the end
  int64_t reserved = 0;  ///< with profile_memory: in_use plus the allocator's cache
};

/// Statistics of all calls with one name, device and kind (and dtypes and shapes).
struct FunctionEventAvg {
  std::string key;                    ///< the name
  EventKind kind = EventKind::op;     ///< their origin
  Device device;                      ///< device of ops and copies
  std::string dtypes;                 ///< as in FunctionEvent
  std::string input_shapes;           ///< as in FunctionEvent, if grouped by shape
  int64_t count = 0;                  ///< number of calls
  int64_t kernels = 0;                ///< sum of FunctionEvent::kernels
  int64_t bytes = 0;                  ///< sum of FunctionEvent::bytes
  double cpu_time_total = 0;          ///< microseconds
  double self_cpu_time_total = 0;     ///< microseconds, excluding nested calls
  double device_time_total = 0;       ///< microseconds
  double self_device_time_total = 0;  ///< microseconds, excluding nested calls
  int64_t allocated = 0;              ///< bytes allocated for tensors
  int64_t freed = 0;                  ///< bytes that tensors freed
  int64_t peak = 0;                   ///< bytes: maximum of in_use
  /// Return the microseconds of a call on the host.
  double cpu_time() const { return cpu_time_total / static_cast<double>(count); }
  /// Return the microseconds of a call on the device.
  double device_time() const { return device_time_total / static_cast<double>(count); }
};

/// The rows of a table of averages.
class AMBIT_API EventAverages : public std::vector<FunctionEventAvg> {
 public:
  /// Return a text table, largest first, with totals at the end. sort_by: the name of a numeric
  /// field of FunctionEventAvg, such as "cpu_time_total"; row_limit: number of rows, -1: all.
  /// Errors: Error for an unknown name.
  std::string table(std::string_view sort_by = "self_cpu_time_total", int row_limit = 100) const;
};

/// Record the calls of all threads until stop(). Only one profile can be active in a process. A
/// scope or call that is running at start or stop is not recorded; calls nested in it are.
class AMBIT_API Profile {
 public:
  /// Start recording. Errors: Error when another profile is active.
  explicit Profile(const ProfileOptions& options = {});
  /// Stop if still active, and discard the results.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Stop, and wait for the devices' times. A second call does nothing.
  void stop();

  /// Return the sums by name, device and dtypes, and optionally by shapes. Errors of this and all
  /// functions below: Error before stop().
  EventAverages key_averages(bool group_by_input_shape = false) const;
  /// Return the calls, by thread, in the order in which they ended.
  std::vector<FunctionEvent> events() const;
  /// Return the number of calls dropped because of max_events.
  size_t dropped() const;
  /// Write Chrome's trace format (JSON) for Perfetto and chrome://tracing. TensorBoard with
  /// torch_tb_profiler shows files named `*.pt.trace.json`; scopes named "ProfilerStep#1",
  /// "ProfilerStep#2", ... are its steps. Errors: SerializationError when writing fails; an
  /// existing file is then unchanged.
  void export_chrome_trace(const std::string& path) const;

 private:
  struct Results;
  const Results& results() const;
  std::unique_ptr<Results> results_;
};

/// Return true if a profile is active.
AMBIT_API bool is_enabled();

/// A named scope of the program until the end of the block, recorded if a profile is active:
///   profiler::RecordFunction scope("augment");
/// Construct and destroy it in the same thread.
class AMBIT_API RecordFunction {
 public:
  /// Start the scope.
  explicit RecordFunction(std::string_view name);
  ~RecordFunction();  ///< ends the scope
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

 private:
  uint64_t profile_ = 0;  // number of the active profile; 0: none
};
/// torch.profiler's name.
using record_function = RecordFunction;

}  // namespace ambit::profiler
