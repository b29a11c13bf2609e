// The layout of help, and the messages about arguments that cannot be understood.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tarry::app {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// The command that the arguments chose, at the deepest level that they named.
[[nodiscard]] const CLI::App& chosen(const CLI::App& root);

/// The help of a command, with the commands above it in its usage line.
[[nodiscard]] std::string help_of(const CLI::App& command);

/// One line about the mistake. For a mistyped flag or command it suggests the nearest one, and it
/// says where to read more.
[[nodiscard]] std::string explain(const CLI::App& root, const CLI::ParseError& error,
                                  const std::vector<std::string>& behind = {});

}  // namespace tarry::app
