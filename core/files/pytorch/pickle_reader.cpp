// The stack machine. What stands on its stack is a value, a list or dict that is being filled, or
// something that only PyTorch's functions take. A container is finished when it is put into another
// or fetched from the memo, and never changes afterwards. So nothing contains itself, and what is
// shared is shared, not copied.
#include "pickle.h"

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
  Machine(std::string_view program, const StorageSource& storages, bool keep_requires_grad)
      : program_(program), storages_(storages), keep_requires_grad_(keep_requires_grad) {}

  Value run() {
    if (program_.byte() != kProtocol) {
      fail("expected a pickle of protocol 2 to 5, got something else");
    }
    if (const unsigned protocol = program_.byte(); protocol < 2 || protocol > 5) {
      fail("expected a pickle of protocol 2 to 5, got {}", protocol);
    }
    for (unsigned char op = program_.byte(); op != kStop; op = program_.byte()) step(op);
    if (stack_.size() != 1 || !marks_.empty() || !program_.is_at_end()) {
      fail("expected a pickle that ends with one value, got another end");
    }
    return to_value(pop());
  }

 private:
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
        return push(program_.long_integer());
      case kFloat:
        return push(Value(program_.real()));
      case kUnicode:
        return push(program_.string(program_.little_endian(4)));
      case kShortUnicode:
        return push(program_.string(program_.little_endian(1)));
      case kLongUnicode:
        return push(program_.string(program_.little_endian(8)));
      case kMark:
        return marks_.push_back(stack_.size());
      case kEmptyList:
        return push(open(Value::Kind::list));
      case kEmptyDict:
        return push(open(Value::Kind::dict));
      case kAppend:
        return append(below(1));
      case kAppends:
        return append(pop_mark());
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
        return push(find_global(module + "." + program_.line()));
      }
      case kStackGlobal: {
        const Value name = to_value(pop()), module = to_value(pop());
        return push(find_global(module.to_string() + "." + name.to_string()));
      }
      case kReduce: {
        const Item arguments = pop(), function = pop();
        return push(call(function, arguments, keep_requires_grad_));
      }
      case kNewObject: {
        const Item arguments = pop(), type = pop();
        return push(make_object(type, arguments));
      }
      case kBuild: {
        Value attributes = to_value(pop());
        return set_attributes(stack_[below(1)], std::move(attributes));
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

  static Item open(Value::Kind kind) { return std::make_shared<Open>(Open{kind}); }

  // Moves what stands from `first` on into the container below it.
  void append(size_t first) {
    Open& container = open_below(first);
    if (container.kind != Value::Kind::list) fail("expected a list to append to, got a dict");
    move_into(container, first);
  }

  void set_items(size_t first) {
    Open& container = open_below(first);
    if (container.kind == Value::Kind::list) fail("expected a dict to set items in, got a list");
    if ((stack_.size() - first) % 2 != 0) fail("expected a value for each key, got one without");
    move_into(container, first);
  }

  Open& open_below(size_t first) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    const auto* container =
        first > floor ? std::get_if<std::shared_ptr<Open>>(&stack_[first - 1]) : nullptr;
    if (!container) fail("expected a list or a dict to fill, got something else");
    if ((*container)->is_object) fail("expected a list or a dict to fill, got an object");
    if ((*container)->finished) fail("expected values that do not contain themselves, got one");
    return **container;
  }

  void move_into(Open& container, size_t first) {
    for (size_t i = first; i < stack_.size(); ++i) {
      container.items.push_back(to_value(std::move(stack_[i])));
    }
    stack_.resize(first);
  }

  void make_tuple(size_t first) {
    bool plain = true;
    for (size_t i = first; i < stack_.size(); ++i) {
      Item& item = stack_[i];
      const bool special =
          std::holds_alternative<Global>(item) || std::holds_alternative<StorageRef>(item);
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
      tuple = std::make_shared<const Arguments>(Arguments{{begin, end}});
    }
    stack_.resize(first);
    push(std::move(tuple));
  }

  // --- what PyTorch does to them

  // ("storage", torch.FloatStorage, key, the device where it was, number of elements)
  StorageRef find_storage() {
    const std::vector<Item> id = arguments(pop(), 5, "a storage");
    const Global* global = std::get_if<Global>(&id[1]);
    if (to_value(id[0]).to_string() != "storage" || !global || !global->storage) {
      fail("expected the id of a storage of a known type, got another");
    }
    return {storages_(to_value(id[2]).to_string(), *global->storage, to_value(id[4]).to_int())};
  }

  // --- memo

  void put(uint64_t slot) { memo_.insert_or_assign(slot, stack_[below(1)]); }

  void get(uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) fail("expected something in slot {} of the memo, got nothing", slot);
    const bool open = std::holds_alternative<std::shared_ptr<Open>>(found->second);
    push(open ? to_value(found->second) : found->second);
  }

  // --- stack; nothing reaches below the last mark

  void push(Item item) { stack_.push_back(std::move(item)); }

  // Returns the position of the n-th item from the top.
  size_t below(size_t n) const {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < n) fail("expected more on the stack than there is");
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
  Budget budget_;
  const StorageSource& storages_;
  bool keep_requires_grad_;
  std::vector<Item> stack_;
  std::vector<size_t> marks_;      // sizes of the stack
  std::map<uint64_t, Item> memo_;  // not hashed: a file could choose numbers that collide
};

}  // namespace

Value read(std::string_view program, const StorageSource& storages, bool keep_requires_grad) {
  return Machine(program, storages, keep_requires_grad).run();
}

}  // namespace ambit::pickle
