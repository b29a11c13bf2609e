#include "app/command_line/completion.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tarry::app {
namespace {

/// Escapes text for single quotes of bash and zsh.
std::string sh_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted;
}

/// Escapes text for single quotes of fish.
std::string fish_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

/// Visits every flag that takes a value. `at` is "" for the flags of every command.
template <typename Use>
void each_flag_with_value(const CommandNode& root, Use use) {
  for (const CommandNode* node : flattened(root)) {
    for (const FlagNode& flag : node->flags) {
      if (flag.type.empty()) continue;
      for (const std::string& name : flag.names) use(*node, flag, name);
    }
  }
}

std::string pattern(const CommandNode& node, const std::string& name) {
  return node.path.empty() ? fmt::format("*:{}", name) : fmt::format("'{}:{}'", node.path, name);
}

/// Code for bash and zsh. It finds out which command the words before the cursor have chosen
/// (`at`), and whether the word at the cursor is a flag's value (`flag`).
std::string walk(const CommandNode& root, std::string_view words) {
  std::string text = fmt::format(
      "  for word in {}; do\n"
      "    if [[ -n $flag ]]; then\n"
      "      [[ $word == = ]] || flag=\n"
      "      continue\n"
      "    fi\n"
      "    case \"$at:$word\" in\n"
      "      *:--) return ;;\n",
      words);
  each_flag_with_value(root,
                       [&](const CommandNode& node, const FlagNode&, const std::string& name) {
                         text += fmt::format("      {}) flag=$word ;;\n", pattern(node, name));
                       });
  for (const CommandNode* node : flattened(root)) {
    for (const CommandNode& below : node->commands) {
      text += fmt::format("      '{}:{}') at='{}' ;;\n", node->path, below.name, below.path);
    }
  }
  return text + "    esac\n  done\n";
}

/// Begins the code for a flag that waits for its value. `list` is how the shell, bash or zsh,
/// writes a list.
std::string choices_of_flags(const CommandNode& root, fmt::format_string<std::string> list) {
  std::string text = "  if [[ -n $flag ]]; then\n    case \"$at:$flag\" in\n";
  each_flag_with_value(
      root, [&](const CommandNode& node, const FlagNode& flag, const std::string& name) {
        if (flag.choices.empty()) return;
        text += fmt::format("      {}) choices={} ;;\n", pattern(node, name),
                            fmt::format(list, fmt::format("{}", fmt::join(flag.choices, " "))));
      });
  return text;
}

std::vector<FlagNode> flags_at(const CommandNode& root, const CommandNode& node) {
  std::vector<FlagNode> flags = node.flags;
  if (&node == &root) return flags;
  for (const FlagNode& flag : root.flags) {
    if (flag.names.back() == "--store" || flag.names.back() == "--output") flags.push_back(flag);
  }
  return flags;
}

/// Words that are possible in place of a flag: commands, or the choices of the first argument.
std::vector<std::string> words_at(const CommandNode& node) {
  std::vector<std::string> words;
  for (const CommandNode& below : node.commands) words.push_back(below.name);
  if (!node.arguments.empty()) words = node.arguments.front().choices;
  return words;
}

std::string zsh_item(std::string_view word, std::string_view summary) {
  std::string escaped;
  for (const char c : word) {
    if (c == ':') escaped += '\\';
    escaped += c;
  }
  return fmt::format("'{}:{}'", sh_quoted(escaped), sh_quoted(summary));
}

std::string zsh_items(const CommandNode& root, const CommandNode& node) {
  std::string flags;
  for (const FlagNode& flag : flags_at(root, node)) {
    for (const std::string& name : flag.names) flags += " " + zsh_item(name, flag.summary);
  }
  std::string words;
  for (const CommandNode& below : node.commands) words += " " + zsh_item(below.name, below.summary);
  if (node.commands.empty()) {
    for (const std::string& word : words_at(node)) words += fmt::format(" '{}'", word);
  }
  return fmt::format("    '{}') flags=({}) words_here=({}) ;;\n", node.path, flags, words);
}

