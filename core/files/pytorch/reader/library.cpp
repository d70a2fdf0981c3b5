#include <ambit/error.h>

#include <algorithm>

#include "core/files/pytorch/pickle.h"
#include "readers.h"

namespace ambit {
namespace {

PytorchContent read(const ByteSource& source, Device device, bool metadata) {
  constexpr size_t kBeginBytes = 2;  // of a zip file
  char begin[kBeginBytes] = {};
  source.read_all(begin, std::min<uint64_t>(kBeginBytes, source.size_bytes()), 0);
  const bool is_zip = begin[0] == 'P' && begin[1] == 'K';
  return is_zip ? read_zip(source, device, metadata) : read_legacy(source, device);
}

Value read_plain(std::string_view bytes) {
  return pickle::read(
      bytes, {[](const std::string&, const StorageType&, int64_t) -> Tensor {
        throw SerializationError(
            "expected no tensor of PyTorch in a pickle outside of an archive, got one");
      }});
}

}  // namespace
}  // namespace ambit

extern "C" AMBIT_API const void* ambit_zip() {
  static constexpr ambit::ZipLibrary kLibrary{ambit::open_zip, ambit::read, ambit::is_script_zip,
                                              ambit::read_plain};
  return &kLibrary;
}
