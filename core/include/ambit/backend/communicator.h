// Communicator: memory exchange between the ranks of a process group. With plugin.h this is all
// that a communicator library, such as libambit_mpi.so, implements. ProcessGroup
// (ambit/distributed/process_group.h) handles tensors, views, memory of other devices, checks and
// timeouts, so that a communicator sees only contiguous memory.
#pragma once

#include <ambit/device.h>
#include <ambit/dtype.h>
#include <ambit/error.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ambit::distributed {

/// The unit of timeouts.
using Milliseconds = std::chrono::milliseconds;

/// A failure between ranks: one is missing, has failed, or runs another collective. The group is
/// unusable afterwards.
class AMBIT_API DistributedError : public Error {
 public:
  /// An error with this message.
  using Error::Error;
  /// Copy the message.
  DistributedError(const DistributedError&);
  ~DistributedError() override;
};

/// The exchanges of memory between ranks; Transfer lists their operands.
enum class Collective : int8_t {
  broadcast,       ///< root's elements to all ranks
  allreduce,       ///< the reduction of all ranks' elements to all ranks
  reduce,          ///< the reduction of all ranks' elements to root
  allgather,       ///< all ranks' elements to all ranks
  reduce_scatter,  ///< the reduction, one piece to each rank
  alltoall,        ///< one piece from each rank to each rank
  gather,          ///< all ranks' elements to root
  scatter,         ///< one piece from root to each rank
  barrier,         ///< no elements: complete when all ranks have started it
  send,            ///< point to point: elements to one rank
  recv,            ///< point to point: elements from one rank
};
/// Return the name as in ProcessGroup: "allreduce".
AMBIT_API const char* name(Collective c);
/// Return true for collectives that use a ReduceOp.
constexpr bool is_reduction(Collective c) {
  return c == Collective::allreduce || c == Collective::reduce || c == Collective::reduce_scatter;
}
/// Return true for send and recv.
constexpr bool is_between_two(Collective c) {
  return c == Collective::send || c == Collective::recv;
}

/// Reduction of elements across ranks; as in c10d.
enum class ReduceOp : int8_t {
  SUM,      ///< integers wrap; "or" for bool
  AVG,      ///< SUM divided by the number of ranks: floats only; communicators never get it
  PRODUCT,  ///< integers wrap; "and" for bool
  MIN,      ///< the smallest
  MAX,      ///< the largest
  BAND,     ///< bitwise and: integers and bool
  BOR,      ///< bitwise or: integers and bool
  BXOR,     ///< bitwise xor: integers and bool
};
/// Return the name of the enumerator: "SUM".
AMBIT_API const char* name(ReduceOp op);

/// Reduce `count` elements at `from` into those at `into`. For bool, SUM is "or" and PRODUCT "and";
/// integers wrap.
AMBIT_API void combine(ReduceOp op, DType dtype, void* into, const void* from, int64_t count);

/// One rank's part in a collective. `count` is the number of elements of one rank; `in` or `out` of
/// size * count elements has one part for each rank, in rank order.
///   broadcast, allreduce, reduce   in == out, count: root's elements; every rank's result; root's
///   allgather, gather              in: count; out: size * count, for gather on root only
///   reduce_scatter, scatter        in: size * count, for scatter on root only; out: count
///   alltoall                       in, out: size * count
///   send, recv                     in; out: count
struct Transfer {
  Collective what = Collective::barrier;  ///< the kind of exchange
  ReduceOp op = ReduceOp::SUM;            ///< operation of a reduction
  DType dtype = kUInt8;      ///< never float16 or bfloat16 for reductions in host memory
  const void* in = nullptr;  ///< memory that is read, see above
  void* out = nullptr;       ///< memory that is written, see above
  int64_t count = 0;         ///< number of elements of one rank
  int peer = 0;              ///< root; for send and recv the other rank
  int tag = 0;               ///< tag of send and recv
  /// Keeps the memory alive as long as the transfer, even after its caller has returned.
  std::shared_ptr<void> memory = {};
};

/// A transfer in progress.
class AMBIT_API Request {
 public:
  virtual ~Request();
  /// Wait for completion; return false on timeout, true if complete. Errors: DistributedError if
  /// the transfer cannot complete.
  virtual bool wait(Milliseconds limit) = 0;
};

/// A rank that has not entered a collective.
struct Absence {
  int rank = 0;        ///< its number in the group
  std::string reason;  ///< "has entered 3 collectives", "does not answer"
};

/// One rank's membership in a group. All ranks start the same collectives in the same order, from
/// one thread at a time; requests may be waited for in any order.
class AMBIT_API Communicator {
 public:
  virtual ~Communicator();       ///< leaves the group: ranks waiting for this one get an error
  virtual int rank() const = 0;  ///< this process's number, from 0
  virtual int size() const = 0;  ///< number of ranks
  /// Return the device of the memory of transfers: cpu, or this rank's device.
  virtual Device device() const { return Device(); }
  /// Return true if memory of `d` can be passed directly for such a transfer (whose pointers are
  /// not set yet); otherwise it is copied through host memory, even for a communicator of a device.
  /// For a communicator of the cpu, work on the memory is complete. A communicator of a device gets
  /// its memory while work on it may be queued; it must order its own stream after that work, and
  /// later work after its stream.
  virtual bool takes(Device d, const Transfer&) const { return d == device(); }

  /// Start this rank's part of a collective; the memory belongs to it until it is complete. Errors:
  /// DistributedError for an aborted group.
  virtual std::unique_ptr<Request> start(const Transfer& transfer) = 0;
  /// Return the ranks that have not entered collective number `number` (from 1 on, in the order of
  /// start(); send and recv do not count), as far as can be determined within `limit`.
  virtual std::vector<Absence> absent(uint64_t number, Milliseconds limit) = 0;
  /// Create the subgroup of these ranks, in their order; null if this rank is not one of them. A
  /// collective of all ranks of this group.
  virtual std::unique_ptr<Communicator> split(std::span<const int> ranks) = 0;
  /// Abort the group: waiting calls, here and on other ranks, throw DistributedError with `reason`.
  virtual void abort(const std::string& reason) noexcept = 0;
};

/// Options of a program, overridden by its launcher.
struct CommunicatorOptions {
  Milliseconds timeout;  ///< after which a waiting rank gives up
  Device device;         ///< this rank's device
};
/// Create a communicator of all ranks. Errors: DistributedError.
using CommunicatorFactory = std::unique_ptr<Communicator> (*)(const CommunicatorOptions& options);

/// Return the factory of communicators of that name, from libambit_<name>.so in $AMBIT_BACKEND_PATH
/// or `<libdir>/ambit/communicators`. Errors: Error listing the available ones and the load
/// failures.
AMBIT_API CommunicatorFactory find_communicator(const std::string& name);
/// Load the plugins of `<libdir>/ambit/communicators` not tried yet; results are in load_report().
AMBIT_API void load_all_communicators() noexcept;

}  // namespace ambit::distributed
