// What the tests look at in errors.
#pragma once

#include <ambit/error.h>

#include <string>

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The text of what `f` throws.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const ambit::Error& e) {
    return e.what();
  }
  return "nothing thrown";
}
