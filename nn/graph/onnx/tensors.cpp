// Source of the format: onnx.proto of ONNX 1.23, and its docs/ExternalData.md.
#include "tensors.h"

#include <ambit/detail/printable.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "core/files/input_file.h"
#include "nn/graph/lacking.h"

namespace ambit::graph::onnx {
namespace {

constexpr int kMostDims = 64;
constexpr int kExternal = 1;  // TensorProto.DataLocation

int64_t number(const std::string& text, const char* what, const std::string& name) {
  int64_t out = -1;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, out).ptr != end || out < 0) {
    fail("expected a number as the {} of '{}', got '{}'", what, name, printable(text));
  }
  return out;
}

// Return the sizes, after checking that the number of bytes does not overflow.
Dims sizes_of(const proto::TensorProto& proto, const std::string& name, size_t element,
              int64_t& bytes) {
  if (proto.dims_size() > kMostDims) {
    fail("expected at most {} dims of '{}', got {}", kMostDims, name, proto.dims_size());
  }
  Dims sizes;
  bool is_empty = false;
  for (const int64_t size : proto.dims()) is_empty |= size == 0;
  bytes = static_cast<int64_t>(element);
  for (const int64_t size : proto.dims()) {
    if (size < 0 || __builtin_mul_overflow(bytes, is_empty && size != 0 ? 1 : size, &bytes)) {
      fail("expected sizes of '{}' from 0 to 2^63, got {}", name, size);
    }
    sizes.push_back(size);
  }
  return sizes;
}

template <class To, class List>
void convert(const List& from, const std::string& name, const Tensor& out) {
  if (from.size() != out.numel()) {
    fail("expected {} elements of '{}', got {}", out.numel(), name, from.size());
  }
  auto* to = static_cast<To*>(out.data_ptr());
  for (const auto v : from) *to++ = static_cast<To>(v);
}

// Return how many elements the field for numbers of this dtype has.
int64_t count_of(const proto::TensorProto& proto, DType dtype) {
  if (dtype == kFloat32) return proto.float_data_size();
  if (dtype == kFloat64) return proto.double_data_size();
  return dtype == kInt64 ? proto.int64_data_size() : proto.int32_data_size();
}

void read_numbers(const proto::TensorProto& proto, const std::string& name, const Tensor& out) {
  switch (out.dtype()) {
    case kFloat32:
      return convert<float>(proto.float_data(), name, out);
    case kFloat64:
      return convert<double>(proto.double_data(), name, out);
    case kInt64:
      return convert<int64_t>(proto.int64_data(), name, out);
    case kInt32:
      return convert<int32_t>(proto.int32_data(), name, out);
    case kInt16:
    case kFloat16:  // their bits
    case kBFloat16:
      return convert<uint16_t>(proto.int32_data(), name, out);
    default:
      return convert<uint8_t>(proto.int32_data(), name, out);
  }
}

}  // namespace

int32_t code_of(DType dtype) {
  // The codes of the format, in the order of DType.
  constexpr int32_t kCodes[kDTypeCount] = {9, 2, 3, 5, 6, 7, 10, 16, 1, 11, 4, 12, 13, 14, 15};
  return kCodes[static_cast<int>(dtype)];
}

std::optional<DType> dtype_of_code(int64_t code) {
  for (const DType d : dtypes::kEvery) {
    if (code_of(d) == code) return d;
  }
  return {};
}

const char* name_of_code(int64_t code) {
  constexpr const char* kNames[] = {
      "unknown",        "float",    "uint8",        "int8",           "uint16",
      "int16",          "int32",    "int64",        "string",         "bool",
      "float16",        "double",   "uint32",       "uint64",         "complex64",
      "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0",
      "uint2",          "int2"};
  return code > 0 && code < std::ssize(kNames) ? kNames[code] : kNames[0];
}

namespace {

constexpr const char* kState = "ambit.state";  // a key in external_data

void clear_elements(proto::TensorProto& proto) {
  proto.clear_raw_data();
  proto.clear_float_data();
  proto.clear_double_data();
  proto.clear_int32_data();
  proto.clear_int64_data();
  proto.clear_external_data();
  proto.clear_data_location();
}

}  // namespace

