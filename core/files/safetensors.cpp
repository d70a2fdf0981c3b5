// The header is parsed by events, not into a document: this detects duplicate fields, stops at
// nesting beyond the format's three levels, and bounds memory by the header's length.
#include "safetensors.h"

#include <ambit/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "fail.h"

namespace ambit::safetensors {
namespace {

using Json = nlohmann::json;

// Source: the enum Dtype of safetensors 0.8.0.
constexpr ElementType kElementTypes[] = {
    {"BOOL", kBool, 8},     {"U8", kUInt8, 8},          {"I8", kInt8, 8},
    {"I16", kInt16, 16},    {"I32", kInt32, 32},        {"I64", kInt64, 64},
    {"F16", kFloat16, 16},  {"BF16", kBFloat16, 16},    {"F32", kFloat32, 32},
    {"F64", kFloat64, 64},  {"U16", kUInt16, 16},       {"U32", kUInt32, 32},
    {"U64", kUInt64, 64},   {"C64", kComplexFloat, 64}, {"F4", {}, 4},
    {"F6_E2M3", {}, 6},     {"F6_E3M2", {}, 6},         {"F8_E4M3", {}, 8},
    {"F8_E5M2", {}, 8},     {"F8_E8M0", {}, 8},         {"F8_E4M3FNUZ", {}, 8},
    {"F8_E5M2FNUZ", {}, 8},
};
constexpr const char* kMetadata = "__metadata__";  // a map of strings, not a tensor
constexpr size_t kMaxDims = 64;                    // bounds memory for a header full of sizes 1
constexpr int kMaxSkipped = 125;                   // levels of an unknown field, as in serde_json

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_about_file(fmt::format(text, std::forward<T>(args)...));
}

// Receives the events of the JSON parser, which does not recurse.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  Header take_header() {
    std::erase_if(entries_, [](const Entry& e) { return !e.type; });
    return {std::move(entries_), std::move(metadata_)};
  }

  bool start_object(size_t) override {
    if (is_skipped()) return skip_level();
    if (at_ == At::start) {
      at_ = At::names;
    } else if (at_ == At::names && name_ == kMetadata) {
      at_ = At::metadata;
    } else if (at_ == At::names) {
      start_tensor(/*is_list=*/false);
    } else if (at_ == At::tensor && field_ == kFields[0] && !has_dtype_) {
      at_ = At::variant;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(std::string& text) override {
    if (skipped_ > 0) return true;
    if (at_ == At::names) {
      if (text == kMetadata && names_.count(text) > 0) {
        fail("expected '{}' once, got it twice", text);
      }
      const auto [known, is_new] = names_.try_emplace(text, entries_.size());
      if (!is_new) {  // of duplicate keys, the last one counts
        entries_[known->second].type = nullptr;
        known->second = entries_.size();
      }
      name_ = text;
      return true;
    }
    if (at_ == At::variant) return set_dtype(text);
    if (at_ == At::tensor) {
      const bool repeated = (text == "dtype" && has_dtype_) || (text == "shape" && has_shape_) ||
                            (text == "data_offsets" && !offsets_.empty());
      if (repeated) fail("expected '{}' of '{}' once, got it twice", text, name_);
    }
    field_ = text;
    is_known_ = text == "dtype" || text == "shape" || text == "data_offsets";
    return true;
  }

  bool string(std::string& text) override {
    if (at_ == At::metadata) {
      metadata_[field_] = text;
      return true;
    }
    if (is_skipped()) return true;
    if (at_ != At::tensor || field_ != "dtype") unexpected("a string");
    set_dtype(text);
    next_field();
    return true;
  }

  bool start_array(size_t) override {
    if (is_skipped()) return skip_level();
    if (at_ == At::tensor && field_ == "shape") {
      at_ = At::shape;
    } else if (at_ == At::tensor && field_ == "data_offsets") {
      at_ = At::offsets;
    } else if (at_ == At::names && name_ != kMetadata) {
      start_tensor(/*is_list=*/true);
    } else {
      unexpected("an array");
    }
    return true;
  }

  bool number_unsigned(uint64_t value) override {
    if (is_skipped()) return true;
    Entry* entry = entries_.empty() ? nullptr : &entries_.back();
    if (at_ == At::shape && entry->sizes.size() < kMaxDims && value <= INT64_MAX) {
      entry->sizes.push_back(static_cast<int64_t>(value));
    } else if (at_ == At::offsets && offsets_.size() < 2) {
      offsets_.push_back(value);
    } else {
      unexpected(std::to_string(value));
    }
    return true;
  }

  bool end_array() override {
    if (skipped_ > 0) return leave_level();
    if (at_ == At::tensor) return end_tensor();  // in a list
    has_shape_ = has_shape_ || at_ == At::shape;
    if (at_ == At::offsets && offsets_.size() != 2) fail("expected 2 data_offsets of '{}'", name_);
    at_ = At::tensor;
    next_field();
    return true;
  }

  bool end_object() override {
    if (skipped_ > 0) return leave_level();
    if (at_ == At::tensor) return end_tensor();
    if (at_ == At::variant) {
      if (!has_dtype_) fail("expected a dtype of '{}', got an empty object", name_);
      at_ = At::tensor;
      next_field();
      return true;
    }
    at_ = at_ == At::names ? At::end : At::names;
    return true;
  }

  bool null() override {
    const bool no_metadata = at_ == At::names && name_ == kMetadata;
    return no_metadata || at_ == At::variant || is_skipped() || unexpected("null");
  }
  bool boolean(bool) override { return is_skipped() || unexpected("a bool"); }
  bool number_integer(int64_t value) override {
    return is_skipped() || unexpected(std::to_string(value));
  }
  bool number_float(double, const std::string& text) override {
    return is_skipped() || unexpected(text);
  }
  bool binary(Json::binary_t&) override { unexpected("binary data"); }
  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    fail("expected JSON in the header, got something else at its byte {}", position);
  }

 private:
  enum class At { start, names, metadata, tensor, variant, shape, offsets, end };
  static constexpr std::string_view kFields[] = {"dtype", "shape", "data_offsets"};

  // Like serde, which safetensors uses, accept a tensor as an array of its fields in this order,
  // and a dtype as the object {"F32": null}.
  void start_tensor(bool is_list) {
    at_ = At::tensor;
    entries_.push_back({.name = name_});
    has_dtype_ = has_shape_ = false;
    offsets_.clear();
    is_list_ = is_known_ = is_list;
    field_ = is_list ? kFields[0] : "";
  }
  // In an array, the field depends on the position.
  void next_field() {
    if (!is_list_) return;
    const auto* const field = std::find(std::begin(kFields), std::end(kFields), field_);
    field_ = std::end(kFields) - field > 1 ? field[1] : "";
  }
  bool end_tensor() {
    if (!has_dtype_ || !has_shape_ || offsets_.empty()) {
      fail("expected dtype, shape and data_offsets of '{}', got fewer", name_);
    }
    entries_.back().begin = offsets_[0];
    entries_.back().end = offsets_[1];
    at_ = At::names;
    return true;
  }
  bool set_dtype(const std::string& text) {
    const auto* found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                     [&](const ElementType& known) { return text == known.name; });
    if (found == std::end(kElementTypes)) {
      fail("expected a dtype of the format, such as F32, for '{}', got '{}'", name_, text);
    }
    if (has_dtype_) fail("expected one dtype of '{}', got two", name_);
    entries_.back().type = found;
    has_dtype_ = true;
    return true;
  }

  // Unknown fields of a tensor are skipped with all their content.
  bool is_skipped() const { return skipped_ > 0 || (at_ == At::tensor && !is_known_); }
  bool skip_level() {
    if (++skipped_ > kMaxSkipped) fail("expected at most {} levels in '{}'", kMaxSkipped, name_);
    return true;
  }
  bool leave_level() {
    --skipped_;
    return true;
  }

  [[noreturn]] bool unexpected(const std::string& what) const {
    fail("expected an object of tensors in the header, got {} at '{}'{}", what, name_,
         at_ == At::tensor || at_ == At::shape || at_ == At::offsets ? "." + field_ : "");
  }

  At at_ = At::start;
  std::string name_, field_;  // the last key of the first and of the second level
  bool has_dtype_ = false, has_shape_ = false, is_known_ = false;
  bool is_list_ = false;  // the tensor is an array
  int skipped_ = 0;       // levels of nesting in the skipped field
  std::vector<uint64_t> offsets_;
  std::unordered_map<std::string, size_t> names_;  // index of each tensor's entry
  std::vector<Entry> entries_;
  Metadata metadata_;
};

