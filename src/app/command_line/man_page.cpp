#include "app/command_line/man_page.h"

#include <string_view>

#include <fmt/format.h>

namespace tarry::app {
namespace {

/// Escapes one line of text, so that roff finds no escape or request in it.
std::string roff(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\\') {
      line += "\\e";
    } else if (c == '-') {
      line += "\\-";
    } else {
      line += c;
    }
  }
  if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
  return line;
}

/// Prints the lines unchanged.
std::string verbatim(std::string_view text) {
  std::string block = ".nf\n";
  while (!text.empty()) {
    const auto end = text.find('\n');
    // Some formatters warn of an empty line.
    const std::string line = roff(text.substr(0, end));
    block += line.empty() ? ".sp\n" : line + "\n";
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return block + ".fi\n";
}

std::string synopsis(const CommandNode& node) {
  std::string text = "\\fBtarry";
  if (!node.path.empty()) text += " " + roff(node.path);
  text += "\\fR";
  for (const ArgumentNode& argument : node.arguments) {
    const std::string name =
        fmt::format("\\fI{}\\fR{}", roff(argument.name), argument.many ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  if (!node.flags.empty()) text += " [\\fIFLAG\\fR...]";
  if (!node.commands.empty()) text += " \\fICOMMAND\\fR ...";
  if (node.path == "work" || node.path == "relay")
    text += " \\-\\- \\fICOMMAND\\fR [\\fIARG\\fR...]";
  return text;
}

std::string items(const CommandNode& node, bool with_help) {
  std::string text;
  for (const ArgumentNode& argument : node.arguments) {
    text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(argument.name), roff(argument.summary));
  }
  for (const FlagNode& flag : node.flags) {
    if (!with_help && flag.names.back() == "--help") continue;
    std::string names;
    for (const std::string& name : flag.names) {
      names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", roff(name));
    }
    if (!flag.type.empty()) names += fmt::format(" \\fI{}\\fR", roff(flag.type));
    text += fmt::format(".TP\n{}\n{}\n", names, roff(flag.summary));
  }
  return text;
}

}  // namespace

std::string man_page(const CommandNode& root, std::string_view version) {
  const auto colon = root.summary.find(": ");
  std::string text = fmt::format(
      ".TH TARRY 1 \"\" \"{}\" \"User Commands\"\n"
      ".SH NAME\ntarry \\- {}\n.SH SYNOPSIS\n\\fBtarry\\fR [\\fB\\-\\-store\\fR \\fIURL\\fR] "
      "[\\fB\\-o\\fR \\fItable|json\\fR] \\fICOMMAND\\fR ...\n",
      roff(version), roff(root.summary.substr(colon == std::string::npos ? 0 : colon + 2)));
  text += ".SH OPTIONS\n" + items(root, true) + ".SH COMMANDS\n";
  for (const CommandNode* node : flattened(root)) {
    if (node == &root) continue;
    text +=
        fmt::format(".SS {}\n{}.\n{}", synopsis(*node), roff(node->summary), items(*node, false));
    if (!node->footer.empty()) text += ".PP\n" + verbatim(node->footer);
  }
  return text + ".SH NOTES\n" + verbatim(root.footer);
}

}  // namespace tarry::app
