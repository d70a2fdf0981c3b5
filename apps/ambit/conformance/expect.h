// Assertions of the runtime cases. A Failure states the call, the expected and the actual result.
#pragma once

#include <ambit/error.h>
#include <ambit/tensor.h>

#include <string>
#include <vector>

#include "bound.h"
#include "case.h"

namespace conformance {

inline void expect(bool holds, const std::string& text) {
  if (!holds) throw Failure(text);
}

/// Compare shape, dtype and every element on the host. NaN equals NaN, and floats may differ by
/// relative * |want| + absolute.
void expect_close(const std::string& what, const ambit::Tensor& got, const ambit::Tensor& want,
                  double relative, double absolute = 0);
void expect_same(const std::string& what, const ambit::Tensor& got, const ambit::Tensor& want);

/// Run `f`, which must throw E; return the error's message.
template <class E, class F>
std::string expect_throws(const std::string& what, const char* error, const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const Failure&) {
    throw;
  } catch (const std::exception& e) {
    throw Failure(what + ": expected " + error + ", got another error: " + e.what());
  }
  throw Failure(what + ": expected " + error + ", got no error");
}

/// Return a host tensor whose elements all differ from their neighbours and are exact in every
/// dtype.
ambit::Tensor numbers(ambit::IntArrayRef sizes, ambit::DType dtype = ambit::kFloat32);

/// Queue work of 64 MiB, which takes longer than the host's next few calls. A backend that then
/// omits a wait returns stale data, instead of the correct data by chance.
void keep_busy(ambit::Device device);

/// Return another device of the same kind. Errors: Skipped if there is only one.
ambit::Device other_index(ambit::Device device);

}  // namespace conformance
