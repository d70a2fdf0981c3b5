// The subcommands of `ambit`. Each function adds one to the command line; its callback sets the
// exit code: 0 for success, 1 if a check failed. Wrong usage and errors are exceptions, which main
// prints: 2.
#pragma once

#include <CLI/CLI.hpp>

void add_info(CLI::App& tool, int& exit_code);
void add_ops(CLI::App& tool, int& exit_code);
void add_conformance(CLI::App& tool, int& exit_code);
void add_bench(CLI::App& tool, int& exit_code);
void add_graph(CLI::App& tool, int& exit_code);
void add_check(CLI::App& tool, int& exit_code);
void add_accuracy(CLI::App& tool, int& exit_code);
