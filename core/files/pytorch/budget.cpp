// The cost of an opcode is the maximum memory that it uses, measured with files that consist of
// that opcode: its slot on the stack and then in a container (vectors that double), its
// allocations, and its entries in the sets that detect duplicate keys of a dict.
#include "pickle.h"

#include <fmt/format.h>

namespace ambit::pickle {
namespace {

uint64_t cost_of(unsigned char op) {
  switch (op) {
    case kMark:
      return 16;
    case kEmptyList:
    case kEmptyDict:
    case kTuple:
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return 256;
    case kReduce:
    case kNewObject:
      return 512;
    case kEmptySet:
    case kFrozenSet:
    case kBytes:
    case kShortBytes:
    case kLongBytes:
      return 768;
    case kByteArray:
      return 1280;
    case kUnicode:
    case kShortUnicode:
    case kLongUnicode:
    case kText:
    case kShortText:
    case kEmptyTuple:
    case kPut:
    case kLongPut:
    case kMemoize:
      return 128;
    default:
      return 64;
  }
}

}  // namespace

void Budget::spend(unsigned char op) { spend_bytes(cost_of(op)); }

void Budget::spend_bytes(uint64_t cost) {
  if (cost > left_) {
    throw SerializationError(fmt::format(
        "expected plain values of together at most {} bytes in memory, got more", kMaxMemoryBytes));
  }
  left_ -= cost;
}

}  // namespace ambit::pickle
