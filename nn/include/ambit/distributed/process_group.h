// Ranks that work together: processes that a launcher such as mpirun has started, or threads of one
// process. Names are those of torch.distributed and c10d.
//   auto group = distributed::init_process_group("mpi");
//   group->allreduce(gradient)->wait();
#pragma once

#include <ambit/backend/communicator.h>
#include <ambit/tensor.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ambit::distributed {

/// How long a collective waits for the other ranks, unless a group or a wait() says otherwise.
inline constexpr Milliseconds kDefaultTimeout = std::chrono::minutes(5);

/// A collective that was begun. The tensors hold its result when wait() has returned; until then
/// they must not be written, and those that it fills not be read. Who drops a Work unawaited never
/// sees its errors, nor, of tensors on other devices or with gaps, its result.
class AMBIT_API Work {
 public:
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Wait for the end; return true. The timeout is the group's, unless given.
  /// Errors: DistributedError naming the collective and the ranks that have not come to it within
  /// the timeout, or have failed; then the group is of no use any more, on all ranks.
  bool wait(std::optional<Milliseconds> timeout = {});
  /// Return whether it has ended, well or not, without waiting.
  bool is_completed();
  bool is_success() { return is_completed() && !error_; }
  /// Return the error that wait() threw or will throw, null where there is none.
  std::exception_ptr exception() const;
  Milliseconds timeout() const { return timeout_; }
  /// Return the tensors that it fills.
  std::vector<Tensor> result() const { return results_; }

 private:
  friend class ProcessGroup;
  Work() = default;
  bool finish_within(Milliseconds limit);
  std::string missing(Milliseconds limit) const;

  mutable std::mutex mutex_;
  std::shared_ptr<Communicator> communicator_;
  std::unique_ptr<Request> request_;  // null: done
  std::function<void()> finish_;      // what is left to do then: copies to where the results go
  std::vector<Tensor> results_;
  std::string what_;  // "allreduce"
  uint64_t number_ = 0;
  int peer_ = -1;  // of send and recv
  Milliseconds timeout_ = kDefaultTimeout;
  std::exception_ptr error_;
};

using WorkPtr = std::shared_ptr<Work>;

/// The ranks 0 ... size - 1, one of them this. Collectives are begun on all ranks in the same
/// order, with the same dtype, number of elements and options, and return at once; what was begun
/// is waited for in any order. Tensors may be on any device and have any strides, those of one call
/// on one device; what a communicator does not take goes through host memory (pinned), and there is
/// no gradient of any of it. Errors of all: Error where a tensor is undefined, or not of this
/// rank's share; DTypeError; ShapeError; DeviceMismatchError; DistributedError after a failure.
/// With AMBIT_DISTRIBUTED_DEBUG=1 in the environment of all ranks they first compare what they were
/// called with; DistributedError says what differs. Thread safety: one thread at a time.
class AMBIT_API ProcessGroup {
 public:
  explicit ProcessGroup(std::shared_ptr<Communicator> communicator,
                        Milliseconds timeout = kDefaultTimeout);
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  int getRank() const { return rank(); }
  int getSize() const { return size(); }
  Milliseconds timeout() const { return timeout_; }
  void set_timeout(Milliseconds timeout) { timeout_ = timeout; }

  /// Give all ranks root's tensor.
  WorkPtr broadcast(const Tensor& tensor, int root = 0);
  /// Replace the tensor on all ranks by its sum, or what else `op` says, over them: bit-equal
  /// everywhere. Integers wrap; of bool the sum is "or".
  WorkPtr allreduce(const Tensor& tensor, ReduceOp op = ReduceOp::SUM);
  /// The same on root alone; the others keep theirs.
  WorkPtr reduce(const Tensor& tensor, int root = 0, ReduceOp op = ReduceOp::SUM);
  /// outputs[r] = rank r's input, on all ranks.
  WorkPtr allgather(const std::vector<Tensor>& outputs, const Tensor& input);
  /// The same on root; the others pass no outputs.
  WorkPtr gather(const std::vector<Tensor>& outputs, const Tensor& input, int root = 0);
  /// output = root's inputs[rank]; the others pass no inputs.
  WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root = 0);
  /// output = sum over ranks r of r's inputs[rank].
  WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                         ReduceOp op = ReduceOp::SUM);
  /// outputs[r] = rank r's inputs[rank]. All are of one size.
  WorkPtr alltoall(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);
  /// Send to one rank, which receives a tensor of as many elements and this dtype and tag. Messages
  /// of one tag arrive in the order in which they were sent.
  WorkPtr send(const Tensor& tensor, int destination, int tag = 0);
  WorkPtr recv(const Tensor& tensor, int source, int tag = 0);
  /// Done when all ranks have come to it.
  WorkPtr barrier();

  /// Make the group of some of the ranks, in this order; all ranks of this group call it. Null on
  /// those that are not among them. Errors: Error for a rank that is not there or there twice.
  std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks);
  /// End the group on all ranks: what waits, there too, throws DistributedError with the reason.
  void abort(const std::string& reason) noexcept;

 private:
  struct Call;
  WorkPtr start(const Call& call);
  WorkPtr begin(const Call& call);
  void compare(const Call& call);

  std::shared_ptr<Communicator> communicator_;
  Milliseconds timeout_;
  uint64_t number_ = 0;  // of collectives begun
  bool compares_;
};

struct ProcessGroupOptions {
  Milliseconds timeout = kDefaultTimeout;
  Device device = {};  ///< that this rank computes on, for communicators that are bound to one
};

/// Begin to work with the other processes that the launcher has started, over "mpi" or
/// another communicator that is installed, and make all of them the default group; "local": a group
/// of this process alone. Where RANK and WORLD_SIZE are set they must agree with what the
/// communicator finds; they connect nobody. Errors: Error where there is no such communicator, or a
/// group already; DistributedError. A process that MPI does not connect to all others within the
/// timeout says so and ends.
AMBIT_API std::shared_ptr<ProcessGroup> init_process_group(const std::string& communicator = "mpi",
                                                           const ProcessGroupOptions& options = {});
AMBIT_API bool is_initialized();
/// Return the default group. Errors: Error where there is none.
AMBIT_API std::shared_ptr<ProcessGroup> default_group();
/// Leave the default group; the others wait for those that have not.
AMBIT_API void destroy_process_group();
/// Return this process's number among those on its machine, as mpirun, srun or LOCAL_RANK says, to
/// choose a device by; 0 where nobody does.
AMBIT_API int local_rank();

/// Make groups of `size` ranks in this process, one for each of as many threads; element r is rank
/// r's. Errors: Error for a size below 1.
AMBIT_API std::vector<std::shared_ptr<ProcessGroup>> local_groups(
    int size, Milliseconds timeout = kDefaultTimeout);
/// Run `body` in `size` threads, each with its rank's group. When all have ended, throw what the
/// first of them threw, a DistributedError only where no rank threw anything else.
AMBIT_API void run_local(int size, const std::function<void(std::shared_ptr<ProcessGroup>)>& body,
                         Milliseconds timeout = kDefaultTimeout);

}  // namespace ambit::distributed
