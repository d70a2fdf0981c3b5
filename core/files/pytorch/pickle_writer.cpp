#include "pickle.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>

#include "core/files/utf8.h"

namespace ambit::pickle {
namespace {

class Writer {
 public:
  Writer(const std::function<Place(const Tensor&)>& place_of, const TypeOf& type_of)
      : place_of_(place_of), type_of_(type_of) {
    op(kProtocol);
    out_ += '\x02';
  }

  std::string finish(const Value& value) {
    write(value);
    op(kStop);
    return std::move(out_);
  }

 private:
  using Kind = Value::Kind;

  void write(const Value& v) {
    switch (v.kind()) {
      case Kind::none:
        return op(kNone);
      case Kind::boolean:
        return op(v.to_bool() ? kTrue : kFalse);
      case Kind::integer:
        return integer(v.to_int());
      case Kind::real:
        return real(v.to_double());
      case Kind::string:
        return string(v.to_string());
      case Kind::tensor:
        return once(v.to_tensor().impl(), [&] { tensor(v.to_tensor()); });
      case Kind::list:
      case Kind::tuple:
        return once(&v.items(), [&] { type_of_ ? typed_sequence(v) : sequence(v); });
      case Kind::dict:
      case Kind::ordered_dict:
        return once(&v.entries(), [&] { type_of_ ? object(v) : dict(v); });
      case Kind::opaque:
        return once(&v.to_opaque(), [&] { opaque(v.to_opaque()); });
    }
  }

  void sequence(const Value& v) {
    const bool is_list = v.kind() == Kind::list;
    if (is_list) op(kEmptyList);
    op(kMark);
    for (const Value& item : v.items()) write(item);
    op(is_list ? kAppends : kTuple);
  }

  void typed_sequence(const Value& v) {
    if (v.kind() == Kind::tuple) return sequence(v);
    global(kTypeTag);
    sequence(v);
    string(type_of_(v));
    op(kTuple2);
    op(kReduce);
  }

  void object(const Value& v) {
    global(type_of_(v));
    op(kEmptyTuple);
    op(kNewObject);
    dict(v);
    op(kBuild);
  }

  void dict(const Value& v) {
    if (v.kind() == Kind::dict) {
      op(kEmptyDict);
    } else {
      empty_ordered_dict();
    }
    op(kMark);
    for (const auto& [key, value] : v.entries()) {
      write(key);
      write(value);
    }
    op(kSetItems);
  }

  void empty_ordered_dict() {
    global(kOrderedDict);
    op(kEmptyTuple);
    op(kReduce);
  }

  // Write the call that the value was read from.
  void opaque(const Value::Opaque& v) {
    if (v.function.empty()) {
      throw SerializationError(
          fmt::format("expected values that can be written, got an opaque {}", v.type));
    }
    budget_.spend(kReduce);  // as in the reader
    if (v.function == kBigInt) return big_integer(v.arguments[0].to_string());
    global(v.function);
    if (!v.is_called) return;
    op(kMark);
    for (const Value& item : v.arguments) write(item);
    op(kTuple);
    op(kReduce);
  }

  void big_integer(const std::string& bytes) {
    const bool fits = bytes.size() <= 0xff;
    op(fits ? kLong : kLongLong);
    little_endian(static_cast<int64_t>(bytes.size()), fits ? 1 : 4);
    out_ += bytes;
  }

  // Return the storage type of a dtype; null if the format has none. TorchScript has one for every
  // dtype, and does not read _rebuild_tensor_v3.
  const StorageType* storage_type(DType dtype) const {
    const auto find = [&](std::span<const StorageType> types) {
      const auto found = std::find_if(types.begin(), types.end(),
                                      [&](const StorageType& s) { return s.dtype == dtype; });
      return found == types.end() ? nullptr : &*found;
    };
    const StorageType* const type = find(kStorageTypes);
    return type || !type_of_ ? type : find(kScriptStorageTypes);
  }

