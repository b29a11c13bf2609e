// tarry version: the program's version and the parts that were built into it.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/relays/relay_coordination.h"
#include "app/relays/relay_sinks.h"
#include "base/loaded_library.h"

namespace tarry::app {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif
#ifdef TARRY_COMMIT
constexpr std::string_view kCommit = TARRY_COMMIT;
#else
constexpr std::string_view kCommit;
#endif

std::vector<std::string_view> sinks_built_in() {
  std::vector<std::string_view> names;
  for (const relay::SinkKind& kind : sink_kinds()) {
    if (kind.make) names.push_back(kind.name);
  }
  return names;
}

struct OtherLibrary {
  const base::LoadedLibrary* library;
  bool is_there;
};

// Those that this build loads when a URL first needs them; none where it is linked with them.
std::vector<OtherLibrary> other_libraries() {
  std::vector<OtherLibrary> others;
  const auto add = [&others](const base::LoadedLibrary* library) {
    if (library == nullptr || library->file == nullptr) return;
    others.push_back({library, base::load(*library).has_value()});
  };
  for (const relay::SinkKind& kind : sink_kinds()) add(kind.library);
  add(zookeeper_library());
  return others;
}

ExitCode version(Invocation& invocation) {
  const std::vector<OtherLibrary> others = other_libraries();
  if (invocation.output.json()) {
    invocation.output.print_json([&others](wire::JsonWriter& json) {
      json.begin_object().field("version", TARRY_VERSION).text_field("compiler", kCompiler);
      if (!kCommit.empty()) json.text_field("commit", kCommit);
      json.name("engines")
          .begin_array()
          .plain("embedded")
          .plain("remote")
          .plain("redis")
          .end_array();
      json.name("sinks").begin_array();
      for (const std::string_view kind : sinks_built_in()) json.plain(kind);
      json.end_array().name("coordination").begin_array();
      for (const std::string_view kind : coordination_kinds()) json.plain(kind);
      json.end_array();
      if (!others.empty()) {
        json.name("libraries").begin_array();
        for (const OtherLibrary& other : others) {
          json.begin_object().text_field("file", other.library->file);
          json.field_bool("there", other.is_there).text_field("packages", other.library->packages);
          json.end_object();
        }
        json.end_array();
      }
      json.end_object();
    });
    return ExitCode::done;
  }
  Sheet sheet;
  sheet.add("tarry", TARRY_VERSION);
  if (!kCommit.empty()) sheet.add("commit", kCommit);
  sheet.add("compiler", kCompiler);
  sheet.add_parts("engines", {"embedded (memory: file:)", "remote (http: https: http+unix:)",
                              "redis (redis: rediss: redis+unix: redis+sentinel: redis+cluster:)"});
  sheet.add("sinks", fmt::format("{}", fmt::join(sinks_built_in(), ", ")));
  sheet.add("coordination", fmt::format("{}", fmt::join(coordination_kinds(), ", ")));
  std::vector<std::string> parts;
  for (const OtherLibrary& other : others) {
    parts.push_back(other.is_there ? std::string(other.library->file)
                                   : fmt::format("{} is missing: install {}", other.library->file,
                                                 other.library->packages));
  }
  if (!parts.empty()) sheet.add_parts("libraries", std::move(parts));
  invocation.output.print(sheet);
  return ExitCode::done;
}

}  // namespace

void add_version_command(CLI::App& root, Invocation& invocation) {
  add_command(root, invocation, "version", version, R"(
Version, compiler, and what is built in

  tarry version
  tarry version -o json)");
}

}  // namespace tarry::app
