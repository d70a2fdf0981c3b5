// The subcommands of `ambit`. Each adds itself to the command line; its callback leaves the exit
// code: 0 all is well, 1 something that was looked at is not. What could not be done, wrong usage
// and errors, is an exception, which main prints: 2.
#pragma once

#include <CLI/CLI.hpp>

void add_info(CLI::App& tool, int& exit_code);
void add_ops(CLI::App& tool, int& exit_code);
void add_conformance(CLI::App& tool, int& exit_code);
void add_bench(CLI::App& tool, int& exit_code);
