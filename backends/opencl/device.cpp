#include "device.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>
#include <string_view>

#include "error.h"
#include "program.h"

namespace ambit::opencl {
namespace {

template <class T>
T device_value(cl_device_id id, cl_device_info what) {
  T value{};
  clGetDeviceInfo(id, what, sizeof value, &value, nullptr);
  return value;
}

Features features_of(cl_device_id id) {
  Features f;
  f.is_accelerator = (device_value<cl_device_type>(id, CL_DEVICE_TYPE) &
                      (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR)) != 0;
  f.has_double = device_text(id, CL_DEVICE_EXTENSIONS).find("cl_khr_fp64") != std::string::npos;
  f.rounds_division = device_value<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG) &
                      CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  f.most_bytes =
      std::min<size_t>(kSlotBytes, device_value<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  f.work_group = std::min<size_t>(64, device_value<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  return f;
}

// Throw the exception of a reported fault; the kinds are defined in types.cl.
[[noreturn]] void throw_fault(const Fault& f) {
  const auto* op = reinterpret_cast<const char*>(static_cast<uintptr_t>(f.op));
  switch (f.kind) {
    case 1:
      throw IndexError(fmt::format("{}: expected an index in [0, {}), got {}", op, f.limit, f.got));
    case 3:
      throw Error(
          fmt::format("{}: expected a quotient that fits int{}, got {} / -1", op, f.limit, f.got));
    default:
      throw Error(fmt::format("{}: expected a divisor other than 0, got 0", op));
  }
}

// The devices selected by $AMBIT_OPENCL: all, none, or a list "platform:device,...".
class Choice {
 public:
  Choice() {
    const char* const value = std::getenv("AMBIT_OPENCL");
    const std::string_view text = value ? value : "";
    if (text.empty() || text == "all") return;
    takes_all_ = false;
    if (text == "none") return;
    const char *at = text.data(), *const end = at + text.size();
    while (true) {
      size_t platform = 0, device = 0;
      const auto first = std::from_chars(at, end, platform);
      const bool has_colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
      const auto second = std::from_chars(has_colon ? first.ptr + 1 : end, end, device);
      if (second.ec != std::errc() || (second.ptr != end && *second.ptr != ',')) {
        throw BackendError(fmt::format(
            "AMBIT_OPENCL: expected all, none or platform:device,..., got \"{}\"", text));
      }
      chosen_.insert({platform, device});
      if (second.ptr == end) return;
      at = second.ptr + 1;
    }
  }
  bool takes(size_t platform, size_t device) const {
    return takes_all_ || chosen_.contains({platform, device});
  }
  bool takes_none() const { return !takes_all_ && chosen_.empty(); }

 private:
  bool takes_all_ = true;
  std::set<std::pair<size_t, size_t>> chosen_;
};

struct Found {
  std::vector<std::unique_ptr<OpenClDevice>> devices;
  std::string reason;
};

Found find_devices() {
  Found found;
  const Choice choice;
  if (choice.takes_none()) {
    found.reason = "AMBIT_OPENCL is none";
    return found;
  }
  cl_uint count = 0;
  const cl_int status = clGetPlatformIDs(0, nullptr, &count);
  if (status != CL_SUCCESS || count == 0) {
    found.reason = "no OpenCL platform: install a driver (an ICD), such as pocl-opencl-icd";
    return found;
  }
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  struct Usable {
    cl_platform_id platform;
    cl_device_id id;
  };
  std::vector<Usable> usable;
  const auto refuse = [&found](cl_device_id id, std::string_view why) {
    if (!found.reason.empty()) found.reason += "; ";
    found.reason += fmt::format("{}: {}", device_text(id, CL_DEVICE_NAME), why);
  };
  for (size_t p = 0; p < platforms.size(); ++p) {
    const cl_platform_id platform = platforms[p];
    cl_uint n = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(n);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids.data(), nullptr);
    for (size_t d = 0; d < ids.size(); ++d) {
      if (!choice.takes(p, d)) continue;
      const cl_device_id id = ids[d];
      if (!device_value<cl_bool>(id, CL_DEVICE_AVAILABLE) ||
          !device_value<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE)) {
        refuse(id, "not available, or without a compiler");
        continue;
      }
      usable.push_back({platform, id});
    }
  }
  // GPUs first, so that best_device() finds one.
  std::stable_partition(usable.begin(), usable.end(),
                        [](const Usable& u) { return features_of(u.id).is_accelerator; });
  for (const Usable& u : usable) {
    try {
      found.devices.push_back(std::make_unique<OpenClDevice>(
          u.platform, u.id, fmt::format("opencl:{}", found.devices.size())));
    } catch (const std::exception& e) {
      refuse(u.id, e.what());
    }
  }
  if (found.reason.empty()) found.reason = "the OpenCL platforms have no such device";
  return found;
}

// Never destroyed: tensors may outlive main().
const Found& found_devices() {
  static const auto* const found = new Found(find_devices());
  return *found;
}

}  // namespace

const std::vector<std::unique_ptr<OpenClDevice>>& devices() { return found_devices().devices; }
std::string reason_for_none() { return found_devices().reason; }

std::string device_text(cl_device_id id, cl_device_info what) {
  size_t size = 0;
  clGetDeviceInfo(id, what, 0, nullptr, &size);
  std::string text(size, '\0');
  clGetDeviceInfo(id, what, size, text.data(), nullptr);
  return text.c_str();
}
std::string platform_text(cl_platform_id id, cl_platform_info what) {
  size_t size = 0;
  clGetPlatformInfo(id, what, 0, nullptr, &size);
  std::string text(size, '\0');
  clGetPlatformInfo(id, what, size, text.data(), nullptr);
  return text.c_str();
}

