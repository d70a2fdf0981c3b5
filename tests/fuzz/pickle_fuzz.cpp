// A pickle, without the zip format, whose checksum would reject most inputs: an error, or a value
// that can be written and read again, and is not longer when written a second time.
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <string>

#include "core/files/pytorch/pickle.h"

using namespace ambit;

namespace {

// Every storage exists with the declared length, up to a limit.
Tensor storage(const std::string&, const StorageType& type, int64_t numel) {
  if (!type.dtype) return {};
  constexpr int64_t kMost = 1000;
  if (numel < 0 || numel > kMost) throw SerializationError("too long for this test");
  return zeros({numel}, *type.dtype);
}

pickle::Place place(const Tensor& t) {
  return {"0", t.storage_offset() + t.numel(), t.storage_offset(), Dims(t.strides())};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string program(reinterpret_cast<const char*>(data), size);
  Value value;
  try {
    value = pickle::read(program, {storage});
  } catch (const SerializationError&) {
    return 0;
  }
  std::string written;
  try {
    written = pickle::write(value, place);
    value = pickle::read(written, {storage});
  } catch (const SerializationError&) {  // views beyond this limit
    return 0;
  }
  if (pickle::write(value, place).size() > written.size()) std::abort();
  return 0;
}
