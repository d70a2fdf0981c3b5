// The subcommands of `ambit`. Each adds itself to the command line; its callback leaves the exit
// code: 0 all is well, 1 it is not. Errors are exceptions, which main prints.
#pragma once

#include <CLI/CLI.hpp>

void add_info(CLI::App& tool, int& exit_code);
void add_ops(CLI::App& tool, int& exit_code);
void add_conformance(CLI::App& tool, int& exit_code);
