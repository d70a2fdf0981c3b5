// GPU time marks, for profiles.
#pragma once

#include <ambit/backend/backend.h>

#include <memory>

namespace ambit::cuda {

/// Record an event on the calling thread's current stream. Errors: BackendError.
std::unique_ptr<TimeMark> make_time_mark(int index);

}  // namespace ambit::cuda