  // _rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, backward_hooks), or
  // _rebuild_tensor_v3(..., dtype) for dtypes without a storage type
  void tensor(const Tensor& t) {
    const Place place = place_of_(t);
    const StorageType* const type = storage_type(t.dtype());
    const bool is_typed = type != nullptr;
    global(is_typed ? kRebuildTensor : kRebuildNewTensor);
    op(kMark);
    op(kMark);
    string("storage");
    const StorageType& storage = is_typed ? *type : kUntypedStorage;
    global(fmt::format("{}.{}", storage.module, storage.name));
    string(place.key);
    string("cpu");
    integer(is_typed ? place.storage_numel
                     : place.storage_numel * static_cast<int64_t>(element_size(t.dtype())));
    op(kTuple);
    op(kPersistentId);
    integer(place.offset);
    dims(t.sizes());
    dims(place.strides);
    op(place.requires_grad ? kTrue : kFalse);
    empty_ordered_dict();
    if (!is_typed) global(fmt::format("torch.{}", name(t.dtype())));
    op(kTuple);
    op(kReduce);
  }

  void dims(IntArrayRef values) {
    op(kMark);
    for (const int64_t n : values) integer(n);
    op(kTuple);
  }

  void integer(int64_t n) {
    if (n >= 0 && n <= 0xff) {
      op(kUInt8);
      little_endian(n, 1);
    } else if (n >= std::numeric_limits<int32_t>::min() &&
               n <= std::numeric_limits<int32_t>::max()) {
      op(kInt32);
      little_endian(n, 4);
    } else {
      op(kLong);
      out_ += '\x08';
      little_endian(n, 8);
    }
  }

  void real(double x) {
    op(kFloat);
    const auto bits = std::bit_cast<uint64_t>(x);
    for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift);
  }

  void string(const std::string& text) {
    if (!is_utf8(text, /*halves=*/true)) {
      throw SerializationError(fmt::format("expected text in UTF-8, got '{}'", one_line(text)));
    }
    if (text.size() > std::numeric_limits<uint32_t>::max()) {
      throw SerializationError("expected text below 4 GiB, got more");
    }
    atom('s' + text, [&] {
      op(kUnicode);
      little_endian(static_cast<int64_t>(text.size()), 4);
      out_ += text;
    });
  }

  void global(std::string_view name) {
    atom('g' + std::string(name), [&] {
      const size_t dot = name.rfind('.');
      op(kGlobal);
      out_ += fmt::format("{}\n{}\n", name.substr(0, dot), name.substr(dot + 1));
    });
  }

  // Equal strings and globals share a memo slot; containers and tensors share one by identity. A
  // container gets its slot when it is complete: none contains itself.
  void atom(const std::string& what, const auto& write_it) {
    const auto known = atoms_.find(what);
    if (known != atoms_.end()) return get(known->second);
    write_it();
    atoms_.emplace(what, put());
  }
  void once(const void* identity, const auto& write_it) {
    const auto known = objects_.find(identity);
    if (known != objects_.end()) return get(known->second);
    write_it();
    objects_.emplace(identity, put());
  }

  uint32_t put() {
    memo_reference(kPut, kLongPut, next_);
    return next_++;
  }
  void get(uint32_t slot) { memo_reference(kGet, kLongGet, slot); }
  void memo_reference(Op small, Op large, uint32_t slot) {
    const bool fits = slot <= 0xff;
    op(fits ? small : large);
    little_endian(slot, fits ? 1 : 4);
  }

  void op(Op code) {
    budget_.spend(code);
    out_ += static_cast<char>(code);
  }
  void little_endian(int64_t n, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(n >> (8 * i));
  }

  const std::function<Place(const Tensor&)>& place_of_;
  const TypeOf& type_of_;
  std::string out_;
  Budget budget_;  // enforces the reader's limit
  std::map<std::string, uint32_t> atoms_;
  std::unordered_map<const void*, uint32_t> objects_;
  uint32_t next_ = 0;
};

}  // namespace

std::string write(const Value& value, const std::function<Place(const Tensor&)>& place_of,
                  const TypeOf& type_of) {
  return Writer(place_of, type_of).finish(value);
}

}  // namespace ambit::pickle
