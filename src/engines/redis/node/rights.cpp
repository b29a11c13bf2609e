#include "engines/redis/node/rights.h"

#include <utility>

#include "engines/redis/node/scripts.h"
#include "engines/redis/records/place.h"
#include "engines/redis/scripts/script_texts.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;

// Names the missing rights. A nil among them means: the user may not access keys like `key` at all.
Error lacks(const std::string& server, net::RedisView missing, const std::string& key,
            std::string_view told_by) {
  std::string named;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    named += missing[i].is_nil() ? " keys such as " + key : " +" + std::string(missing[i].text());
  }
  return {ErrorCode::permission_denied,
          "Redis at " + server +
              " does not give this user all permissions that tarry needs: it lacks" + named + " (" +
              std::string(told_by) + " what it needs); nothing was done"};
}

// The three layouts share their scripts. True if the scripts run this command for this layout.
bool is_run_by(Layout layout, std::string_view command) {
  if (command.starts_with('h')) return layout == Layout::hash;
  if (command.starts_with('l') || command == "rpush") return layout == Layout::redisson;
  return true;
}

}  // namespace

RightsWish native_rights() {
  RightsWish wish = {commands_of_scripts(ScriptSet::native), partition_key(0, kNothing),
                     "tarry store acl prints"};
  // A refused MULTI would not stop the commands after it: they would run one by one.
  wish.commands.insert(wish.commands.end(), {"multi", "exec"});
  return wish;
}

RightsWish layout_rights(Layout layout, const std::string& lease_prefix) {
  RightsWish wish = {commands_of_scripts(ScriptSet::layouts), lease_prefix + "rights",
                     "docs/formats/redis-layouts.md has"};
  std::erase_if(wish.commands,
                [layout](const std::string& name) { return !is_run_by(layout, name); });
  return wish;
}

void check_rights(Server& server, const RightsWish& wish,
                  base::UniqueFunction<void(Result<void>)> done) {
  RedisCommand ask("EVAL");
  ask.add(texts::k_rights).add("0").add(wish.key).add(wish.tries ? "try" : "");
  for (const std::string& command : wish.commands) ask.add(command);
  server.command_masters(std::move(ask),
                         [&server, key = wish.key, told_by = wish.told_by, done = std::move(done)](
                             Result<std::vector<Server::FromMaster>> told) mutable {
                           if (!told) return done(std::move(told).error());
                           for (const Server::FromMaster& master : *told) {
                             const net::RedisView missing = master.reply.view();
                             if (missing.size() > 0)
                               return done(lacks(master.server, missing, key, told_by));
                           }
                           server.forget_denied();
                           done({});
                         });
}

}  // namespace tarry::redis
