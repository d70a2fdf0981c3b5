// Prints tensors of any numbers, shapes and strides. The input: dtype, dims, sizes, order, bytes.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <ambit/tensor.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>

using namespace ambit;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr DType kTypes[] = {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64};
  constexpr int64_t kMostElements = 5000;
  if (size < 8) return 0;
  const DType dtype = kTypes[data[0] % 8];
  Dims sizes;
  int64_t numel = 1;
  for (size_t d = 0; d < data[1] % 5u; ++d) {
    sizes.push_back(data[2 + d] % 40);
    numel *= sizes.back();
  }
  if (numel > kMostElements) return 0;
  Tensor t = zeros(sizes, dtype);
  const size_t bytes = std::min(size - 8, t.nbytes());
  auto* to = static_cast<uint8_t*>(t.data_ptr());
  std::copy_n(data + 8, bytes, to);
  if (dtype == kBool) std::for_each(to, to + bytes, [](uint8_t& b) { b &= 1; });
  if (t.dim() > 1 && data[6] % 2) t = t.transpose(0, t.dim() - 1);
  std::ostringstream text;
  text << t;
  if (text.str().empty()) std::abort();
  return 0;
}
