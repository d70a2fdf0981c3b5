// Transfers between GPUs, one a rank, on a stream of their own. Ranks find each other over MPI,
// which also says who has come: each transfer has a barrier there that nobody waits for in vain.
#include <ambit/backend/plugin.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "library.h"

namespace ambit::distributed::nccl {
namespace {

using Milliseconds = std::chrono::milliseconds;

// How NCCL counts what has no arithmetic of its own: in bytes. None where it cannot be reduced.
struct Type {
  ncclDataType_t type;
  size_t per_element;
};

Type moved(DType dtype) { return {ncclUint8, element_size(dtype)}; }

Type reduced(DType dtype) {
  switch (dtype) {
    case kBool:
    case kUInt8:
      return {ncclUint8, 1};
    case kInt8:
      return {ncclInt8, 1};
    case kInt32:
      return {ncclInt32, 1};
    case kInt64:
      return {ncclInt64, 1};
    case kFloat16:
      return {ncclFloat16, 1};
    case kBFloat16:
      return {ncclBfloat16, 1};
    case kFloat32:
      return {ncclFloat32, 1};
    case kFloat64:
      return {ncclFloat64, 1};
    case kInt16:
      break;
  }
  throw NotImplementedError(
      fmt::format("nccl: expected a dtype that NCCL reduces, got {}", ambit::name(dtype)));
}

ncclRedOp_t op_of(ReduceOp op, DType dtype) {
  const bool is_bool = dtype == kBool;  // as uint8 of 0 and 1
  const bool is_or = op == ReduceOp::SUM || op == ReduceOp::BOR || op == ReduceOp::MAX;
  if (is_bool && op != ReduceOp::BXOR) return is_or ? ncclMax : ncclMin;
  switch (op) {
    case ReduceOp::SUM:
      return ncclSum;
    case ReduceOp::PRODUCT:
      return ncclProd;
    case ReduceOp::MIN:
      return ncclMin;
    case ReduceOp::MAX:
      return ncclMax;
    default:
      throw NotImplementedError(
          fmt::format("nccl: expected SUM, PRODUCT, MIN, MAX or AVG, got {}", name(op)));
  }
}

class NcclRequest final : public Request {
 public:
  NcclRequest(ncclComm_t comm, cudaEvent_t event, std::unique_ptr<Request> barrier,
              std::shared_ptr<void> memory)
      : comm_(comm), event_(event), barrier_(std::move(barrier)), memory_(std::move(memory)) {}
  ~NcclRequest() override {
    if (event_) library().EventDestroy(event_);
    // What may still be written to lives on.
    if (!is_done_) static_cast<void>(new std::shared_ptr<void>(memory_));
  }
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
    if (!event_) return is_done_ = true;
    ncclResult_t behind = ncclSuccess;
    check(library().CommGetAsyncError(comm_, &behind), "ncclCommGetAsyncError");
    check(behind, "nccl");
    const cudaError_t status = library().EventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    check(status, "cudaEventQuery");
    return is_done_ = true;
  }

