// WorkerException: an exception of a loader's worker, rethrown on the thread that requested the
// batch.
#pragma once

#include <ambit/error.h>

#include <exception>
#include <string>

namespace ambit::data {

/// Holds the worker's exception: `std::rethrow_exception(e.original_exception)`.
struct AMBIT_API WorkerException : public Error {
  /// Hold an exception and its message.
  explicit WorkerException(std::exception_ptr original);
  WorkerException(const WorkerException&);
  ~WorkerException() override;

  std::exception_ptr original_exception;  ///< the worker's exception
};

}  // namespace ambit::data
