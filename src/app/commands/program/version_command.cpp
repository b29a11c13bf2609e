// tarry version: the program's version and the parts that were built into it.
#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/relays/relay_coordination.h"
#include "app/relays/relay_sinks.h"

namespace tarry::app {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

std::vector<std::string_view> sinks_built_in() {
  std::vector<std::string_view> names;
  for (const relay::SinkKind& kind : sink_kinds()) {
    if (kind.make) names.push_back(kind.name);
  }
  return names;
}

ExitCode version(Session& session) {
  if (session.output.json()) {
    session.output.print_json([](wire::JsonWriter& json) {
      json.begin_object().field("version", TARRY_VERSION).text_field("compiler", kCompiler);
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
      json.end_array().end_object();
    });
    return ExitCode::done;
  }
  Sheet sheet;
  sheet.add("tarry", TARRY_VERSION);
  sheet.add("compiler", kCompiler);
  sheet.add_parts("engines", {"embedded (memory: file:)", "remote (http: https: http+unix:)",
                              "redis (redis: rediss: redis+unix: redis+sentinel: redis+cluster:)"});
  sheet.add("sinks", fmt::format("{}", fmt::join(sinks_built_in(), ", ")));
  sheet.add("coordination", fmt::format("{}", fmt::join(coordination_kinds(), ", ")));
  session.output.print(sheet);
  return ExitCode::done;
}

}  // namespace

void add_version_command(CLI::App& root, Session& session) {
  add_command(root, session, "version", version, R"(
Version, compiler, and what is built in

  tarry version
  tarry version -o json)");
}

}  // namespace tarry::app
