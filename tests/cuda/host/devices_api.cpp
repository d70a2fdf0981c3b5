// CUDA's functions for devices, versions and errors.
#include <ambit/api.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "api.h"
#include "capture.h"
#include "peers.h"
#include "queue.h"

namespace ambit::cuda::host {
namespace {

std::atomic<bool> unloading{false};

thread_local cudaError_t last_error = cudaSuccess;

auto* const access_given = new std::set<std::pair<int, int>>;

bool is_device(int index) { return index >= 0 && index < settings().gpus; }

}  // namespace

// As with the driver's objects, objects made before the first call are destroyed after the driver.
bool is_unloading() {
  static const int registered = std::atexit([] { unloading = true; });
  return registered != 0 || unloading;
}

cudaError_t remember(cudaError_t status) {
  if (status != cudaSuccess && status != cudaErrorNotReady) last_error = status;
  return status;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

bool may_access(int device, int owner) { return access_given->contains({device, owner}); }
bool give_access(int device, int owner) { return access_given->emplace(device, owner).second; }

}  // namespace ambit::cuda::host

using namespace ambit::cuda::host;

extern "C" {

AMBIT_API cudaError_t cudaGetDeviceCount(int* count) {
  *count = settings().gpus;
  if (is_unloading()) return remember(cudaErrorCudartUnloading);
  return settings().gpus == 0 ? remember(cudaErrorNoDevice) : cudaSuccess;
}

AMBIT_API cudaError_t cudaGetDevice(int* device) {
  return call([&](Streams&) {
    *device = current_device();
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaSetDevice(int device) {
  return call([&](Streams&) {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    current_device() = device;
    return cudaSuccess;
  });
}

// The properties on which code could depend have the values of Hopper.
AMBIT_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int device) {
  return call([&](Streams&) {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *to = cudaDeviceProp{};
    std::snprintf(to->name, sizeof to->name, "CUDA on the host %d", device);
    to->totalGlobalMem = settings().memory_bytes;
    to->sharedMemPerBlock = 48 << 10;
    to->regsPerBlock = 65536;
    to->warpSize = 32;
    to->maxThreadsPerBlock = 1024;
    to->maxThreadsDim[0] = to->maxThreadsDim[1] = 1024;
    to->maxThreadsDim[2] = 64;
    to->maxGridSize[0] = 0x7fffffff;
    to->maxGridSize[1] = to->maxGridSize[2] = 65535;
    to->major = settings().architecture / 10;
    to->minor = settings().architecture % 10;
    to->multiProcessorCount = settings().processors;
    to->maxThreadsPerMultiProcessor = 2048;
    to->unifiedAddressing = 1;
    to->concurrentKernels = 1;
    to->asyncEngineCount = 2;
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&](Streams&) {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevAttrComputeCapabilityMajor:
        *value = settings().architecture / 10;
        return cudaSuccess;
      case cudaDevAttrComputeCapabilityMinor:
        *value = settings().architecture % 10;
        return cudaSuccess;
      case cudaDevAttrMultiProcessorCount:
        *value = settings().processors;
        return cudaSuccess;
      case cudaDevAttrMaxThreadsPerBlock:
        *value = 1024;
        return cudaSuccess;
      case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = 2048;
        return cudaSuccess;
      case cudaDevAttrWarpSize:
        *value = 32;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

// As if all kernels were compiled for these GPUs.
AMBIT_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* to, const void* kernel) {
  return call([&](Streams&) {
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    *to = cudaFuncAttributes{};
    to->maxThreadsPerBlock = 1024;
    to->ptxVersion = to->binaryVersion = settings().architecture;
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

AMBIT_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

AMBIT_API cudaError_t cudaDeviceSynchronize() {
  return call([](Streams& all) {
    for (Queue* q : all.live()) {
      if (q->capture && q->device == current_device()) return refuse_in_capture(*q);
    }
    all.finish_device(current_device());
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Streams&) {
    if (!is_device(device) || !is_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer && settings().peers;
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&](Streams&) {
    if (!is_device(peer) || peer == current_device()) return cudaErrorInvalidDevice;
    if (flags != 0) return cudaErrorInvalidValue;
    if (!settings().peers) return cudaErrorPeerAccessUnsupported;
    return give_access(current_device(), peer) ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

AMBIT_API cudaError_t cudaGetLastError() {
  const cudaError_t status = last_error;
  last_error = cudaSuccess;
  const cudaError_t sticky = sticky_error();
  return sticky != cudaSuccess ? sticky : status;
}

AMBIT_API cudaError_t cudaPeekAtLastError() {
  const cudaError_t sticky = sticky_error();
  return sticky != cudaSuccess ? sticky : last_error;
}

AMBIT_API const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
#define AMBIT_NAME(name) \
  case name:             \
    return #name;
    AMBIT_NAME(cudaSuccess)
    AMBIT_NAME(cudaErrorInvalidValue)
    AMBIT_NAME(cudaErrorMemoryAllocation)
    AMBIT_NAME(cudaErrorCudartUnloading)
    AMBIT_NAME(cudaErrorInvalidConfiguration)
    AMBIT_NAME(cudaErrorInvalidDevice)
    AMBIT_NAME(cudaErrorInvalidResourceHandle)
    AMBIT_NAME(cudaErrorNoDevice)
    AMBIT_NAME(cudaErrorNotReady)
    AMBIT_NAME(cudaErrorIllegalAddress)
    AMBIT_NAME(cudaErrorPeerAccessAlreadyEnabled)
    AMBIT_NAME(cudaErrorPeerAccessUnsupported)
    AMBIT_NAME(cudaErrorIllegalState)
    AMBIT_NAME(cudaErrorStreamCaptureUnsupported)
    AMBIT_NAME(cudaErrorStreamCaptureInvalidated)
    AMBIT_NAME(cudaErrorStreamCaptureMerge)
    AMBIT_NAME(cudaErrorStreamCaptureUnmatched)
    AMBIT_NAME(cudaErrorStreamCaptureUnjoined)
    AMBIT_NAME(cudaErrorStreamCaptureIsolation)
    AMBIT_NAME(cudaErrorStreamCaptureImplicit)
    AMBIT_NAME(cudaErrorStreamCaptureWrongThread)
    AMBIT_NAME(cudaErrorCapturedEvent)
#undef AMBIT_NAME
    default:
      return "an error of CUDA on the host";
  }
}

AMBIT_API const char* cudaGetErrorString(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorCudartUnloading:
      return "driver shutting down";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorPeerAccessAlreadyEnabled:
      return "peer access is already enabled";
    case cudaErrorPeerAccessUnsupported:
      return "peer access is not supported between these two devices";
    default:
      return "an error";
  }
}
}
