// libtorch's namespaces: what is ambit's is theirs. All headers of this folder build on this one.
#pragma once

namespace ambit {}

namespace c10 {
using namespace ambit;
}

namespace at {
using namespace c10;
}

namespace torch {
using namespace at;
}
