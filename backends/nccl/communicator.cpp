// Transfers between GPUs, one per rank, on a separate stream. MPI connects the ranks and checks
// presence: each transfer has an MPI barrier, so that no rank waits for a kernel that cannot end.
// Operations that NCCL lacks, and those for which it would connect later, when a rank may be
// missing, use MPI through host memory.
#include <ambit/backend/plugin.h>
#include <ambit/backend/registry.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>
#include <stdlib.h>

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace ambit::distributed::nccl {
namespace {

// Errors: DistributedError with the library's text if the code is an error.
void check(bool succeeded, const char* call, const char* text) {
  if (succeeded) return;
  throw DistributedError(fmt::format("{}: expected it to succeed, got: {}", call, text));
}
void check(ncclResult_t code, const char* call) {
  check(code == ncclSuccess, call, ncclGetErrorString(code));
}
void check(cudaError_t code, const char* call) {
  check(code == cudaSuccess, call, cudaGetErrorString(code));
}

// There is no type for int16; bool is reduced as uint8 with values 0 and 1.
std::optional<ncclDataType_t> type_of(DType dtype) {
  static const std::map<DType, ncclDataType_t> types{
      {kBool, ncclUint8},        {kUInt8, ncclUint8},     {kInt8, ncclInt8},
      {kInt32, ncclInt32},       {kInt64, ncclInt64},     {kFloat16, ncclFloat16},
      {kBFloat16, ncclBfloat16}, {kFloat32, ncclFloat32}, {kFloat64, ncclFloat64}};
  const auto type = types.find(dtype);
  return type == types.end() ? std::nullopt : std::optional(type->second);
}

std::optional<ncclRedOp_t> op_of(ReduceOp op, DType dtype) {
  const bool is_bool = dtype == kBool;
  if (op == ReduceOp::SUM) return is_bool ? ncclMax : ncclSum;
  if (op == ReduceOp::PRODUCT) return is_bool ? ncclMin : ncclProd;
  if (op == ReduceOp::MIN) return ncclMin;
  if (op == ReduceOp::MAX) return ncclMax;
  return {};
}

// Return true if NCCL performs the transfer, with the connections made at the start.
bool is_nccls(const Transfer& t) {
  if (is_reduction(t.what)) return type_of(t.dtype) && op_of(t.op, t.dtype);
  return t.what == Collective::broadcast || t.what == Collective::allgather;
}

// A launched transfer, and the memory that it uses.
struct Flight {
  cudaEvent_t event = nullptr;
  std::shared_ptr<void> memory;

  ~Flight() {
    if (event) cudaEventDestroy(event);
  }
  bool is_over() const {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaErrorNotReady) return false;
    check(status, "cudaEventQuery");
    return true;
  }
};

// A rank's state in a group. The mutex guards all members except the constants `host` and `device`.
struct Group {
  std::unique_ptr<Communicator> host;
  Device device;
  std::mutex mutex;
  ncclComm_t comm = nullptr;  // null: aborted
  cudaStream_t stream = nullptr;
  std::vector<std::shared_ptr<Flight>> flights;  // some may be done
  std::string failure;

  ~Group() {
    if (stream) cudaSetDevice(device.index());
    const bool is_idle = stream && cudaStreamQuery(stream) == cudaSuccess;
    if (comm) is_idle ? ncclCommDestroy(comm) : ncclCommAbort(comm);
    if (stream) cudaStreamDestroy(stream);
  }
  void activate() const { check(cudaSetDevice(device.index()), "cudaSetDevice"); }
  // Abort the kernels of a failed group, and notify the other ranks.
  void end(const std::string& reason) noexcept {
    const std::lock_guard lock(mutex);
    if (failure.empty()) failure = reason;
    if (comm) ncclCommAbort(std::exchange(comm, nullptr));
    host->abort(reason);
  }
  // Call f() unless the group has failed; an error fails the group.
  template <class F>
  void attempt(const F& f) {
    try {
      const std::lock_guard lock(mutex);
      if (!failure.empty()) throw DistributedError(failure);
      activate();
      f();
    } catch (const DistributedError& e) {
      end(e.what());
      throw;
    }
  }
};

// Waits for the barrier, then for the GPU.
class GpuRequest final : public Request {
 public:
  GpuRequest(std::shared_ptr<Group> group, std::shared_ptr<Flight> flight,
             std::unique_ptr<Request> barrier)
      : group_(std::move(group)), flight_(std::move(flight)), barrier_(std::move(barrier)) {}
  bool wait(Milliseconds limit) override {
    const auto until = std::chrono::steady_clock::now() + limit;
    if (barrier_ && !barrier_->wait(limit)) return false;
    barrier_.reset();
    while (!is_over()) {
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  bool is_over() {
    bool over = false;
    group_->attempt([&] {
      ncclResult_t async_error = ncclSuccess;
      check(ncclCommGetAsyncError(group_->comm, &async_error), "ncclCommGetAsyncError");
      check(async_error, "NCCL");
      over = flight_->is_over();
    });
    return over;
  }

  std::shared_ptr<Group> group_;
  std::shared_ptr<Flight> flight_;
  std::unique_ptr<Request> barrier_;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> host, Device device, Milliseconds timeout)
      : timeout_(timeout) {
    group_->host = std::move(host);
    group_->device = device;
    group_->activate();
    check(cudaStreamCreateWithFlags(&group_->stream, cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
    check(ncclCommInitRank(&group_->comm, size(), exchange_id(), rank()), "ncclCommInitRank");
  }
  int rank() const override { return group_->host->rank(); }
  int size() const override { return group_->host->size(); }
  Device device() const override { return group_->device; }
  bool takes(Device d, const Transfer& t) const override {
    return d == group_->device && is_nccls(t);
  }

  std::unique_ptr<Request> start(const Transfer& t) override {
    if (!is_nccls(t)) return group_->host->start(t);
    if (t.count == 0) return group_->host->start({});
    // Order the stream after the work on the memory.
    Backend& backend = backend_of(group_->device);
    const auto stream = reinterpret_cast<intptr_t>(group_->stream);
    for (const void* const p : {t.in, static_cast<const void*>(t.out)}) {
      backend.lend(group_->device.index(), const_cast<void*>(p), int64_t{stream});
    }
    auto barrier = group_->host->start({});
    auto flight = std::make_shared<Flight>();
    flight->memory = t.memory;
    group_->attempt([&] {
      std::erase_if(group_->flights, [](const auto& other) { return other->is_over(); });
      group_->flights.push_back(flight);
      launch(t);
      check(cudaEventCreateWithFlags(&flight->event, cudaEventDisableTiming),
            "cudaEventCreateWithFlags");
      check(cudaEventRecord(flight->event, group_->stream), "cudaEventRecord");
    });
    return std::make_unique<GpuRequest>(group_, std::move(flight), std::move(barrier));
  }
  std::vector<Absence> absent(uint64_t number, Milliseconds limit) override {
    return group_->host->absent(number, limit);
  }
  std::unique_ptr<Communicator> split(std::span<const int> ranks) override {
    std::unique_ptr<Communicator> part = group_->host->split(ranks);
    if (!part) return nullptr;
    return std::make_unique<NcclCommunicator>(std::move(part), group_->device, timeout_);
  }
  void abort(const std::string& reason) noexcept override { group_->end(reason); }

 private:
  ncclUniqueId exchange_id();
  void launch(const Transfer& t);

  const std::shared_ptr<Group> group_ = std::make_shared<Group>();
  const Milliseconds timeout_;
};

// Send rank 0's id to all ranks. Uses messages, because collectives are counted.
ncclUniqueId NcclCommunicator::exchange_id() {
  const auto ids = std::make_shared<std::array<ncclUniqueId, 2>>();  // sent, received
  const auto exchange = [&](Collective what, int peer) {
    const Transfer t{.what = what,
                     .in = &(*ids)[0],
                     .out = &(*ids)[1],
                     .count = sizeof(ncclUniqueId),
                     .peer = peer,
                     .memory = ids};
    if (group_->host->start(t)->wait(timeout_)) return;
    throw DistributedError(
        fmt::format("nccl: expected rank {} to take part in a group, got no call from it", peer));
  };
  if (rank() > 0) {
    for (const Collective what : {Collective::send, Collective::recv}) exchange(what, 0);
    return (*ids)[1];
  }
  check(ncclGetUniqueId(&(*ids)[0]), "ncclGetUniqueId");
  for (const Collective what : {Collective::recv, Collective::send}) {
    for (int r = 1; r < size(); ++r) exchange(what, r);
  }
  return (*ids)[0];
}

void NcclCommunicator::launch(const Transfer& t) {
  const auto count = static_cast<size_t>(t.count);
  const size_t bytes = count * element_size(t.dtype);
  const auto type = type_of(t.dtype).value_or(ncclUint8);
  const auto op = op_of(t.op, t.dtype).value_or(ncclSum);
  const ncclComm_t comm = group_->comm;
  const cudaStream_t stream = group_->stream;
  switch (t.what) {
    case Collective::broadcast:
      return check(ncclBroadcast(t.in, t.out, bytes, ncclUint8, t.peer, comm, stream),
                   "ncclBroadcast");
    case Collective::allreduce:
      return check(ncclAllReduce(t.in, t.out, count, type, op, comm, stream), "ncclAllReduce");
    case Collective::reduce:
      return check(ncclReduce(t.in, t.out, count, type, op, t.peer, comm, stream), "ncclReduce");
    case Collective::reduce_scatter:
      return check(ncclReduceScatter(t.in, t.out, count, type, op, comm, stream),
                   "ncclReduceScatter");
    default:
      return check(ncclAllGather(t.in, t.out, bytes, ncclUint8, comm, stream), "ncclAllGather");
  }
}

std::unique_ptr<Communicator> make(const CommunicatorOptions& options) {
  if (!options.device.is_cuda()) {
    throw Error(fmt::format(
        "init_process_group: expected a cuda device in ProcessGroupOptions for nccl, got {}",
        options.device.str()));
  }
  usable_backend(options.device);
  // Connect at the start, when all ranks are known to be present, so that later calls do not block.
  setenv("NCCL_RUNTIME_CONNECT", "0", 0);
  return std::make_unique<NcclCommunicator>(find_communicator("mpi")(options), options.device,
                                            options.timeout);
}

// Return the text for `ambit info`.
std::string about() {
  int version = 0, gpus = 0;
  check(ncclGetVersion(&version), "ncclGetVersion");
  const cudaError_t status = cudaGetDeviceCount(&gpus);
  std::string text =
      fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  if (status != cudaSuccess) text += fmt::format("; no GPU: {}", cudaGetErrorString(status));
  return text;
}

void load(Registry& registry) { registry.add_communicator("nccl", make, about()); }

}  // namespace
}  // namespace ambit::distributed::nccl

AMBIT_PLUGIN(nccl, ambit::distributed::nccl::load)
