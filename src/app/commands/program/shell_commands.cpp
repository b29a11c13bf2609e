// tarry completion, tarry man: the command tree for shells and for man(1).
#include <memory>

#include "app/command_line/command.h"
#include "app/command_line/completion.h"
#include "app/command_line/man_page.h"
#include "app/commands/commands.h"
#include "app/output/version.h"

namespace tarry::app {
namespace {

const std::vector<std::string_view>& shell_names() {
  static const std::vector<std::string_view> kNames{"bash", "zsh", "fish"};
  return kNames;
}

ExitCode print_text(Invocation& invocation, std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  invocation.output.print_line(text);
  return ExitCode::done;
}

ExitCode completion(Invocation& invocation, const CLI::App& root, std::string_view shell) {
  const CommandNode tree = tree_of(root);
  if (shell == "bash") return print_text(invocation, bash_completion(tree));
  if (shell == "zsh") return print_text(invocation, zsh_completion(tree));
  return print_text(invocation, fish_completion(tree));
}

}  // namespace

void add_shell_commands(CLI::App& root, Invocation& invocation) {
  const auto shell = std::make_shared<std::optional<std::string>>();
  const auto complete = [shell, &root](Invocation& given) {
    return completion(given, root, **shell);
  };
  CLI::App& command = add_command(root, invocation, "completion", complete, R"(
A script that completes commands in your shell

  tarry completion bash > ~/.local/share/bash-completion/completions/tarry
  tarry completion zsh > ~/.zfunc/_tarry
  tarry completion fish > ~/.config/fish/completions/tarry.fish)");
  add_choice(command, "SHELL", *shell, shell_names(), "bash, zsh or fish")->required();
  const auto manual = [&root](Invocation& given) {
    return print_text(given, man_page(tree_of(root), version_line()));
  };
  add_command(root, invocation, "man", manual, R"(
The manual, as a page for man(1)

  tarry man > tarry.1 && man ./tarry.1)");
}

}  // namespace tarry::app