std::string fish_flag(const CommandNode& node, const FlagNode& flag) {
  std::string names;
  for (const std::string& name : flag.names) {
    names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  std::string value;
  if (!flag.choices.empty()) {
    value = fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "));
  } else if (!flag.type.empty()) {
    value = " -r";
  }
  const std::string where =
      node.path.empty() ? "" : fmt::format(" -n '__tarry_at \"{}\"'", node.path);
  return fmt::format("complete -c tarry{}{}{} -d '{}'\n", where, names, value,
                     fish_quoted(flag.summary));
}

}  // namespace

std::string bash_completion(const CommandNode& root) {
  std::string text =
      "# bash completion of tarry: source <(tarry completion bash)\n"
      "_tarry() {\n"
      "  local at= flag= word cur=${COMP_WORDS[COMP_CWORD]} choices= flags= words=\n"
      "  COMPREPLY=()\n"
      "  [[ $cur == = ]] && cur=\n";
  text += walk(root, "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"");
  text += choices_of_flags(root, "'{}'");
  text +=
      "    esac\n"
      "    [[ -n $choices ]] && COMPREPLY=($(compgen -W \"$choices\" -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$at\" in\n";
  for (const CommandNode* node : flattened(root)) {
    std::vector<std::string> flags;
    for (const FlagNode& flag : flags_at(root, *node)) {
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
    }
    text += fmt::format("    '{}') flags='{}' words='{}' ;;\n", node->path, fmt::join(flags, " "),
                        fmt::join(words_at(*node), " "));
  }
  return text +
         "  esac\n"
         "  if [[ $cur == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n"
         "  elif [[ -n $words ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _tarry tarry\n";
}

std::string zsh_completion(const CommandNode& root) {
  // The names `path` and `words` are avoided, because they have a meaning in zsh.
  std::string text =
      "#compdef tarry\n"
      "# zsh completion of tarry: as _tarry in a folder of $fpath, or source <(tarry completion "
      "zsh)\n"
      "_tarry() {\n"
      "  local at= flag= word\n"
      "  local -a flags words_here choices\n";
  text += walk(root, "\"${(@)words[2,CURRENT-1]}\"");
  text += choices_of_flags(root, "({})");
  text +=
      "    esac\n"
      "    if (( $#choices )); then compadd -a choices; else _files; fi\n"
      "    return\n"
      "  fi\n"
      "  case \"$at\" in\n";
  for (const CommandNode* node : flattened(root)) text += zsh_items(root, *node);
  return text +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then\n"
         "    _describe flag flags\n"
         "  elif (( $#words_here )); then\n"
         "    _describe command words_here\n"
         "  else\n"
         "    _files\n"
         "  fi\n"
         "}\n"
         "if [[ $funcstack[1] == _tarry ]]; then _tarry \"$@\"; else compdef _tarry tarry; fi\n";
}

std::string fish_completion(const CommandNode& root) {
  std::string text =
      "# fish completion of tarry: tarry completion fish | source\n"
      "function __tarry_at\n"
      "  set -l at ''\n"
      "  set -l flag ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    if test -n \"$flag\"\n"
      "      set flag ''\n"
      "      continue\n"
      "    end\n"
      "    switch \"$at:$word\"\n";
  each_flag_with_value(root,
                       [&](const CommandNode& node, const FlagNode&, const std::string& name) {
                         text += fmt::format("      case '{}:{}'\n        set flag 1\n",
                                             node.path.empty() ? "*" : node.path, name);
                       });
  for (const CommandNode* node : flattened(root)) {
    for (const CommandNode& below : node->commands) {
      text += fmt::format("      case '{}:{}'\n        set at '{}'\n", node->path, below.name,
                          below.path);
    }
  }
  text +=
      "    end\n"
      "  end\n"
      "  test \"$at\" = \"$argv[1]\"\n"
      "end\n"
      "complete -c tarry -e\n";
  for (const CommandNode* node : flattened(root)) {
    for (const FlagNode& flag : node->flags) text += fish_flag(*node, flag);
    const std::string where =
        fmt::format("complete -c tarry -f -n '__tarry_at \"{}\"'", node->path);
    for (const CommandNode& below : node->commands) {
      text += fmt::format("{} -a {} -d '{}'\n", where, below.name, fish_quoted(below.summary));
    }
    if (!node->commands.empty()) continue;
    const auto words = words_at(*node);
    if (!words.empty()) text += fmt::format("{} -a '{}'\n", where, fmt::join(words, " "));
  }
  return text;
}

}  // namespace tarry::app