void refer_to_state(proto::TensorProto& proto, size_t index) {
  clear_elements(proto);
  proto::StringStringEntryProto& entry = *proto.add_external_data();
  entry.set_key(kState);
  entry.set_value(std::to_string(index));
}

std::optional<size_t> state_of(const proto::TensorProto& proto) {
  if (proto.external_data_size() != 1 || proto.external_data(0).key() != kState) return {};
  const std::string& text = proto.external_data(0).value();
  size_t index = 0;
  std::from_chars(text.data(), text.data() + text.size(), index);
  return index;
}

void set_elements(proto::TensorProto& proto, const Tensor& t) {
  clear_elements(proto);
  const Tensor x = t.detach().to(kCPU).contiguous();
  proto.set_raw_data(x.data_ptr(), x.nbytes());
}

TensorReader::TensorReader(const std::string& model) {
  std::error_code ignored;
  folder_ = std::filesystem::canonical(model, ignored).parent_path();
}

Tensor TensorReader::read(proto::TensorProto& proto) const {
  const std::string name = printable(proto.name());
  const DType dtype = *dtype_of_code(proto.data_type());
  int64_t bytes = 0;
  const Dims sizes = sizes_of(proto, name, element_size(dtype), bytes);
  if (proto.has_segment()) fail("expected '{}' as a whole, got a segment", name);
  const bool is_external = proto.data_location() == kExternal;
  // Compare sizes before memory is allocated.
  const bool is_raw = proto.has_raw_data();
  const int64_t elements = bytes / static_cast<int64_t>(element_size(dtype));
  if (!is_external && is_raw && std::ssize(proto.raw_data()) != bytes) {
    fail("expected {} bytes of '{}', got {}", bytes, name, proto.raw_data().size());
  }
  if (!is_external && !is_raw && count_of(proto, dtype) != elements) {
    fail("expected {} elements of '{}', got {}", elements, name, count_of(proto, dtype));
  }
  Tensor out;
  if (is_external) {
    out = read_external(proto, name, bytes).reshape(sizes);
  } else {
    out = empty(sizes, TensorOptions(dtype).device(kCPU));
    if (is_raw && bytes > 0)
      std::memcpy(out.data_ptr(), proto.raw_data().data(), proto.raw_data().size());
    if (!is_raw) read_numbers(proto, name, out);
  }
  if (!is_valid(out)) fail("expected bytes 0 and 1 in '{}', got others", name);
  proto.clear_raw_data();
  return out;
}

Tensor TensorReader::read_external(const proto::TensorProto& proto, const std::string& name,
                                   int64_t bytes) const {
  std::string location;
  int64_t offset = 0, length = bytes;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number(entry.value(), "offset", name);
    if (entry.key() == "length") length = number(entry.value(), "length", name);
  }
  const std::filesystem::path relative(location);
  bool is_inside = !location.empty() && relative.is_relative() &&
                   location.find('\0') == std::string::npos && !folder_.empty();
  for (const auto& part : relative) is_inside &= part != "..";
  std::error_code error;
  const auto file = std::filesystem::canonical(folder_ / relative, error);
  if (is_inside && error) {
    fail("expected the file '{}' of '{}', got: {}", printable(location), name, error.message());
  }
  const auto [end, ignored] =
      std::mismatch(folder_.begin(), folder_.end(), file.begin(), file.end());
  if (!is_inside || end != folder_.end()) {
    fail("expected the data of '{}' in the folder of the model, got '{}'", name,
         printable(location));
  }
  const InputFile input(file.string());
  if (length != bytes) fail("expected {} bytes of '{}', got {}", bytes, name, length);
  const auto size = static_cast<int64_t>(input.size_bytes());
  if (offset > size || length > size - offset) {
    fail("expected {} bytes from {} on in '{}' for '{}', got {} bytes", length, offset,
         printable(location), name, size);
  }
  const DType dtype = *dtype_of_code(proto.data_type());
  const int64_t elements = bytes / static_cast<int64_t>(element_size(dtype));
  const Tensor out = empty({elements}, TensorOptions(dtype).device(kCPU));
  input.read(out.data_ptr(), static_cast<size_t>(bytes), static_cast<uint64_t>(offset));
  return out;
}

}  // namespace ambit::graph::onnx
