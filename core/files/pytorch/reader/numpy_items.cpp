// A dtype is an opaque value; its first argument is its byte order and name: "f4", ">i8".
// Sources: arraydescr_reduce and array_reduce of NumPy 2.
#include "numpy_items.h"

#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/files/input_file.h"
#include "pickle_program.h"

namespace ambit::pickle {
namespace {

struct ElementType {
  std::string_view name;
  DType dtype;
};
constexpr ElementType kElementTypes[] = {
    {"b1", kBool},
    {"u1", ambit::kUInt8},
    {"i1", kInt8},
    {"i2", kInt16},
    {"i4", ambit::kInt32},
    {"i8", kInt64},
    {"f2", kFloat16},
    {"f4", kFloat32},
    {"f8", kFloat64},
    {"u2", ambit::kUInt16},
    {"u4", ambit::kUInt32},
    {"u8", ambit::kUInt64},
    {"c8", ambit::kComplexFloat},
    {"c16", ambit::kComplexDouble},
};

struct Type {
  std::optional<DType> dtype;  // empty if ambit lacks it
  bool is_big_endian = false;
};

Type type_of(const Value& value) {
  if (value.kind() != Value::Kind::opaque || value.to_opaque().type != kNumpyDType) {
    fail("expected a dtype of NumPy, got {}", value.kind_name());
  }
  const Value::Opaque& opaque = value.to_opaque();
  Type type;
  if (opaque.arguments.empty()) return type;
  std::string_view name = opaque.arguments[0].to_string();
  type.is_big_endian = name.starts_with('>');
  if (name.find_first_of("<>=|") == 0) name.remove_prefix(1);
  for (const ElementType& known : kElementTypes) {
    if (name == known.name) type.dtype = known.dtype;
  }
  return type;
}

// Return the bytes of an opaque bytes or bytearray, or of a string of Python 2.
std::string content_of(const Value& buffer) {
  if (buffer.kind() == Value::Kind::string) return buffer.to_string();
  const Value::Opaque& opaque = buffer.to_opaque();
  if (opaque.type == "bytearray") {
    return opaque.arguments.empty() ? std::string() : content_of(opaque.arguments[0]);
  }
  if (opaque.type != "bytes") fail("expected the bytes of an array, got {}", buffer.kind_name());
  if (opaque.arguments.empty()) return {};
  const std::string& latin1 = opaque.arguments[0].to_string();  // as UTF-8
  std::string bytes;
  bytes.reserve(latin1.size());
  for (size_t i = 0; i < latin1.size(); ++i) {
    const auto first = static_cast<unsigned char>(latin1[i]);
    if (first < 0x80) {
      bytes += latin1[i];
    } else if ((first == 0xc2 || first == 0xc3) && i + 1 < latin1.size()) {
      bytes += static_cast<char>(first << 6 | (static_cast<unsigned char>(latin1[++i]) & 0x3f));
    } else {
      fail("expected bytes in text of Latin-1, got other text");
    }
  }
  return bytes;
}

Dims shape_of(const Value& tuple) {
  constexpr size_t kMaxDims = 64;  // as NumPy 2
  if (tuple.items().size() > kMaxDims) {
    fail("expected at most {} dims, got {}", kMaxDims, tuple.items().size());
  }
  Dims sizes;
  for (const Value& n : tuple.items()) sizes.push_back(n.to_int());
  return sizes;
}

// Return a row-major tensor of the sizes.
Tensor elements_of(const std::string& bytes, const Type& type, const Dims& sizes) {
  const size_t element = element_size(*type.dtype);
  int64_t needed = static_cast<int64_t>(element);
  bool is_empty = false;
  for (const int64_t size : sizes) {
    is_empty = is_empty || size == 0;
    if (size < 0 || __builtin_mul_overflow(needed, std::max<int64_t>(size, 1), &needed)) {
      fail("expected a shape that memory can hold, got {}", str(sizes));
    }
  }
  if (is_empty) needed = 0;
  if (static_cast<uint64_t>(needed) != bytes.size()) {
    fail("expected {} bytes of an array {}, got {}", needed, str(sizes), bytes.size());
  }
  Tensor t = empty(sizes, TensorOptions(*type.dtype).device(kCPU));
  auto* data = static_cast<char*>(t.data_ptr());
  std::copy(bytes.begin(), bytes.end(), data);
  if (type.is_big_endian) {
    const size_t number =
        element_size(real_dtype(*type.dtype));  // size of the real part if complex
    for (size_t i = 0; i < bytes.size(); i += number) std::reverse(data + i, data + i + number);
  }
  if (!is_valid(t)) fail("expected bytes 0 and 1 in an array of bools, got others");
  return t;
}

Value make_array(const Value& shape, const Value& dtype, bool is_fortran, const Value& buffer,
                 Budget& budget) {
  const Type type = type_of(dtype);
  if (!type.dtype) return Value::opaque({std::string(kNumpyArray), "", {}});
  Dims sizes = shape_of(shape);
  if (is_fortran) std::reverse(sizes.begin(), sizes.end());
  const std::string bytes = content_of(buffer);
  budget.spend_bytes(bytes.size());  // copied: many arrays may share a buffer
  const Tensor t = elements_of(bytes, type, sizes);
  if (!is_fortran || sizes.size() < 2) return t;
  Dims dims;
  for (size_t i = sizes.size(); i-- > 0;) dims.push_back(static_cast<int64_t>(i));
  return t.permute(dims);
}

}  // namespace

NumpyObject make_dtype(std::span<const Value> given) {
  const std::string& name = given[0].to_string();
  constexpr size_t kMost = 32;
  if (name.size() > kMost) fail("expected a dtype's name of at most {} bytes", kMost);
  return {false,
          Value::opaque({std::string(kNumpyDType), std::string(kNumpyDType), {name, false, true}})};
}

void set_state(NumpyObject& object, const Value& state, Budget& budget) {
  const Value::List& given = state.items();
  if (object.is_array) {
    if (given.size() != 5 || !object.finished.is_none())
      fail("expected one state of 5 items per array, got another state");
    object.finished = make_array(given[1], given[2], given[3].to_bool(), given[4], budget);
    return;
  }
  if (given.size() < 5) fail("expected a dtype's state of at least 5 items, got fewer");
  const bool is_plain =
      given.size() <= 8 && given[2].is_none() && given[3].is_none() && given[4].is_none();
  const Value::Opaque& opaque = object.finished.to_opaque();
  if (!is_plain || opaque.arguments.empty()) {  // a dtype with fields, or of dates
    object.finished = Value::opaque({std::string(kNumpyDType), "", {}});
    return;
  }
  if (given[1].to_string() != ">" || opaque.arguments[0].to_string().starts_with('>')) return;
  object.finished = Value::opaque(
      {opaque.type,
       opaque.function,
       {">" + opaque.arguments[0].to_string(), opaque.arguments[1], opaque.arguments[2]}});
}

Value array_from_buffer(std::span<const Value> given, Budget& budget) {
  return make_array(given[2], given[1], given[3].to_string() == "F", given[0], budget);
}

Value number_from_bytes(std::span<const Value> given) {
  const Type type = type_of(given[0]);
  if (!type.dtype || is_complex(*type.dtype)) return Value::opaque({"scalar of NumPy", "", {}});
  const Scalar number = elements_of(content_of(given[1]), type, {}).item();
  if (number.dtype() == ambit::kUInt64) return Value::opaque({"scalar of NumPy", "", {}});
  return number;
}

}  // namespace ambit::pickle
