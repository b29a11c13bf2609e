#include "app/commands/service/serve_flags.h"

#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"

namespace tarry::app {

using config::Kind;
using config::Setting;
using config::Which;

void add_serve_flags(CLI::App& command, ServeFlags& into) {
  add_word(command, "--config", into.config,
           "A TOML file with settings (default: TARRY_CONFIG, else none)")
      ->type_name("FILE");
  const auto& settings = config::serve_settings();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting& setting = settings[i];
    const auto which = static_cast<Which>(i);
    if (which == Which::store_url) continue;
    const std::string name(setting.flag);
    std::string help(setting.help);
    if (!setting.standard.empty() && setting.kind != Kind::yes_no) {
      help += fmt::format(" (default: {})", setting.standard);
    }
    if (setting.kind == Kind::yes_no) {
      command.add_flag_callback(name, [&into, which] { into.values[which] = "true"; }, help);
      continue;
    }
    std::string type(setting.type);
    if (setting.kind == Kind::choice) type = fmt::format("{}", fmt::join(setting.choices, "|"));
    command
        .add_option_function<std::string>(
            name,
            [&into, &setting, which](const std::string& word) {
              const std::string value = unprotect(word);
              const auto parsed = config::parse_value(setting, value);
              if (!parsed) {
                throw CLI::ValidationError(std::string(setting.flag), parsed.error().message);
              }
              into.values[which] = value;
            },
            help)
        ->type_name(type);
  }
}

config::Flags all_flags(const Invocation& invocation, const ServeFlags& flags) {
  config::Flags values = flags.values;
  if (!invocation.store.empty()) values[Which::store_url] = invocation.store;
  return values;
}

std::optional<config::Config> load_config(Invocation& invocation, const ServeFlags& flags,
                                          ExitCode& code) {
  if (flags.config && flags.config->empty()) {
    code = invocation.output.usage("--config is empty; it takes a file");
    return std::nullopt;
  }
  std::vector<std::string> problems;
  auto loaded = config::load(config::file_of(flags.config), all_flags(invocation, flags), problems);
  if (loaded) return std::move(*loaded);
  for (const std::string& problem : problems) {
    code = invocation.output.fail({ErrorCode::invalid_argument, problem});
  }
  return std::nullopt;
}

}  // namespace tarry::app
