// Helper for tests of error messages.
#pragma once

#include <ambit/error.h>

#include <string>

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Return the message of the exception that `f` throws.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const ambit::Error& e) {
    return e.what();
  }
  return "nothing thrown";
}
