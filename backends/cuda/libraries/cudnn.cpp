#include "cudnn.h"

#include "backends/cuda/driver/error.h"
#include "backends/cuda/runtime/call.h"
#include "library.h"

namespace ambit::cuda::cudnn {
namespace {

struct Functions {
  Library library{"libcudnn.so.9"};
#define AMBIT_CUDNN(name) decltype(::name)* name = library.find<decltype(::name)>(#name)
  AMBIT_CUDNN(cudnnCreate);
  AMBIT_CUDNN(cudnnSetStream);
  AMBIT_CUDNN(cudnnGetErrorString);
  AMBIT_CUDNN(cudnnGetLastErrorString);
  AMBIT_CUDNN(cudnnBackendCreateDescriptor);
  AMBIT_CUDNN(cudnnBackendDestroyDescriptor);
  AMBIT_CUDNN(cudnnBackendFinalize);
  AMBIT_CUDNN(cudnnBackendSetAttribute);
  AMBIT_CUDNN(cudnnBackendGetAttribute);
  AMBIT_CUDNN(cudnnBackendExecute);
#undef AMBIT_CUDNN
};

const Functions& api() {
  static const auto* functions = new Functions;  // leaked: plans are destroyed until exit
  return *functions;
}

}  // namespace

void check(cudnnStatus_t status, const char* call, SourceLocation where) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char text[512] = "";
  api().cudnnGetLastErrorString(text, sizeof(text));
  throw_failed(call, api().cudnnGetErrorString(status), status, text, where);
}

cudnnHandle_t handle() {
  GpuStream& own = Call::stream().gpu.own_stream();
  if (!own.cudnn) {
    Call::expect_no_capture("a first call of cuDNN");
    cudnnHandle_t made = nullptr;
    check(api().cudnnCreate(&made), "cudnnCreate");
    own.cudnn = made;
  }
  if (own.cudnn_works_on != Call::stream().handle) {
    check(api().cudnnSetStream(own.cudnn, Call::stream().handle), "cudnnSetStream");
    own.cudnn_works_on = Call::stream().handle;
  }
  return own.cudnn;
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  check(api().cudnnBackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

Descriptor::~Descriptor() {
  if (descriptor_) static_cast<void>(api().cudnnBackendDestroyDescriptor(descriptor_));
}

Descriptor& Descriptor::set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                int64_t count, const void* values) {
  check(api().cudnnBackendSetAttribute(descriptor_, name, type, count, values),
        "cudnnBackendSetAttribute");
  return *this;
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, std::span<const Descriptor> values) {
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const Descriptor& d : values) raw.push_back(d.descriptor_);
  return set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(raw.size()), raw.data());
}

Descriptor& Descriptor::finalize() {
  check(api().cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize");
  return *this;
}

bool Descriptor::try_finalize() {
  return api().cudnnBackendFinalize(descriptor_) == CUDNN_STATUS_SUCCESS;
}

int64_t Descriptor::get_int(cudnnBackendAttributeName_t name) const {
  int64_t value = 0, count = 0;
  check(api().cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_INT64, 1, &count, &value),
        "cudnnBackendGetAttribute");
  return value;
}

std::vector<cudnnBackendNumericalNote_t> Descriptor::get_notes(
    cudnnBackendAttributeName_t name) const {
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  int64_t count = 0;
  check(api().cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_NUMERICAL_NOTE,
                                       static_cast<int64_t>(notes.size()), &count, notes.data()),
        "cudnnBackendGetAttribute");
  notes.resize(static_cast<size_t>(count));
  return notes;
}

// cuDNN first returns a count, then fills given descriptors, possibly fewer than counted.
std::vector<Descriptor> Descriptor::get(cudnnBackendAttributeName_t name,
                                        cudnnBackendDescriptorType_t type) const {
  const auto fill = [&](int64_t room, void* to) {
    int64_t count = 0;
    check(api().cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, room,
                                         &count, to),
          "cudnnBackendGetAttribute");
    return count;
  };
  const int64_t room = fill(0, nullptr);
  std::vector<Descriptor> found;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < room; ++i) raw.push_back(found.emplace_back(type).descriptor_);
  const int64_t count = room > 0 ? fill(room, raw.data()) : 0;
  while (static_cast<int64_t>(found.size()) > count) found.pop_back();
  return found;
}

cudnnStatus_t execute(const Descriptor& plan, const Descriptor& variant_pack) {
  return api().cudnnBackendExecute(handle(), plan.descriptor_, variant_pack.descriptor_);
}

}  // namespace ambit::cuda::cudnn
