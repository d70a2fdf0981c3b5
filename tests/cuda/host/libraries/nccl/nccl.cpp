// libnccl.so.2 on the host: ranks are processes of one machine, each with its own GPUs, and
// communicate by shared memory. Calls are checked at once; the runtime runs their work, one slot at
// a time, in step with the other ranks.
#include <ambit/api.h>
#include <ambit/backend/communicator.h>
#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "tests/cuda/host/libraries/faults.h"
#include "tests/cuda/host/queue.h"

using namespace ambit::cuda::host;
using ambit::DType;
using ambit::distributed::ReduceOp;

namespace {

constexpr size_t kSlotBytes = size_t{1} << 20;
constexpr size_t kMostRanks = 64;

struct Call {
  enum Kind { broadcast, allreduce, reduce, allgather, reduce_scatter } kind;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int root;
  bool operator==(const Call&) const = default;
};

// The shared memory of all ranks, initially zeros.
struct Rendezvous {
  std::atomic<uint32_t> arrived, round;
  Call calls[kMostRanks];
};

}  // namespace

struct ncclComm {
  int rank = 0, size = 1, device = 0;
  size_t bytes = 0;
  void* memory = MAP_FAILED;
  std::atomic<bool> aborted{false};

  ~ncclComm() {
    if (memory != MAP_FAILED) munmap(memory, bytes);
  }
  Rendezvous& rendezvous() const { return *static_cast<Rendezvous*>(memory); }
  char* slot(int r) const {
    return static_cast<char*>(memory) + sizeof(Rendezvous) + static_cast<size_t>(r) * kSlotBytes;
  }
  // Wait for all ranks, at most a minute, which is longer than any test.
  void wait_for_all() const {
    Rendezvous& m = rendezvous();
    const uint32_t round = m.round.load();
    if (m.arrived.fetch_add(1) + 1 == static_cast<uint32_t>(size)) {
      m.arrived = 0;
      m.round.fetch_add(1);
      return;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (m.round.load() == round) {
      if (std::chrono::steady_clock::now() > until)
        misuse("NCCL: expected a call of every rank within a minute, got some");
      std::this_thread::yield();
    }
  }
};

namespace {

using Comm = std::shared_ptr<ncclComm>;

// Target of a handle.
Comm& of(ncclComm_t handle) { return *reinterpret_cast<Comm*>(handle); }

// Return true if tests request that this function fails.
bool is_failing(std::string_view function) {
  const char* const name = std::getenv("AMBIT_CUDA_HOST_NCCL");
  return name && function == name;
}

std::optional<DType> dtype_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return ambit::kInt8;
    case ncclUint8:
      return ambit::kUInt8;
    case ncclInt32:
      return ambit::kInt32;
    case ncclInt64:
      return ambit::kInt64;
    case ncclFloat16:
      return ambit::kFloat16;
    case ncclBfloat16:
      return ambit::kBFloat16;
    case ncclFloat32:
      return ambit::kFloat32;
    case ncclFloat64:
      return ambit::kFloat64;
    default:
      return {};
  }
}

std::optional<ReduceOp> op_of(ncclRedOp_t op) {
  switch (op) {
    case ncclSum:
      return ReduceOp::SUM;
    case ncclProd:
      return ReduceOp::PRODUCT;
    case ncclMin:
      return ReduceOp::MIN;
    case ncclMax:
      return ReduceOp::MAX;
    default:
      return {};
  }
}

// One rank's part of a collective, on the GPU of the running work.
struct Work {
  Comm comm;
  Call call;
  const char* in;
  char* out;

  void run() const;

 private:
  void fold(char* into, size_t piece_at, size_t n) const;
};

// All ranks' elements in one array; `piece_at`: their positions in the slots.
void Work::fold(char* into, size_t piece_at, size_t n) const {
  const DType dtype = *dtype_of(call.type);
  check_write(into, n * element_size(dtype));
  for (int r = 0; r < comm->size; ++r) {
    const char* const from = comm->slot(r) + piece_at;
    if (r == 0) {
      std::memcpy(into, from, n * element_size(dtype));
    } else {
      combine(*op_of(call.op), dtype, into, from, static_cast<int64_t>(n));
    }
  }
}

