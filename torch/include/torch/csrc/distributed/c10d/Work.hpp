// c10d::Work: an ambit::distributed::Work under c10d's names.
#pragma once

#include <ambit/distributed/process_group.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

/// The timeout of the collective's options, or of the group.
inline constexpr std::chrono::milliseconds kNoTimeout{0};

namespace c10d {

/// A collective that was started. Errors: those of ambit::distributed::Work.
class Work {
 public:
  /// `timeout` is that of the collective's options, `source` the rank from which it receives.
  explicit Work(ambit::distributed::WorkPtr work, std::chrono::milliseconds timeout = kUnsetTimeout,
                int source = -1)
      : work_(std::move(work)), timeout_(timeout), source_(source) {}

  bool wait(std::chrono::milliseconds timeout = kNoTimeout) {
    if (timeout == kNoTimeout) timeout = timeout_;
    return timeout == kUnsetTimeout ? work_->wait() : work_->wait(timeout);
  }
  void synchronize() { wait(); }
  bool isCompleted() { return work_->is_completed(); }
  bool isSuccess() const { return work_->is_success(); }
  std::exception_ptr exception() const { return work_->exception(); }
  std::vector<ambit::Tensor> result() { return work_->result(); }
  /// Errors: Error if the work does not receive.
  int sourceRank() const {
    if (source_ < 0) throw ambit::Error("sourceRank: expected the work of a recv, got another");
    return source_;
  }

 private:
  ambit::distributed::WorkPtr work_;
  std::chrono::milliseconds timeout_;
  int source_;
};

}  // namespace c10d
