// STD_TORCH_CHECK(condition, text...): throw a std::runtime_error if the condition is false.
#pragma once

#include <c10/util/Exception.h>

#include <stdexcept>

#define STD_TORCH_CHECK(condition, ...)                                      \
  do {                                                                       \
    if (!(condition)) [[unlikely]] {                                         \
      throw ::std::runtime_error(                                            \
          ::c10::detail::check_text(#condition __VA_OPT__(, ) __VA_ARGS__)); \
    }                                                                        \
  } while (false)
