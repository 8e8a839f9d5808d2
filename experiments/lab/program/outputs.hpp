#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/report/report.hpp"

namespace normlab {

// The files that a program writes when asked to; empty where it was not.
struct Outputs {
  std::string json;     // --json FILE: every number
  std::string report;   // --report FILE: figures and tables as one HTML page
  std::string figures;  // --figures FOLDER: the figures as SVG
};

void add_outputs(CLI::App& app, Outputs& outputs);

// Throws std::invalid_argument if two options name the same file, however it is written: one would
// be lost to the other. Files stand under the options that name them; empty where not given.
void check_different(const std::string& program,
                     const std::vector<std::pair<std::string, std::string>>& files);

// Before a long computation: all files of the command line are different ones, `others` included,
// and the outputs can be written; else std::runtime_error.
void check_outputs(const std::string& program, const Outputs& outputs,
                   const std::vector<std::pair<std::string, std::string>>& others = {});

// Writes what was asked for, atomically. `report` is made only if it is wanted.
void write_outputs(const Outputs& outputs, const std::function<std::string()>& json,
                   const std::function<Report()>& report);

}  // namespace normlab
