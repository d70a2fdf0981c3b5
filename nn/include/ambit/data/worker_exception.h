// WorkerException: what a worker of a loader threw, on the thread that asked for the batch.
#pragma once

#include <ambit/error.h>

#include <exception>
#include <string>

namespace ambit::data {

/// The worker's exception is kept: `std::rethrow_exception(e.original_exception)`.
struct AMBIT_API WorkerException : public Error {
  explicit WorkerException(std::exception_ptr original);
  WorkerException(const WorkerException&);
  ~WorkerException() override;

  std::exception_ptr original_exception;
};

}  // namespace ambit::data
