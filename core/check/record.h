// Recording that does not affect the program.
#pragma once

#include <exception>

#include "recorder.h"

namespace ambit::check {

/// Call body(). If memory is lacking, the event is lost.
template <class Body>
void record(const Body& body) noexcept {
  try {
    body();
  } catch (const std::exception&) {
  }
}

}  // namespace ambit::check
