// Groups of cooperating ranks: processes started by a launcher such as mpirun, or threads of one
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

/// Default timeout of a collective, for groups and wait().
inline constexpr Milliseconds kDefaultTimeout = std::chrono::minutes(5);

/// A collective in progress. Its tensors hold the result after wait() returns; until then inputs
/// must not be written and outputs must not be read. If a Work is dropped without wait(), its
/// errors are lost, and so are results for non-host or non-contiguous tensors.
class AMBIT_API Work {
 public:
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Wait for completion; return true. The default timeout is the group's. Errors: DistributedError
  /// naming the collective and the ranks that have not joined within the timeout or have failed;
  /// then the group is unusable on all ranks.
  bool wait(std::optional<Milliseconds> timeout = {});
  /// Return whether it has ended, successfully or not, without waiting.
  bool is_completed();
  /// Return whether it has ended successfully, without waiting.
  bool is_success() { return is_completed() && !error_; }
  /// Return the exception that wait() threw or will throw, null if there is none.
  std::exception_ptr exception() const;
  /// Return the default timeout of wait().
  Milliseconds timeout() const { return timeout_; }
  /// Return the output tensors.
  std::vector<Tensor> result() const { return results_; }

 private:
  friend class ProcessGroup;
  Work() = default;
  bool finish_within(Milliseconds limit);
  std::string missing(Milliseconds limit) const;

  mutable std::mutex mutex_;
  std::shared_ptr<Communicator> communicator_;
  std::unique_ptr<Request> request_;  // null: completed
  std::function<void()> finish_;      // run on completion: copies to the output tensors
  std::vector<Tensor> results_;
  std::string what_;  // "allreduce"
  uint64_t number_ = 0;
  int peer_ = -1;  // for send and recv
  Milliseconds timeout_ = kDefaultTimeout;
  std::exception_ptr error_;
};

using WorkPtr = std::shared_ptr<Work>;

/// The ranks 0 ... size - 1, including this one. All ranks must start collectives in the same
/// order, with the same dtype, number of elements and options. Collectives return at once and may
/// be waited for in any order. Tensors may be on any device, one per call, with any strides; if the
/// communicator does not support the device, data is staged in pinned host memory. There are no
/// gradients. Errors of all: Error if a tensor is undefined or has the wrong size for this rank;
/// DTypeError; ShapeError; DeviceMismatchError; DistributedError after a failure. With
/// AMBIT_DISTRIBUTED_DEBUG=1 in the environment of all ranks, they first compare their arguments;
/// DistributedError states the difference. Thread safety: one thread at a time.
class AMBIT_API ProcessGroup {
 public:
  /// Use a connected communicator; init_process_group() and local_groups() make one.
  explicit ProcessGroup(std::shared_ptr<Communicator> communicator,
                        Milliseconds timeout = kDefaultTimeout);
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  /// Return the number of this rank, from 0.
  int rank() const { return communicator_->rank(); }
  /// Return the number of ranks.
  int size() const { return communicator_->size(); }
  /// c10d's name of rank().
  int getRank() const { return rank(); }
  /// c10d's name of size().
  int getSize() const { return size(); }
  /// Return the default timeout of collectives.
  Milliseconds timeout() const { return timeout_; }
  /// Set the default timeout of later collectives.
  void set_timeout(Milliseconds timeout) { timeout_ = timeout; }

  /// Copy root's tensor to all ranks.
  WorkPtr broadcast(const Tensor& tensor, int root = 0);
  /// Replace the tensor on all ranks by its sum over them, or the reduction `op`; results are
  /// bit-equal on all ranks. Integers wrap; the sum of bool is "or".
  WorkPtr allreduce(const Tensor& tensor, ReduceOp op = ReduceOp::SUM);
  /// As allreduce(), on root only; the other ranks keep their tensors.
  WorkPtr reduce(const Tensor& tensor, int root = 0, ReduceOp op = ReduceOp::SUM);
  /// outputs[r] = rank r's input, on all ranks.
  WorkPtr allgather(const std::vector<Tensor>& outputs, const Tensor& input);
  /// As allgather(), on root only; the other ranks pass no outputs.
  WorkPtr gather(const std::vector<Tensor>& outputs, const Tensor& input, int root = 0);
  /// output = root's inputs[rank]; the other ranks pass no inputs.
  WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root = 0);
  /// output = sum over ranks r of r's inputs[rank].
  WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                         ReduceOp op = ReduceOp::SUM);
  /// outputs[r] = rank r's inputs[rank]. All have the same size.
  WorkPtr alltoall(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);
  /// Send to one rank, which must call recv() with the same number of elements, dtype and tag.
  /// Messages with equal tags arrive in the order in which they were sent.
  WorkPtr send(const Tensor& tensor, int destination, int tag = 0);
  /// Receive from one rank, which calls send(); the tensor is overwritten.
  WorkPtr recv(const Tensor& tensor, int source, int tag = 0);
  /// Completes when all ranks have called it.
  WorkPtr barrier();

  /// Create a group of some of the ranks, in this order; all ranks of this group must call it.
  /// Returns null on ranks that are not members. Errors: Error for a rank that does not exist or is
  /// listed twice.
  std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks);
  /// End the group on all ranks: pending waits, on other ranks too, throw DistributedError with the
  /// reason.
  void abort(const std::string& reason) noexcept;

 private:
  struct Call;
  WorkPtr start(const Call& call);
  WorkPtr begin(const Call& call);
  void compare(const Call& call);

  std::shared_ptr<Communicator> communicator_;
  Milliseconds timeout_;
  uint64_t number_ = 0;  // number of collectives started
  bool compares_;
};

/// Options of init_process_group.
struct ProcessGroupOptions {
  Milliseconds timeout = kDefaultTimeout;  ///< timeout of collectives, 5 minutes
  Device device = {};  ///< device of this rank, for communicators that are bound to one
};

/// Connect to the other processes of the launcher, over "mpi" or another installed communicator,
/// and make them the default group; "local": a group of only this process. If RANK and WORLD_SIZE
/// are set, they must equal the communicator's values; they are not used to connect. Errors: Error
/// if the communicator does not exist or there is a default group already; DistributedError. A
/// process that MPI does not connect to all others within the timeout prints that and exits.
AMBIT_API std::shared_ptr<ProcessGroup> init_process_group(const std::string& communicator = "mpi",
                                                           const ProcessGroupOptions& options = {});
/// Return whether there is a default group.
AMBIT_API bool is_initialized();
/// Return the default group. Errors: Error if there is none.
AMBIT_API std::shared_ptr<ProcessGroup> default_group();
/// Leave the default group. Over MPI this waits until all ranks have left.
AMBIT_API void destroy_process_group();
/// Return this process's index among those on its machine, from mpirun, srun or LOCAL_RANK, for
/// choosing a device; 0 if none of them sets it.
AMBIT_API int local_rank();

/// Create groups of `size` ranks in this process, for as many threads; element r is rank r's group.
/// Errors: Error for a size below 1.
AMBIT_API std::vector<std::shared_ptr<ProcessGroup>> local_groups(
    int size, Milliseconds timeout = kDefaultTimeout);
/// Run `body` in `size` threads, each with its rank's group. When all have ended, throw the first
/// rank's exception, a DistributedError only if no rank threw anything else.
AMBIT_API void run_local(int size, const std::function<void(std::shared_ptr<ProcessGroup>)>& body,
                         Milliseconds timeout = kDefaultTimeout);

}  // namespace ambit::distributed
