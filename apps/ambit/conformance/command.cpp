#include "../commands.h"

void add_conformance(CLI::App&, int&) {}
