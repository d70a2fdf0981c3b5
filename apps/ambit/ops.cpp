#include "commands.h"

void add_ops(CLI::App&, int&) {}
