// The stack machine. Items on its stack are values, lists or dicts that are being filled, or
// arguments of PyTorch's functions. A container is finished when it is put into another or fetched
// from the memo, and never changes afterwards: so no value contains itself, and shared values are
// not copied. A list that is filled after it was fetched contains itself: then the pickle runs once
// more, and fetching it too early gives an opaque value.
#include "core/files/pytorch/pickle.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "pickle_items.h"
#include "pickle_program.h"

namespace ambit::pickle {
namespace {

class Machine {
 public:
  /// For each container that contains itself, by its number: how many bytes of the program remain
  /// after it was filled.
  using Circular = std::map<size_t, size_t>;

  Machine(std::string_view program, const StorageSource& storages, Budget& budget,
          bool keep_requires_grad, const Circular& circular)
      : program_(program),
        budget_(budget),
        storages_(storages),
        keep_requires_grad_(keep_requires_grad),
        circular_(circular) {}

  Value run() {
    if (program_.byte() != kProtocol) {
      fail("expected a pickle of protocol 2 to 5, got something else");
    }
    if (const unsigned protocol = program_.byte(); protocol < 2 || protocol > 5) {
      fail("expected a pickle of protocol 2 to 5, got {}", protocol);
    }
    for (unsigned char op = program_.byte(); op != kStop; op = program_.byte()) step(op);
    if (stack_.size() != 1 || !marks_.empty()) {
      fail("expected a pickle that ends with one value, got {} values and {} marks", stack_.size(),
           marks_.size());
    }
    return to_value(pop(), budget_);
  }
  size_t rest() const { return program_.rest(); }
  /// Containers that contain themselves, other than those given to the constructor.
  const Circular& found_circular() const { return found_circular_; }

 private:
  static constexpr int kMaxArguments = 10;  // levels of nested Arguments

  void step(unsigned char op) {
    budget_.spend(op);
    switch (op) {
      case kNone:
        return push(Value());
      case kTrue:
      case kFalse:
        return push(Value(op == kTrue));
      case kInt32:
        return push(Value(static_cast<int32_t>(program_.little_endian(4))));
      case kUInt8:
        return push(Value(program_.little_endian(1)));
      case kUInt16:
        return push(Value(program_.little_endian(2)));
      case kLong:
      case kLongLong: {
        Value n = program_.long_integer(program_.little_endian(op == kLong ? 1 : 4));
        if (n.kind() == Value::Kind::opaque) budget_.spend(kReduce);
        return push(std::move(n));
      }
      case kFloat:
        return push(Value(program_.real()));
      case kUnicode:
        return push(program_.string(program_.little_endian(4)));
      case kShortUnicode:
        return push(program_.string(program_.little_endian(1)));
      case kLongUnicode:
        return push(program_.string(program_.little_endian(8)));
      case kShortText:
        return push_old_string(program_.little_endian(1));
      case kText:
        return push_old_string(program_.little_endian(4));
      case kShortBytes:
        return push(program_.bytes(program_.little_endian(1)));
      case kBytes:
        return push(program_.bytes(program_.little_endian(4)));
      case kLongBytes:
        return push(program_.bytes(program_.little_endian(8)));
      case kByteArray:
        return push(Value::opaque({"bytearray",
                                   std::string(kByteArrayType),
                                   {program_.bytes(program_.little_endian(8))}}));
      case kEmptySet:
        return push(open(Value::Kind::opaque));
      case kAddItems:
        return append(pop_mark(), Value::Kind::opaque);
      case kFrozenSet:
        return freeze(pop_mark());
      case kMark:
        return marks_.push_back(stack_.size());
      case kEmptyList:
        return push(open(Value::Kind::list));
      case kEmptyDict:
        return push(open(Value::Kind::dict));
      case kAppend:
        return append(below(1), Value::Kind::list);
      case kAppends:
        return append(pop_mark(), Value::Kind::list);
      case kSetItem:
        return set_items(below(2));
      case kSetItems:
        return set_items(pop_mark());
      case kEmptyTuple:
        return make_tuple(stack_.size());
      case kTuple:
        return make_tuple(pop_mark());
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return make_tuple(below(op - kTuple1 + 1u));
      case kGlobal: {
        const std::string module = program_.line();
        return push(global(module + "." + program_.line()));
      }
      case kStackGlobal: {
        const Value name = to_value(pop()), module = to_value(pop());
        return push(global(module.to_string() + "." + name.to_string()));
      }
      case kReduce:
      case kNewObject: {
        const Item arguments = pop(), callee = pop();
        Item made = op == kReduce ? call(callee, arguments, keep_requires_grad_, budget_)
                                  : make_object(callee, arguments);
        if (auto* open = std::get_if<std::shared_ptr<Open>>(&made)) (*open)->number = made_++;
        return push(std::move(made));
      }
      case kBuild: {
        const Item state = pop();
        return set_attributes(stack_[below(1)], state, budget_);
      }
      case kPersistentId:
        return push(find_storage());
      case kPut:
        return put(program_.little_endian(1));
      case kLongPut:
        return put(program_.little_endian(4));
      case kMemoize:
        return put(memo_.size());
      case kGet:
        return get(program_.little_endian(1));
      case kLongGet:
        return get(program_.little_endian(4));
      case kFrame:
        return static_cast<void>(program_.little_endian(8));
      default:
        fail("expected opcodes of plain values, got 0x{:02x}", op);
    }
  }

