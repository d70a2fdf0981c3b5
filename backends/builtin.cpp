// The backends that are part of libambit: an explicit list, since linkers drop what only registers
// itself.
#include <ambit/backend/registry.h>

namespace ambit {

namespace cpu {
void load(Registry& registry);
}
namespace reference {
void load(Registry& registry);
}

void load_builtin_backends() {
  Registry registry("libambit");
  cpu::load(registry);
  reference::load(registry);
  registry.commit();
}

}  // namespace ambit
