// How the ranks of a process group exchange memory: with plugin.h all that a communicator, such as
// libambit_mpi.so, supplies. Tensors, views, other devices' memory, checks and waiting with a limit
// are ProcessGroup's (ambit/distributed/process_group.h), so that a communicator sees nothing but
// contiguous memory.
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

using Milliseconds = std::chrono::milliseconds;

/// What went wrong between ranks: one is missing, has failed, or does something else. The group is
/// of no use any more.
class AMBIT_API DistributedError : public Error {
 public:
  using Error::Error;
  DistributedError(const DistributedError&);
  ~DistributedError() override;
};

enum class Collective : int8_t {
  broadcast,
  allreduce,
  reduce,
  allgather,
  reduce_scatter,
  alltoall,
  gather,
  scatter,
  barrier,
  // Between two ranks.
  send,
  recv,
};
/// Return the name as in ProcessGroup: "allreduce".
AMBIT_API const char* name(Collective c);
constexpr bool is_reduction(Collective c) {
  return c == Collective::allreduce || c == Collective::reduce || c == Collective::reduce_scatter;
}
constexpr bool is_between_two(Collective c) {
  return c == Collective::send || c == Collective::recv;
}

/// How elements of the ranks become one; as c10d's. AVG: of floating-point tensors; communicators
/// never see it.
enum class ReduceOp : int8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR };
AMBIT_API const char* name(ReduceOp op);

/// Combine `count` elements at `from` into those at `into`. Of bool SUM is "or", PRODUCT "and";
/// integers wrap.
AMBIT_API void combine(ReduceOp op, DType dtype, void* into, const void* from, int64_t count);

/// One rank's part in a collective. `count` elements are one rank's share: where each rank has a
/// piece for each other one, the pieces lie in `in` or `out` by rank, size * count elements.
///   broadcast, allreduce, reduce   in == out, count: root's elements; the result of all; of root
///   allgather, gather              in: count; out: size * count, of gather on root only
///   reduce_scatter, scatter        in: size * count, of scatter on root only; out: count
///   alltoall                       in, out: size * count
///   send, recv                     in; out: count
struct Transfer {
  Collective what = Collective::barrier;
  ReduceOp op = ReduceOp::SUM;
  DType dtype = kUInt8;  ///< of reductions in host memory never float16 and bfloat16
  const void* in = nullptr;
  void* out = nullptr;
  int64_t count = 0;
  int peer = 0;  ///< root; of send and recv the other rank
  int tag = 0;   ///< of send and recv
  /// Holds the memory. It lives as long as the transfer does, whatever becomes of who began it.
  std::shared_ptr<void> memory = {};
};

/// A transfer that was begun.
class AMBIT_API Request {
 public:
  virtual ~Request();
  /// Wait for its end; return false where it has not come by then, true at once where it has.
  /// Errors: DistributedError, for one that will never end.
  virtual bool wait(Milliseconds limit) = 0;
};

/// A rank that has not come to a collective.
struct Absence {
  int rank = 0;
  std::string reason;  ///< "has come to 3 collectives", "does not answer"
};

/// One rank's place among others. All ranks begin the same collectives in the same order, from one
/// thread at a time; requests may be waited for in any order.
class AMBIT_API Communicator {
 public:
  virtual ~Communicator();  ///< leaves the group: who waits for this rank gets an error
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Return where the memory of transfers is: cpu, or the one device that this rank works with.
  virtual Device device() const { return Device(); }
  /// Return whether memory of `d` is handed over as it is for such a transfer (whose memory is not
  /// known yet); else it goes through host memory, also to a communicator of a device. Work on what
  /// a communicator of the cpu gets is done by then. A communicator of a device gets its memory
  /// while work on it may be queued, and orders its stream behind that itself, and what follows
  /// behind its stream.
  virtual bool takes(Device d, const Transfer&) const { return d == device(); }

  virtual std::unique_ptr<Request> start(const Transfer& transfer) = 0;
  /// Return the ranks that have not come to collective number `number` (from 1 on, in the order of
  /// start(); send and recv do not count), as far as can be known within `limit`.
  virtual std::vector<Absence> absent(uint64_t number, Milliseconds limit) = 0;
  /// Make the group of these ranks of this one, in their order; null where this rank is not among
  /// them. Counts as a collective of all.
  virtual std::unique_ptr<Communicator> split(std::span<const int> ranks) = 0;
  /// End the group: what waits, here and on other ranks, throws DistributedError with this reason.
  virtual void abort(const std::string& reason) noexcept = 0;
};

/// What a program asks for, of what its launcher says otherwise.
struct CommunicatorOptions {
  Milliseconds timeout;
  Device device;  ///< that this rank works with
};
/// Make a communicator of all ranks. Errors: DistributedError.
using CommunicatorFactory = std::unique_ptr<Communicator> (*)(const CommunicatorOptions& options);

/// Return what makes communicators of that name, from libambit_<name>.so in $AMBIT_BACKEND_PATH or
/// <libdir>/ambit/communicators. Errors: Error naming those there are and what was refused.
AMBIT_API CommunicatorFactory find_communicator(const std::string& name);
/// Load every plugin of <libdir>/ambit/communicators that was not tried yet; load_report() has what
/// came of it.
AMBIT_API void load_all_communicators() noexcept;

}  // namespace ambit::distributed