OpenClDevice::OpenClDevice(cl_platform_id platform, cl_device_id id, std::string name)
    : platform_(platform),
      id_(id),
      features_(features_of(id)),
      total_bytes_(device_value<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE)),
      buffers_(kMostSlots, nullptr),
      allocator_(*this, std::move(name)) {
  cl_int status = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &id_, nullptr, nullptr, &status);
  check(status, "opencl", "clCreateContext");
  queue_ = clCreateCommandQueue(context_, id_, CL_QUEUE_PROFILING_ENABLE, &status);
  check(status, "opencl", "clCreateCommandQueue");
}

namespace {

// The fault records of one thread, by device; returned when the thread ends.
struct FaultsOfThread {
  std::map<OpenClDevice*, cl_mem> records;
  ~FaultsOfThread() {
    for (const auto& [device, record] : records) device->give_back_fault(record);
  }
};

}  // namespace

cl_mem OpenClDevice::fault() {
  thread_local FaultsOfThread mine;
  cl_mem& record = mine.records[this];
  if (record) return record;
  {
    const std::lock_guard lock(faults_mutex_);
    if (!free_faults_.empty()) {
      record = free_faults_.back();
      free_faults_.pop_back();
      return record;
    }
    free_faults_.reserve(free_faults_.size() + 1);
  }
  Fault none;
  cl_int status = CL_SUCCESS;
  record = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof none, &none,
                          &status);
  check(status, "opencl", "clCreateBuffer");
  return record;
}

void OpenClDevice::give_back_fault(cl_mem fault) noexcept try {
  const std::lock_guard lock(faults_mutex_);
  free_faults_.push_back(fault);
} catch (...) {  // out of memory: the record is lost
}

void* OpenClDevice::allocate(size_t bytes) {
  if (bytes > features_.most_bytes || bytes > free_bytes()) return nullptr;
  if (free_slots_.empty() && slots_ == kMostSlots) return nullptr;
  cl_int status = CL_SUCCESS;
  const cl_mem made = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  if (status != CL_SUCCESS) return nullptr;
  size_t slot = slots_;
  if (free_slots_.empty()) {
    ++slots_;
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  buffers_[slot] = made;
  allocated_ += bytes;
  return address_of_slot(slot);
}

// The driver keeps the buffer until queued work on it is done.
void OpenClDevice::free(void* p, size_t bytes) noexcept {
  const size_t slot = slot_of(p);
  clReleaseMemObject(buffers_[slot]);
  buffers_[slot] = nullptr;
  free_slots_.push_back(slot);
  allocated_ -= bytes;
}

size_t OpenClDevice::free_bytes() {
  return total_bytes_ > allocated_ ? total_bytes_ - allocated_ : 0;
}

cl_program OpenClDevice::build(const char* op, const std::string& source) {
  const char* text = source.c_str();
  cl_int status = CL_SUCCESS;
  const cl_program program = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
  check(status, op, "clCreateProgramWithSource");
  std::string options = "-cl-std=CL1.2 -w";
  if (features_.rounds_division) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  if (!features_.has_double) options += " -cl-single-precision-constant";
  status = clBuildProgram(program, 1, &id_, options.c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS) {
    size_t size = 0;
    clGetProgramBuildInfo(program, id_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program, id_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    clReleaseProgram(program);
    throw BackendError(fmt::format("{}: expected clBuildProgram to succeed, got {} ({}): {}", op,
                                   error_name(status), status, log.c_str()));
  }
  return program;
}

cl_kernel OpenClDevice::add_kernel(const char* op, const std::string& key, cl_program program,
                                   const char* name) {
  cl_int status = CL_SUCCESS;
  const cl_kernel made = clCreateKernel(program, name, &status);
  check(status, op, "clCreateKernel");
  kernels_.emplace(key, made);
  return made;
}

void OpenClDevice::write(void* to, const void* host, size_t bytes) {
  check(clEnqueueWriteBuffer(queue_, buffer(to), CL_TRUE, offset_in_slot(to), bytes, host, 0,
                             nullptr, nullptr),
        "copy", "clEnqueueWriteBuffer");
}

void OpenClDevice::read(void* host, const void* from, size_t bytes) {
  check(clEnqueueReadBuffer(queue_, buffer(from), CL_TRUE, offset_in_slot(from), bytes, host, 0,
                            nullptr, nullptr),
        "copy", "clEnqueueReadBuffer");
  throw_reported();
}

// clEnqueueCopyBuffer rejects overlapping regions, which core never passes.
void OpenClDevice::copy(void* to, const void* from, size_t bytes) {
  if (to == from) return;
  check(clEnqueueCopyBuffer(queue_, buffer(from), buffer(to), offset_in_slot(from),
                            offset_in_slot(to), bytes, 0, nullptr, nullptr),
        "copy", "clEnqueueCopyBuffer");
  clFlush(queue_);
}

void OpenClDevice::synchronize() {
  check(clFinish(queue_), "synchronize", "clFinish");
  throw_reported();
}

void OpenClDevice::throw_reported() {
  const cl_mem record = fault();
  Fault fault;
  check(clEnqueueReadBuffer(queue_, record, CL_TRUE, 0, sizeof fault, &fault, 0, nullptr, nullptr),
        "synchronize", "clEnqueueReadBuffer");
  if (fault.kind == 0) return;
  const Fault none;
  check(clEnqueueWriteBuffer(queue_, record, CL_TRUE, 0, sizeof none, &none, 0, nullptr, nullptr),
        "synchronize", "clEnqueueWriteBuffer");
  throw_fault(fault);
}

}  // namespace ambit::opencl
