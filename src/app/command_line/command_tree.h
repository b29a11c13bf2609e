// The command tree as plain values. Completions and the manual are made from it, so that they agree
// with the help.
//
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tarry::app {

struct FlagNode {
  std::vector<std::string> names;    // "-o", "--output"
  std::string type;                  // "DURATION"; empty: takes no value
  std::vector<std::string> choices;  // allowed values; empty: any
  std::string summary;               // on one line
};

struct ArgumentNode {
  std::string name;  // "QUEUE"
  bool required = false;
  bool many = false;
  std::vector<std::string> choices;
  std::string summary;
};

struct CommandNode {
  std::string path;  // "queue set"; empty for the program itself
  std::string name;  // "set"
  std::string summary;
  std::string footer;  // details and examples, in lines
  std::vector<FlagNode> flags;
  std::vector<ArgumentNode> arguments;
  std::vector<CommandNode> commands;
};

[[nodiscard]] CommandNode tree_of(const CLI::App& root);

/// The node and all nodes below it, each before its children.
[[nodiscard]] std::vector<const CommandNode*> flattened(const CommandNode& node);

}  // namespace tarry::app
