// Marks of a GPU's time, for profiles.
#pragma once

#include <ambit/backend/backend.h>

#include <memory>

namespace ambit::cuda {

/// Record an event on the stream that the calling thread works on. Errors: BackendError.
std::unique_ptr<TimeMark> make_time_mark(int index);

}  // namespace ambit::cuda
