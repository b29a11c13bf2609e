#include "app/command_line/command_tree.h"

#include <algorithm>
#include <string_view>

namespace tarry::app {
namespace {

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Reads the choices from an option's type, where add_choice has written them: "table|json".
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  if (type.find('|') == std::string::npos) return choices;
  std::string_view rest = type;
  while (true) {
    const auto bar = rest.find('|');
    choices.emplace_back(rest.substr(0, bar));
    if (bar == std::string_view::npos) return choices;
    rest.remove_prefix(bar + 1);
  }
}

CommandNode node_of(const CLI::App& app, const std::string& above) {
  CommandNode node;
  const bool root = app.get_parent() == nullptr;
  if (!root) {
    node.name = app.get_name();
    node.path = above.empty() ? node.name : above + " " + node.name;
  }
  node.summary = one_line(app.get_description());
  node.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (option->get_positional()) {
      node.arguments.push_back({option->get_name(true), option->get_required(),
                                option->get_items_expected_max() > 1, choices_of(type),
                                one_line(option->get_description())});
      continue;
    }
    FlagNode& flag = node.flags.emplace_back();
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) flag.type = type;
    flag.choices = choices_of(flag.type);
    flag.summary = one_line(option->get_description());
  }
  for (const CLI::App* below : app.get_subcommands({})) {
    node.commands.push_back(node_of(*below, node.path));
  }
  return node;
}

}  // namespace

CommandNode tree_of(const CLI::App& root) { return node_of(root, {}); }

std::vector<const CommandNode*> flattened(const CommandNode& node) {
  std::vector<const CommandNode*> all{&node};
  for (const CommandNode& below : node.commands) {
    const auto more = flattened(below);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace tarry::app