  // --- containers

  Item open(Value::Kind kind) {
    return std::make_shared<Open>(Open{.kind = kind, .number = made_++});
  }

  // Move the items from `first` on into the container below them.
  void append(size_t first, Value::Kind kind) {
    Open& container = open_below(first);
    if (container.kind != kind) {
      fail("expected a {} to append to, got another type",
           kind == Value::Kind::list ? "list" : "set");
    }
    move_into(container, first);
  }

  void freeze(size_t first) {
    Open items{.kind = Value::Kind::list};
    move_into(items, first);
    push(Value::opaque(
        {"frozenset", std::string(kFrozenSetType), {Value::list(std::move(items.items))}}));
  }

  void set_items(size_t first) {
    Open& container = open_below(first);
    if (container.kind != Value::Kind::dict && container.kind != Value::Kind::ordered_dict) {
      fail("expected a dict to set items in, got a list or a set");
    }
    if ((stack_.size() - first) % 2 != 0) fail("expected a value for each key, got one without");
    move_into(container, first);
  }

  Open& open_below(size_t first) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    const auto* container =
        first > floor ? std::get_if<std::shared_ptr<Open>>(&stack_[first - 1]) : nullptr;
    if (!container) fail("expected a list or a dict to fill, got something else");
    if ((*container)->is_object) fail("expected a list or a dict to fill, got an object");
    if ((*container)->finished) found_circular_[(*container)->number] = program_.rest();
    return **container;
  }

  void move_into(Open& container, size_t first) {
    for (size_t i = first; i < stack_.size(); ++i) {
      Value item = to_value(std::move(stack_[i]), budget_);
      if (!container.finished) container.items.push_back(std::move(item));
    }
    stack_.resize(first);
  }

  void make_tuple(size_t first) {
    bool plain = true;
    int depth = 0;
    for (size_t i = first; i < stack_.size(); ++i) {
      Item& item = stack_[i];
      const auto* inner = std::get_if<std::shared_ptr<const Arguments>>(&item);
      if (inner) depth = std::max(depth, (*inner)->depth);
      const bool special =
          inner || std::holds_alternative<Global>(item) || std::holds_alternative<StorageRef>(item);
      if (!special) item = to_value(std::move(item));
      plain = plain && !special;
    }
    const auto begin = std::make_move_iterator(stack_.begin() + static_cast<ptrdiff_t>(first));
    const auto end = std::make_move_iterator(stack_.end());
    Item tuple;
    if (plain) {
      Value::List values;
      values.reserve(stack_.size() - first);
      std::transform(begin, end, std::back_inserter(values),
                     [](Item&& item) { return std::get<Value>(std::move(item)); });
      tuple = Value::tuple(std::move(values));
    } else {
      if (depth >= kMaxArguments) fail("expected at most {} levels of arguments", kMaxArguments);
      tuple = std::make_shared<const Arguments>(Arguments{{begin, end}, depth + 1});
    }
    stack_.resize(first);
    push(std::move(tuple));
  }

  // --- storages and globals of PyTorch

