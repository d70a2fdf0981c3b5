// An OpenCL device: its context, its in-order queue, its memory and its programs.
#pragma once

#include <CL/cl.h>
#include <ambit/backend/caching_allocator.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "address.h"

namespace ambit::opencl {

/// Features on which programs depend, and limits.
struct Features {
  bool is_accelerator = false;  // a GPU or an accelerator
  bool has_double = false;
  bool rounds_division = false;  // -cl-fp32-correctly-rounded-divide-sqrt is supported
  size_t most_bytes = 0;         // maximal size of a buffer
  size_t work_group = 64;        // work items per group, for all kernels
};

/// The same struct as Fault in types.cl.
struct Fault {
  cl_int kind = 0;
  cl_int unused = 0;
  cl_ulong op = 0;
  cl_long got = 0;
  cl_long limit = 0;
};

/// Thread-safe. Work of all threads is queued in call order.
class OpenClDevice final : public RawMemory {
 public:
  OpenClDevice(cl_platform_id platform, cl_device_id id, std::string name);

  cl_device_id id() const { return id_; }
  cl_platform_id platform() const { return platform_; }
  const Features& features() const { return features_; }
  CachingAllocator& allocator() { return allocator_; }
  cl_command_queue queue() const { return queue_; }

  /// Return the buffer that contains an address of this device.
  cl_mem buffer(const void* address) const { return buffers_[slot_of(address)]; }
  /// Return the record to which kernels queued by the calling thread report invalid data.
  cl_mem fault();

  /// Return a kernel of a program, compiled on first use. `key` identifies the program in the
  /// cache; `source` returns its text. Errors: BackendError with the compiler's log.
  template <class Source>
  cl_kernel kernel(const char* op, const std::string& key, const char* name, Source source) {
    const std::lock_guard lock(programs_mutex_);
    const auto found = kernels_.find(key + '/' + name);
    if (found != kernels_.end()) return found->second;
    auto& program = programs_[key];
    if (!program) program = build(op, source());
    return add_kernel(op, key + '/' + name, program, name);
  }

  /// Return a record from fault() for use by another thread.
  void give_back_fault(cl_mem fault) noexcept;

  void write(void* to, const void* host, size_t bytes);
  /// Copy to the host, wait, and throw reported faults.
  void read(void* host, const void* from, size_t bytes);
  void copy(void* to, const void* from, size_t bytes);
  void synchronize();

  // RawMemory
  void* allocate(size_t bytes) override;
  void free(void* p, size_t bytes) noexcept override;
  size_t free_bytes() override;

  /// Guards a kernel's arguments from the first one until the launch.
  std::mutex& launch_mutex() { return launch_mutex_; }

 private:
  cl_program build(const char* op, const std::string& source);
  cl_kernel add_kernel(const char* op, const std::string& key, cl_program program,
                       const char* name);
  void throw_reported();

  const cl_platform_id platform_;
  const cl_device_id id_;
  Features features_;
  size_t total_bytes_ = 0;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::mutex launch_mutex_;
  std::mutex faults_mutex_;          // guards free_faults_
  std::vector<cl_mem> free_faults_;  // records of threads that have ended
  // Written under the allocator's lock, read without it: the slot of a live tensor is constant.
  std::vector<cl_mem> buffers_;
  std::vector<size_t> free_slots_;
  size_t slots_ = 1;  // slot 0 is unused
  size_t allocated_ = 0;
  std::mutex programs_mutex_;  // guards programs_ and kernels_
  std::map<std::string, cl_program> programs_;
  std::map<std::string, cl_kernel> kernels_;
  CachingAllocator allocator_;
};

/// Return all devices of all platforms, in the order of the ICD loader.
const std::vector<std::unique_ptr<OpenClDevice>>& devices();
/// Return why there is no device.
std::string reason_for_none();

/// Return an information string of a device or platform.
std::string device_text(cl_device_id id, cl_device_info what);
std::string platform_text(cl_platform_id id, cl_platform_info what);

}  // namespace ambit::opencl
