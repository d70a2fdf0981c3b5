#include "json.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace ambit::graph {
namespace {

template <class... T>
[[noreturn]] void refuse(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError(one_line(fmt::format(text, std::forward<T>(args)...)));
}

}  // namespace

// Receives the events of the parser, which does not recurse.
class Json::Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reader(Json& document, std::vector<std::string_view> skipped)
      : document_(document), skipped_names_(std::move(skipped)) {
    document_.items_.emplace_back();
  }

  bool null() override { return add(Kind::null, {}); }
  bool boolean(bool value) override { return add(Kind::flag, {.integer = value}); }
  bool number_integer(int64_t value) override { return add(Kind::integer, {.integer = value}); }
  bool number_unsigned(uint64_t value) override {
    if (value > INT64_MAX) return number_float(static_cast<double>(value), {});
    return add(Kind::integer, {.integer = static_cast<int64_t>(value)});
  }
  bool number_float(double value, const std::string&) override {
    return add(Kind::real, {.real = value});
  }
  bool string(std::string& text) override {
    return skips() ? add(Kind::null, {}) : add(Kind::text, {.text = store(text)});
  }
  bool binary(nlohmann::json::binary_t&) override { return add(Kind::null, {}); }
  bool start_object(size_t) override { return start(Kind::object); }
  bool start_array(size_t) override { return start(Kind::list); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(std::string& text) override {
    if (skipped_levels_ > 0) return true;
    skips_next_ =
        std::find(skipped_names_.begin(), skipped_names_.end(), text) != skipped_names_.end();
    if (!skips_next_) key_ = store(text);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    refuse("expected JSON, got something else at byte {}", position);
  }

 private:
  bool skips() const { return skipped_levels_ > 0 || skips_next_; }

  Span store(std::string_view text) {
    constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
    if (document_.texts_.size() + text.size() > kMost) refuse("expected less than 4 GiB of text");
    const Span span{static_cast<uint32_t>(document_.texts_.size()),
                    static_cast<uint32_t>(text.size())};
    document_.texts_ += text;
    return span;
  }

  bool add(Kind kind, Item item) {
    if (skips()) {
      skips_next_ = false;
      return true;
    }
    std::vector<Item>& items = document_.items_;
    if (items.size() > kMostItems) refuse("expected at most {} values of JSON", kMostItems);
    const auto here = static_cast<uint32_t>(items.size());
    item.kind = kind;
    item.key = std::exchange(key_, {});
    item.parent = open_.empty() ? 0 : open_.back();
    if (last_ != 0) {
      items[last_].next = here;
    } else if (!open_.empty()) {
      items[open_.back()].integer = here;
    }
    items.push_back(item);
    last_ = here;
    return true;
  }

  bool start(Kind kind) {
    if (open_.size() + static_cast<size_t>(skipped_levels_) >= kMostLevels) {
      refuse("expected at most {} levels of JSON, got more", kMostLevels);
    }
    if (skips()) {
      ++skipped_levels_;
      skips_next_ = false;
      return true;
    }
    add(kind, {.integer = 0});
    open_.push_back(last_);
    last_ = 0;
    return true;
  }

  bool end() {
    if (skipped_levels_ > 0) {
      --skipped_levels_;
      return true;
    }
    last_ = open_.back();
    open_.pop_back();
    return true;
  }

  Json& document_;
  std::vector<std::string_view> skipped_names_;
  std::vector<uint32_t> open_;  // lists and objects that have begun
  uint32_t last_ = 0;           // the previous sibling
  Span key_{};
  int skipped_levels_ = 0;
  bool skips_next_ = false;
};

Json::Json(std::string_view text, std::vector<std::string_view> skipped) {
  // The parser would treat a NUL as the end.
  if (text.find('\0') != text.npos) refuse("expected JSON, got a NUL");
  Reader reader(*this, std::move(skipped));
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
}

Json::Ref::operator bool() const {
  return item_ != 0 && document_->items_[item_].kind != Kind::null;
}

bool Json::Ref::is(Kind kind) const { return item_ != 0 && document_->items_[item_].kind == kind; }

Json::Ref Json::Ref::find(std::string_view key) const {
  if (!is(Kind::object)) return {document_, 0};
  for (Ref r = first(); r.item_ != 0; r = r.next()) {
    if (r.key() == key) return r;
  }
  return {document_, 0};
}

Json::Ref Json::Ref::at(std::string_view key) const {
  const Ref found = find(key);
  if (found.item_ == 0) fail(fmt::format("an object with '{}'", key).c_str());
  return found;
}

Json::Ref Json::Ref::first() const {
  const bool has_items = is(Kind::list) || is(Kind::object);
  return {document_, has_items ? static_cast<uint32_t>(document_->items_[item_].integer) : 0};
}

Json::Ref Json::Ref::next() const { return {document_, document_->items_[item_].next}; }

std::string_view Json::Ref::key() const { return document_->span(document_->items_[item_].key); }

std::string_view Json::Ref::text() const {
  if (!is(Kind::text)) fail("text");
  return document_->span(document_->items_[item_].text);
}

bool Json::Ref::flag() const {
  if (!is(Kind::flag)) fail("true or false");
  return document_->items_[item_].integer != 0;
}

int64_t Json::Ref::integer() const {
  if (!is(Kind::integer)) fail("an integer");
  return document_->items_[item_].integer;
}

double Json::Ref::real() const {
  if (is(Kind::integer)) return static_cast<double>(integer());
  if (is(Kind::text)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text() == "Infinity") return kInfinity;
    if (text() == "-Infinity") return -kInfinity;
    if (text() == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  if (!is(Kind::real)) fail("a number");
  return document_->items_[item_].real;
}

void Json::Ref::fail(const char* expected) const {
  std::string path;
  for (uint32_t i = item_; i != 0; i = document_->items_[i].parent) {
    const std::string_view key = document_->span(document_->items_[i].key);
    if (!key.empty()) path = fmt::format("{}{}{}", key, path.empty() ? "" : ".", path);
  }
  refuse("expected {} at '{}' in the JSON, got something else", expected, path);
}

}  // namespace ambit::graph
