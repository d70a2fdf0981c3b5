// Source of the format: numpy.lib.format of NumPy 2.
#include "npy.h"

#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace {

using namespace ambit;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostHeader = 1 << 16;

struct Type {
  DType dtype;
  const char* name;
};
constexpr Type kTypes[] = {{kBool, "|b1"},         {kUInt8, "|u1"},         {kInt8, "|i1"},
                           {kInt16, "<i2"},        {kInt32, "<i4"},         {kInt64, "<i8"},
                           {kFloat16, "<f2"},      {kFloat32, "<f4"},       {kFloat64, "<f8"},
                           {kUInt16, "<u2"},       {kUInt32, "<u4"},        {kUInt64, "<u8"},
                           {kComplexFloat, "<c8"}, {kComplexDouble, "<c16"}};

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw SerializationError(fmt::format("cannot read '{}': {}", path, why));
}

// Return the text after "'key': " in a Python dict.
std::string_view after(std::string_view header, const char* key, const std::string& path) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) fail(path, fmt::format("expected '{}' in the header", key));
  header.remove_prefix(at + std::string_view(key).size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

Dims read_sizes(std::string_view text, const std::string& path) {
  constexpr size_t kMostDims = 64;
  Dims sizes;
  const std::string_view list = text.substr(0, text.find(')'));
  if (!list.starts_with('(')) fail(path, "expected a tuple of sizes");
  for (size_t i = 1; i < list.size();) {
    int64_t size = 0;
    const auto read = std::from_chars(list.data() + i, list.data() + list.size(), size);
    const auto length = static_cast<size_t>(read.ptr - (list.data() + i));
    if (length == 0 || size < 0 || sizes.size() == kMostDims) fail(path, "expected sizes");
    sizes.push_back(size);
    i = std::min(list.find_first_not_of(", ", i + length), list.size());
  }
  return sizes;
}

}  // namespace

Tensor read_npy(const std::string& path) {
  std::error_code error;
  const uint64_t file_bytes = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) fail(path, error ? error.message() : "it cannot be opened");
  char begin[8] = {};
  in.read(begin, sizeof begin);
  if (!in || std::string_view(begin, 6) != kMagic) fail(path, "expected an array of NumPy (.npy)");
  const size_t length_bytes = begin[6] == 1 ? 2 : 4;
  unsigned char length_text[4] = {};
  in.read(reinterpret_cast<char*>(length_text), static_cast<std::streamsize>(length_bytes));
  size_t length = 0;
  for (size_t i = 4; i-- > 0;) length = length << 8 | length_text[i];
  if (!in || length > kMostHeader) fail(path, "expected a shorter header");
  std::string header(length, '\0');
  in.read(header.data(), std::ssize(header));
  if (!in) fail(path, "it ends early");

  const std::string_view quoted = after(header, "descr", path).substr(1);
  const std::string_view descr = quoted.substr(0, quoted.find('\''));
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const Type& t) { return descr == t.name; });
  if (type == std::end(kTypes)) fail(path, fmt::format("ambit has no dtype '{}'", descr));
  if (!after(header, "fortran_order", path).starts_with("False")) {
    fail(path, "expected a row-major array: numpy.ascontiguousarray() makes one");
  }
  const Dims sizes = read_sizes(after(header, "shape", path), path);
  int64_t bytes = static_cast<int64_t>(element_size(type->dtype));
  for (const int64_t n : sizes) {
    if (__builtin_mul_overflow(bytes, n, &bytes)) fail(path, "expected smaller sizes");
  }
  const uint64_t content = file_bytes - sizeof begin - length_bytes - length;
  if (content != static_cast<uint64_t>(bytes)) {
    fail(path, fmt::format("expected {} bytes of elements, got {}", bytes, content));
  }
  const Tensor t = empty(sizes, TensorOptions(type->dtype).device(kCPU));
  in.read(static_cast<char*>(t.data_ptr()), bytes);
  if (!in) fail(path, "it ends early");
  return type->dtype == kBool ? t.view(kUInt8).ne(0) : t;
}

void write_npy(const Tensor& tensor, const std::string& path) {
  Tensor t = tensor.detach().cpu().contiguous();
  if (t.dtype() == kBFloat16) t = t.to(kFloat32);
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const Type& known) { return known.dtype == t.dtype(); });
  const IntArrayRef sizes = t.sizes();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type->name,
                  fmt::join(sizes.begin(), sizes.end(), ", "), sizes.size() == 1 ? "," : "");
  constexpr size_t kBefore = 10;  // magic, version and length
  header.resize((kBefore + header.size() + 1 + 63) / 64 * 64 - kBefore, ' ');
  header.back() = '\n';
  std::ofstream out(path, std::ios::binary);
  out << kMagic << '\1' << '\0' << static_cast<char>(header.size() & 255)
      << static_cast<char>(header.size() >> 8) << header;
  out.write(static_cast<const char*>(t.data_ptr()), static_cast<std::streamsize>(t.nbytes()));
  out.close();
  if (!out) throw SerializationError(fmt::format("cannot write '{}'", path));
}