// Check one entry: its bytes are inside the data and match the size of its shape.
void check_size(const Entry& e, uint64_t data_bytes) {
  if (e.begin > e.end || e.end > data_bytes) {
    fail("expected '{}' inside the {} bytes of data, got bytes {} to {}", e.name, data_bytes,
         e.begin, e.end);
  }
  // The product without zeros must not overflow either: strides use it.
  int64_t bits = e.type->bits;
  bool empty = false;
  for (const int64_t size : e.sizes) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bits, std::max<int64_t>(size, 1), &bits)) {
      fail("expected a shape of '{}' that memory can hold, got {}", e.name, ambit::str(e.sizes));
    }
  }
  const std::string dtype = e.type->dtype ? ambit::name(*e.type->dtype) : e.type->name;
  const std::string what = fmt::format("'{}' {}{}", e.name, dtype, ambit::str(e.sizes));
  if (!empty && bits % 8 != 0) fail("expected whole bytes for {}, got {} bits", what, bits);
  const uint64_t needed = empty ? 0 : static_cast<uint64_t>(bits) / 8;
  if (e.end - e.begin != needed) {
    fail("expected {} bytes for {}, got {}", needed, what, e.end - e.begin);
  }
}

// Check that the entries cover the data without gap, overlap or remainder.
void check_cover(const std::vector<Entry>& entries, uint64_t data_bytes) {
  std::vector<const Entry*> by_offset(entries.size());
  std::transform(entries.begin(), entries.end(), by_offset.begin(),
                 [](const Entry& e) { return &e; });
  std::sort(by_offset.begin(), by_offset.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t covered = 0;
  for (const Entry* e : by_offset) {
    if (e->begin != covered) {
      fail("expected '{}' to begin at byte {} of the data, got {}", e->name, covered, e->begin);
    }
    covered = e->end;
  }
  if (covered != data_bytes) fail("expected {} bytes of data, got {}", covered, data_bytes);
}

// Call this only on strings: destructors of JSON maps and lists terminate when out of memory.
std::string dump(const std::string& text) {
  const Json value(text);
  try {
    return value.dump();
  } catch (const Json::exception&) {
    fail("expected text in UTF-8, got another encoding in '{}'",
         value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

std::string dump(const Metadata& metadata) {
  std::string out;
  for (const auto& [key, text] : metadata) {
    out += fmt::format("{}{}:{}", out.empty() ? "{" : ",", dump(key), dump(text));
  }
  return out + "}";
}

}  // namespace

Header parse_header(std::string_view text, uint64_t data_bytes) {
  // The parser would treat a NUL as the end, and skip a byte order mark.
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    fail("expected JSON in the header, got a NUL at its byte {}", nul);
  }
  if (text.starts_with("\xef\xbb\xbf")) fail("expected JSON in the header, got a byte order mark");
  HeaderReader reader;
  Json::sax_parse(text.begin(), text.end(), &reader);
  Header header = reader.take_header();
  for (const Entry& e : header.entries) check_size(e, data_bytes);
  check_cover(header.entries, data_bytes);
  return header;
}

const ElementType& element_type(DType dtype) {
  const auto* found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                   [&](const ElementType& known) { return known.dtype == dtype; });
  if (found == std::end(kElementTypes)) {
    fail("expected a dtype that safetensors has, got {}", name(dtype));
  }
  return *found;
}

std::string format_header(const std::vector<Entry>& entries, const Metadata& metadata) {
  std::string out = "{";
  if (!metadata.empty()) out += fmt::format(R"("{}":{})", kMetadata, dump(metadata));
  for (const Entry& e : entries) {
    if (e.name == kMetadata) fail("expected a name other than '{}', which is reserved", kMetadata);
    out += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                       out.size() > 1 ? "," : "", dump(e.name), e.type->name,
                       fmt::join(e.sizes.begin(), e.sizes.end(), ","), e.begin, e.end);
  }
  out += "}";
  out.resize((out.size() + 7) / 8 * 8, ' ');  // kLengthBytes is a multiple of 8 too
  if (out.size() > kMaxHeaderBytes) {
    fail("expected a header of at most {} bytes, got {}", kMaxHeaderBytes, out.size());
  }
  return out;
}

}  // namespace ambit::safetensors
