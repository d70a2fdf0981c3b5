// Where the time goes: what ops, backward's nodes, copies between devices, optimizers' steps and a
// program's own scopes cost on the host and on the device. Names and units are those of
// torch.profiler.
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

/// What a profile records beside names, times, dtypes and bytes.
struct ProfileOptions {
  bool record_shapes = false;   ///< the sizes of each kernel's tensors; costs more than all else
  bool profile_memory = false;  ///< what tensors hold on the device of each kernel
  /// How many calls the trace and events() have at most: the first. Averages are of all.
  size_t max_events = 1'000'000;
};

enum class EventKind : uint8_t {
  op,        ///< a call of a kernel, or of a composite in its place
  backward,  ///< a node of the graph
  copy,      ///< between a device and the host, or two devices
  scope,     ///< RecordFunction, an optimizer's step too
};

/// One call. Times are in microseconds; sizes in bytes.
struct FunctionEvent {
  std::string name;  ///< "conv_transpose", "exp", "MulBackward0", "SGD.step", ...
  EventKind kind = EventKind::op;
  int thread = 0;            ///< 0 is the one that made the profile; then in order of their calls
  int depth = 0;             ///< how many calls of its thread it is inside of
  double start = 0;          ///< since the profile began
  double cpu_time = 0;       ///< on the host; of an accelerator's kernel that is to queue it
  double self_cpu_time = 0;  ///< without what it called
  double device_start = -1;  ///< of a kernel on a device that keeps time; -1: none does
  double device_time = 0;    ///< of its kernels, those that it called too
  double self_device_time = 0;
  Device device;       ///< of an op or a copy
  std::string dtypes;  ///< of an op's tensors, outputs first: "float32, int64"
  /// With record_shapes, of what an op reads and writes: "[4, 10], [4]".
  std::string input_shapes, output_shapes;
  int64_t kernels = 0;  ///< calls of kernels, those of what it called too
  int64_t bytes = 0;    ///< of the elements of an op's tensors
  /// With profile_memory: what the device's allocator gave to tensors and took back since the event
  /// before, by any thread, what tensors held in the end, and that with what it kept for reuse. An
  /// op's outputs are made just before it.
  int64_t allocated = 0, freed = 0, in_use = 0, reserved = 0;
};

/// The calls of one name, on one device and of one kind (and of like dtypes and shapes).
struct FunctionEventAvg {
  std::string key;  ///< the name
  EventKind kind = EventKind::op;
  Device device;
  std::string dtypes, input_shapes;
  int64_t count = 0, kernels = 0, bytes = 0;
  double cpu_time_total = 0, self_cpu_time_total = 0;        ///< microseconds
  double device_time_total = 0, self_device_time_total = 0;  ///< microseconds
  int64_t allocated = 0, freed = 0, peak = 0;                ///< bytes; peak: the most in use
  double cpu_time() const { return cpu_time_total / static_cast<double>(count); }
  double device_time() const { return device_time_total / static_cast<double>(count); }
};

/// The rows of a table.
class AMBIT_API EventAverages : public std::vector<FunctionEventAvg> {
 public:
  /// Return them as text, largest first, and the sums of all of them below. sort_by: the name of a
  /// number of FunctionEventAvg, such as "cpu_time_total"; row_limit: -1: all.
  /// Errors: Error for another name.
  std::string table(std::string_view sort_by = "self_cpu_time_total", int row_limit = 100) const;
};

/// Record what all threads do from here to stop(). One at a time in a process. Threads that are
/// inside a scope or a call when it begins or stops: that one is left out, what it calls is not.
class AMBIT_API Profile {
 public:
  /// Begin. Errors: Error when there is one already.
  explicit Profile(const ProfileOptions& options = {});
  /// Stop, if it has not, and forget it.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Stop, and wait for the times of devices. Does nothing the second time.
  void stop();

  /// Return the sums by name, device and dtypes, or also by shapes. Requires: it was stopped.
  /// Errors: Error when it was not; so for all below.
  EventAverages key_averages(bool group_by_input_shape = false) const;
  /// Return the calls, each thread's in the order in which they ended.
  std::vector<FunctionEvent> events() const;
  /// Return how many calls were beyond max_events.
  size_t dropped() const;
  /// Write Chrome's trace format (JSON), which Perfetto and chrome://tracing open. TensorBoard with
  /// torch_tb_profiler shows the files of a folder that are named <anything>.pt.trace.json; scopes
  /// named "ProfilerStep#1", "ProfilerStep#2", ... are its steps.
  /// Errors: SerializationError when it cannot be written; an old file is then as it was.
  void export_chrome_trace(const std::string& path) const;

 private:
  struct Results;
  const Results& results() const;
  std::unique_ptr<Results> results_;
};

/// Return whether a profile is on.
AMBIT_API bool is_enabled();

/// A scope of the program's own, from here to the end of the block, in a profile if one is on:
///   profiler::RecordFunction scope("augment");
/// It ends in the thread that made it.
class AMBIT_API RecordFunction {
 public:
  explicit RecordFunction(std::string_view name);
  ~RecordFunction();
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

 private:
  uint64_t profile_ = 0;  // the number of the one that was on; 0: none
};
/// torch.profiler's name: profiler::record_function scope("augment");
using record_function = RecordFunction;

}  // namespace ambit::profiler
