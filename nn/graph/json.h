// A read-only JSON document in two flat arrays: its memory is bounded by the number of values, and
// it is destroyed without recursion. Private to nn/graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ambit::graph {

class Json {
 public:
  enum class Kind : uint8_t { null, flag, integer, real, text, list, object };

  /// A value of a document, or no value. The document must outlive it. Errors of functions that
  /// return content: SerializationError naming the path in the document.
  class Ref {
   public:
    Ref(const Json* document, uint32_t item) : document_(document), item_(item) {}
    /// True if there is a value other than null.
    explicit operator bool() const;
    bool is(Kind kind) const;
    /// Return the member of an object, or no value.
    Ref find(std::string_view key) const;
    /// Return the member of an object. Errors: also if no member has the key.
    Ref at(std::string_view key) const;
    /// Return the first member or element, or the next sibling; no value after the last one.
    Ref first() const;
    Ref next() const;
    /// The key in the object that contains this.
    std::string_view key() const;
    std::string_view text() const;
    bool flag() const;
    int64_t integer() const;
    /// Return the number, also for "Infinity", "-Infinity" and "NaN", which PyTorch writes as text.
    double real() const;
    /// Call `visit` for each element of a list or member of an object.
    template <class Visit>
    void each(Visit visit) const {
      for (Ref r = first(); r.item_ != 0; r = r.next()) visit(r);
    }

   private:
    [[noreturn]] void fail(const char* expected) const;

    const Json* document_;
    uint32_t item_;  // 0: none
  };

  /// Members with one of the names in `skipped` are omitted, with all their content. Errors:
  /// SerializationError for text other than JSON and for more than kMostItems values.
  Json(std::string_view text, std::vector<std::string_view> skipped);
  Ref root() const { return {this, 1}; }

  static constexpr uint32_t kMostItems = 16'000'000;
  static constexpr int kMostLevels = 200;

 private:
  struct Span {
    uint32_t begin, size;
  };
  struct Item {
    union {
      int64_t integer = 0;  // or a flag; for a list or an object the index of its first item
      double real;
      Span text;
    };
    Span key{};
    uint32_t next = 0, parent = 0;
    Kind kind = Kind::null;
  };
  class Reader;

  std::string_view span(Span s) const { return std::string_view(texts_).substr(s.begin, s.size); }

  std::vector<Item> items_;  // items_[0] means no value
  std::string texts_;        // the texts of all keys and strings
};

}  // namespace ambit::graph
