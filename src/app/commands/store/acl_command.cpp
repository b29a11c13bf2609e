// tarry store acl: the rights that a Redis user needs for a store.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "base/text/text.h"
#include "open/redis/redis_acl.h"

namespace tarry::app {
namespace {

constexpr std::string_view kOldRedis = "6.2";
const std::vector<std::string_view>& redis_versions() {
  static const std::vector<std::string_view> versions = {kOldRedis, "7.0"};
  return versions;
}

struct AclWords {
  std::string user = "tarry";
  std::optional<std::string> version;
};

ExitCode print_acl(Invocation& invocation, const AclWords& words) {
  Output& output = invocation.output;
  const std::string& user = words.user;
  const bool is_word = std::ranges::all_of(user, [](char c) { return c > ' ' && c != 0x7F; });
  if (user.empty() || !is_word) {
    return output.usage("user " + base::quoted(user) +
                        " must be a word: no spaces and no control characters");
  }
  const std::string url = invocation.url();
  // Without a given URL there is no server to ask, so the rules are for any single Redis.
  const auto rules = tools::redis_acl(url == kDefaultStore ? "" : url, words.version == kOldRedis);
  if (!rules) return output.usage(rules.error().message);
  // `reset` drops the user's former rights.
  std::string line = fmt::format("ACL SETUSER {} reset on >PASSWORD", user);
  for (const std::string& rule : *rules) line += " " + rule;
  if (!output.json()) {
    output.print_line(line);
    return ExitCode::done;
  }
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object().text_field("user", user).text_field("command", line);
    json.name("rules").begin_array();
    for (const std::string& rule : *rules) json.string(rule);
    json.end_array().end_object();
  });
  return ExitCode::done;
}

}  // namespace

void add_acl_command(CLI::App& store, Invocation& invocation) {
  const auto [command, words] = add_command(store, invocation, "acl", print_acl, R"(
Print the permissions a Redis user needs, as a redis-cli command

Contacts no server. The store's URL says whether it is a cluster or uses sentinels;
without a URL it is for a single server. Replace PASSWORD with a password.

  tarry store acl
  tarry --store redis+cluster://10.0.0.1 store acl --user shop)");
  add_word(command, "--user", words.user, "The user's name (default: tarry)");
  add_choice(command, "--redis", words.version, redis_versions(),
             "Version of the Redis server: 6.2 has no sharded channels (default: 7.0)");
}

}  // namespace tarry::app