  // ("storage", torch.FloatStorage, key, original device, number of elements); before PyTorch 1.6
  // followed by None or (key, offset, number of elements) of a part of it
  StorageRef find_storage() {
    const std::vector<Item> id = arguments(pop(), 5, 6, "a storage");
    const Global* global = std::get_if<Global>(&id[1]);
    if (to_value(id[0]).to_string() != "storage" || !global || !global->storage) {
      fail("expected the id of a storage of a known type, got another type");
    }
    const StorageType& type = *global->storage;
    StorageRef whole{storages_.find(to_value(id[2]).to_string(), type, to_value(id[4]).to_int()),
                     &type, &storages_};
    if (id.size() == 5 || to_value(id[5]).is_none() || !whole.elements.defined()) return whole;
    const std::vector<Item> part = arguments(id[5], 3, "a part of a storage");
    const int64_t offset = to_value(part[1]).to_int(), count = to_value(part[2]).to_int();
    const int64_t numel = whole.elements.numel();
    if (offset < 0 || count < 0 || offset > numel || count > numel - offset) {
      fail("expected a part of a storage of {} elements, got {} from {} on", numel, count, offset);
    }
    return {whole.elements.slice(0, offset, offset + count), &type, &storages_};
  }

  // A global that is an opaque value costs as much memory as a call.
  Item global(const std::string& name) {
    Item found = find_global(name);
    if (std::holds_alternative<Value>(found)) budget_.spend(kReduce);
    return found;
  }

  // --- memo

  void put(uint64_t slot) { memo_.insert_or_assign(slot, stack_[below(1)]); }

  void get(uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) fail("expected a value in slot {} of the memo, got none", slot);
    const auto* open = std::get_if<std::shared_ptr<Open>>(&found->second);
    if (!open) return push(found->second);
    push(contains_itself_here(**open) ? stand_in(**open) : to_value(found->second));
  }

  bool contains_itself_here(const Open& container) const {
    const auto known = circular_.find(container.number);
    return known != circular_.end() && program_.rest() > known->second;
  }

  // Return the opaque value that replaces a container inside itself.
  Value stand_in(const Open& container) {
    budget_.spend(kReduce);
    const bool is_list = container.kind == Value::Kind::list;
    return Value::opaque(
        {fmt::format("{} that contains itself", is_list ? "list" : "dict"), "", {}});
  }

  // --- stack; items below the last mark are not accessible

  void push(Item item) { stack_.push_back(std::move(item)); }

  void push_old_string(uint64_t bytes) {
    Value text = program_.old_string(bytes);
    if (text.kind() == Value::Kind::opaque) budget_.spend(kBytes);
    push(std::move(text));
  }

  // Return the position of the n-th item from the top.
  size_t below(size_t n) const {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < n) fail("expected more values on the stack, got too few");
    return stack_.size() - n;
  }

  Item pop() {
    Item item = std::move(stack_[below(1)]);
    stack_.pop_back();
    return item;
  }

  size_t pop_mark() {
    if (marks_.empty()) fail("expected a mark on the stack, got none");
    const size_t position = marks_.back();
    marks_.pop_back();
    return position;
  }

  Program program_;
  Budget& budget_;
  const StorageSource& storages_;
  bool keep_requires_grad_;
  const Circular& circular_;
  Circular found_circular_;
  size_t made_ = 0;  // number of containers
  std::vector<Item> stack_;
  std::vector<size_t> marks_;      // the stack's size at each mark
  std::map<uint64_t, Item> memo_;  // not hashed: a file could make numbers collide
};

}  // namespace

Value read(std::string_view program, const StorageSource& storages, Budget& budget,
           bool keep_requires_grad, size_t* used) {
  const Budget before = budget;
  Machine::Circular circular;
  const auto run = [&] {
    Machine machine(program, storages, budget, keep_requires_grad, circular);
    Value value = machine.run();
    if (used) {
      *used = program.size() - machine.rest();
    } else if (machine.rest() > 0) {
      fail("expected a pickle that ends with STOP, got more after it");
    }
    circular = machine.found_circular();
    return value;
  };
  Value value = run();
  if (circular.empty()) return value;
  value = Value();  // free its memory before the second run
  budget = before;
  value = run();
  if (!circular.empty()) fail("expected values that do not contain themselves, got one");
  return value;
}

}  // namespace ambit::pickle
