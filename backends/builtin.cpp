// The backends in libambit: an explicit list, because linkers drop object files that only register
// themselves.
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
