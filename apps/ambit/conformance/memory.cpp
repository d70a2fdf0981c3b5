#include "cases.h"

namespace conformance {

void add_memory_cases(Cases&) {}

}  // namespace conformance