  ncclComm_t comm_;
  cudaEvent_t event_;  // null: nothing but the barrier
  std::unique_ptr<Request> barrier_;
  std::shared_ptr<void> memory_;
  bool is_done_ = false;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> host, Device device, Milliseconds timeout)
      : host_(std::move(host)), device_(device), timeout_(timeout) {
    const auto id = std::make_shared<ncclUniqueId>();
    if (rank() == 0) check(library().GetUniqueId(id.get()), "ncclGetUniqueId");
    const auto sent = host_->start({.what = Collective::broadcast,
                                    .in = id.get(),
                                    .out = id.get(),
                                    .count = sizeof(ncclUniqueId),
                                    .memory = id});
    if (!sent->wait(timeout)) {
      throw DistributedError("nccl: expected all ranks to make a group, got not all of them");
    }
    ++host_only_;
    activate();
    check(library().CommInitRank(&comm_, size(), *id, rank()), "ncclCommInitRank");
    check(library().StreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
  }
  ~NcclCommunicator() override {
    library().SetDevice(device_.index());
    is_aborted_ ? library().CommAbort(comm_) : library().CommDestroy(comm_);
    library().StreamDestroy(stream_);
  }
  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  Device device() const override { return device_; }

  std::unique_ptr<Request> start(const Transfer& t) override {
    const bool is_between_two = t.what == Collective::send || t.what == Collective::recv;
    if (t.what == Collective::allreduce || t.what == Collective::reduce ||
        t.what == Collective::reduce_scatter) {
      static_cast<void>(std::pair(reduced(t.dtype), op_of(t.op, t.dtype)));  // throw before all
    }
    std::unique_ptr<Request> barrier;
    if (!is_between_two) barrier = host_->start({});
    cudaEvent_t event = nullptr;
    if (t.what != Collective::barrier && t.count > 0) {
      activate();
      launch(t);
      check(library().EventCreateWithFlags(&event, cudaEventDisableTiming),
            "cudaEventCreateWithFlags");
      check(library().EventRecord(event, stream_), "cudaEventRecord");
    }
    return std::make_unique<NcclRequest>(comm_, event, std::move(barrier), t.memory);
  }
  std::vector<Absence> absent(uint64_t number, Milliseconds limit) override {
    return host_->absent(number + host_only_, limit);
  }
  std::unique_ptr<Communicator> split(std::span<const int> ranks) override {
    std::unique_ptr<Communicator> part = host_->split(ranks);
    if (!part) return nullptr;
    return std::make_unique<NcclCommunicator>(std::move(part), device_, timeout_);
  }
  void abort(const std::string& reason) noexcept override {
    is_aborted_ = true;
    host_->abort(reason);
  }

 private:
  void activate() const { check(library().SetDevice(device_.index()), "cudaSetDevice"); }
  void launch(const Transfer& t);
  void exchange(const Transfer& t);

  std::unique_ptr<Communicator> host_;
  const Device device_;
  const Milliseconds timeout_;
  uint64_t host_only_ = 0;  // collectives of the host's that are none of this one's
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  bool is_aborted_ = false;
};

// What NCCL has as sends and receives in one group.
void NcclCommunicator::exchange(const Transfer& t) {
  const Library& l = library();
  const auto at = [&](const void* base, int r) {
    return const_cast<char*>(static_cast<const char*>(base)) +
           static_cast<size_t>(r) * static_cast<size_t>(t.count) * element_size(t.dtype);
  };
  const size_t bytes = static_cast<size_t>(t.count) * element_size(t.dtype);
  const bool is_root = rank() == t.peer;
  check(l.GroupStart(), "ncclGroupStart");
  for (int r = 0; r < size(); ++r) {
    const bool all = t.what == Collective::alltoall, gathers = t.what == Collective::gather;
    const bool sends = all || (gathers ? r == t.peer : is_root);
    const bool receives = all || (gathers ? is_root : r == t.peer);
    if (sends) {
      check(l.Send(gathers ? t.in : at(t.in, r), bytes, ncclUint8, r, comm_, stream_), "ncclSend");
    }
    if (receives) {
      check(l.Recv(all || gathers ? at(t.out, r) : t.out, bytes, ncclUint8, r, comm_, stream_),
            "ncclRecv");
    }
  }
  check(l.GroupEnd(), "ncclGroupEnd");
}

void NcclCommunicator::launch(const Transfer& t) {
  const Library& l = library();
  const auto count = static_cast<size_t>(t.count);
  const Type bytes = moved(t.dtype);
  switch (t.what) {
    case Collective::broadcast:
      return check(
          l.Broadcast(t.in, t.out, count * bytes.per_element, bytes.type, t.peer, comm_, stream_),
          "ncclBroadcast");
    case Collective::allreduce:
      return check(l.AllReduce(t.in, t.out, count, reduced(t.dtype).type, op_of(t.op, t.dtype),
                               comm_, stream_),
                   "ncclAllReduce");
    case Collective::reduce:
      return check(l.Reduce(t.in, t.out, count, reduced(t.dtype).type, op_of(t.op, t.dtype), t.peer,
                            comm_, stream_),
                   "ncclReduce");
    case Collective::reduce_scatter:
      return check(l.ReduceScatter(t.in, t.out, count, reduced(t.dtype).type, op_of(t.op, t.dtype),
                                   comm_, stream_),
                   "ncclReduceScatter");
    case Collective::allgather:
      return check(l.AllGather(t.in, t.out, count * bytes.per_element, bytes.type, comm_, stream_),
                   "ncclAllGather");
    case Collective::send:
      return check(l.Send(t.in, count * bytes.per_element, bytes.type, t.peer, comm_, stream_),
                   "ncclSend");
    case Collective::recv:
      return check(l.Recv(t.out, count * bytes.per_element, bytes.type, t.peer, comm_, stream_),
                   "ncclRecv");
    default:
      return exchange(t);
  }
}

std::unique_ptr<Communicator> make(const CommunicatorOptions& options) {
  if (!options.device.is_cuda()) {
    throw Error(fmt::format(
        "init_process_group: expected a cuda device in ProcessGroupOptions for nccl, got {}",
        options.device.str()));
  }
  library();  // before other ranks are kept waiting
  return std::make_unique<NcclCommunicator>(find_communicator("mpi")(options), options.device,
                                            options.timeout);
}

void load(Registry& registry) {
  std::string about =
      fmt::format("for NCCL {}.{} and CUDA {}; both are opened when a group is made", NCCL_MAJOR,
                  NCCL_MINOR, CUDART_VERSION / 1000);
  if (device_count("cuda") == 0) about += "; there is no GPU";
  registry.add_communicator("nccl", make, std::move(about));
}

}  // namespace
}  // namespace ambit::distributed::nccl

AMBIT_PLUGIN(nccl, ambit::distributed::nccl::load)
