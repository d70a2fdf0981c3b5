// A valid entry of a plugin: LOAD names the function of loads.cpp that it calls.
#include <ambit/backend/plugin.h>

namespace loads {
void LOAD(ambit::Registry& registry);
}

AMBIT_PLUGIN(fixture, loads::LOAD)