void Work::run() const {
  if (comm->aborted) return;
  const auto me = static_cast<size_t>(comm->rank), ranks = static_cast<size_t>(comm->size);
  comm->rendezvous().calls[me] = call;
  comm->wait_for_all();
  if (comm->rendezvous().calls[me] != comm->rendezvous().calls[0]) {
    misuse("NCCL: expected the same call on all ranks");
  }
  const bool is_root = comm->rank == call.root;
  const bool in_pieces = call.kind == Call::reduce_scatter;
  const size_t element = element_size(*dtype_of(call.type));
  const size_t piece = call.count * element, most = kSlotBytes / ranks / element * element;
  for (size_t at = 0; at < piece; at += most) {
    const size_t bytes = std::min(most, piece - at), n = bytes / element;
    for (size_t p = 0; p < (in_pieces ? ranks : 1); ++p) {
      if (call.kind == Call::broadcast && !is_root) break;
      check_read(in + p * piece + at, bytes);
      std::memcpy(comm->slot(comm->rank) + p * bytes, in + p * piece + at, bytes);
    }
    comm->wait_for_all();
    switch (call.kind) {
      case Call::broadcast:
        check_write(out + at, bytes);
        std::memcpy(out + at, comm->slot(call.root), bytes);
        break;
      case Call::allgather:
        for (size_t r = 0; r < ranks; ++r) {
          check_write(out + r * piece + at, bytes);
          std::memcpy(out + r * piece + at, comm->slot(static_cast<int>(r)), bytes);
        }
        break;
      case Call::reduce:
        if (is_root) fold(out + at, 0, n);
        break;
      case Call::allreduce:
        fold(out + at, 0, n);
        break;
      case Call::reduce_scatter:
        fold(out + at, me * bytes, n);
        break;
    }
    comm->wait_for_all();
  }
}

ncclResult_t queue(const char* name, const Call& call, const void* in, void* out, ncclComm_t handle,
                   cudaStream_t stream) {
  if (is_failing(name)) return ncclUnhandledCudaError;
  if (!handle || !in || !out || !dtype_of(call.type) || !op_of(call.op)) return ncclInvalidArgument;
  const Comm& comm = of(handle);
  if (call.root < 0 || call.root >= comm->size || comm->device != device_of(stream)) {
    return ncclInvalidArgument;
  }
  const auto work = [work = Work{comm, call, static_cast<const char*>(in),
                                 static_cast<char*>(out)}] { work.run(); };
  return enqueue(stream, name, work) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclUnhandledCudaError ? "unhandled cuda error"
         : result == ncclInvalidArgument  ? "invalid argument"
         : result == ncclRemoteError      ? "remote process exited or there was a network error"
                                          : "another error";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (is_failing("ncclGetUniqueId")) return ncclSystemError;
  static std::atomic<int> made{0};
  *id = {};
  const std::string name = "/ambit-nccl-" + std::to_string(getpid()) + "-" + std::to_string(++made);
  std::copy(name.begin(), name.end(), id->internal);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* handle, int size, ncclUniqueId id, int rank) {
  if (is_failing("ncclCommInitRank")) return ncclUnhandledCudaError;
  if (size < 1 || size > static_cast<int>(kMostRanks) || rank < 0 || rank >= size) {
    return ncclInvalidArgument;
  }
  const auto comm = std::make_shared<ncclComm>();
  comm->rank = rank;
  comm->size = size;
  if (cudaGetDevice(&comm->device) != cudaSuccess) return ncclUnhandledCudaError;
  comm->bytes = sizeof(Rendezvous) + static_cast<size_t>(size) * kSlotBytes;
  const int file = shm_open(id.internal, O_RDWR | O_CREAT, 0600);
  if (file < 0) return ncclSystemError;
  const bool has_room = ftruncate(file, static_cast<off_t>(comm->bytes)) == 0;
  if (has_room) {
    comm->memory = mmap(nullptr, comm->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  if (comm->memory == MAP_FAILED) return ncclSystemError;
  comm->wait_for_all();
  if (rank == 0) shm_unlink(id.internal);
  *handle = reinterpret_cast<ncclComm_t>(new Comm(comm));
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  delete &of(handle);  // queued work owns the other objects
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  of(handle)->aborted = true;
  return ncclCommDestroy(handle);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = is_failing("remote") ? ncclRemoteError : ncclSuccess;
  return is_failing("ncclCommGetAsyncError") ? ncclInternalError : ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return queue("ncclAllReduce", {Call::allreduce, count, type, op, 0}, in, out, comm, stream);
}

ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return queue("ncclBroadcast", {Call::broadcast, count, type, ncclSum, root}, in, out, comm,
               stream);
}

ncclResult_t ncclReduce(const void* in, void* out, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return queue("ncclReduce", {Call::reduce, count, type, op, root}, in, out, comm, stream);
}

ncclResult_t ncclAllGather(const void* in, void* out, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return queue("ncclAllGather", {Call::allgather, count, type, ncclSum, 0}, in, out, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* in, void* out, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return queue("ncclReduceScatter", {Call::reduce_scatter, count, type, op, 0}, in, out, comm,
               stream);
}
}
