#include "cases.h"

namespace conformance {

void add_order_cases(Cases&) {}

}  // namespace conformance
