// tarry store info, check, audit, upgrade: whether a store is intact, whether its counters add up,
// and in which format it is written.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/store/shard_sum.h"
#include "app/output/answers.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "base/text/text.h"
#include "core/engine.h"
#include "open/store_tools.h"

namespace tarry::app {
namespace {

using tools::ShardInspection;
using tools::StoreInspection;

std::uint64_t problems_in(const StoreInspection& store) {
  std::uint64_t count = 0;
  for (const ShardInspection& shard : store.per_shard) count += shard.problems.size();
  return count;
}

std::size_t unreadable_in(const StoreInspection& store) {
  return static_cast<std::size_t>(std::ranges::count_if(
      store.per_shard, [](const auto& shard) { return shard.unreadable.has_value(); }));
}

// Reports the shards that could not be read. Such a shard may be readable with other rights, or
// later. Damage in other shards, and a failing disk, are worse, and decide the exit code.
ExitCode tell_unreadable(Invocation& invocation, const StoreInspection& store, ExitCode code) {
  if (problems_in(store) > 0 && unreadable_in(store) > 0) code = ExitCode::failed;
  for (const ShardInspection& shard : store.per_shard) {
    if (!shard.unreadable) continue;
    invocation.output.error(
        {shard.unreadable->code,
         fmt::format("shard {} cannot be read: {}", shard.shard, shard.unreadable->message)});
    const bool elsewise = exit_code_of_open(shard.unreadable->code) == ExitCode::unreachable &&
                          code != ExitCode::failed;
    code = elsewise ? ExitCode::unreachable : ExitCode::failed;
  }
  return code;
}

std::optional<StoreInspection> inspect(Invocation& invocation, bool deep, ExitCode& code) {
  const auto path = tools::path_of_store(invocation.url());
  if (!path) {
    code = invocation.output.usage(path.error().message);
    return std::nullopt;
  }
  Progress progress("checking", stderr, invocation.output.err());
  auto store = tools::inspect_store(*path, deep, [&](std::uint64_t done, std::uint64_t total) {
    progress.show_bytes(done, total);
  });
  progress.clear();
  if (store) return std::move(*store);
  invocation.output.error(store.error());
  code = exit_code_of_open(store.error().code);
  return std::nullopt;
}

void write_shard_fields(wire::JsonWriter& json, const ShardInspection& shard) {
  json.field("shard", std::uint64_t{shard.shard}).field("segments", shard.segments);
  json.field("bytes", shard.bytes).field("allocated", shard.allocated);
  json.field("batches", shard.batches).field("records", shard.records);
  json.field("torn_bytes", shard.torn_bytes).field("cut_batches", shard.cut_batches);
  json.field_bool("clean", shard.clean);
  json.field("messages", shard.messages).name("problems").begin_array();
  for (const std::string& problem : shard.problems) json.string(problem);
  json.end_array();
  if (shard.unreadable) json.text_field("unreadable", shard.unreadable->message);
}

void print_json(Invocation& invocation, const StoreInspection& store) {
  invocation.output.print_json([&](wire::JsonWriter& json) {
    json.begin_object().text_field("store", invocation.url());
    json.field("version", std::uint64_t{store.version});
    json.field("store_id", fmt::format("{:016x}", store.store_id));
    json.field("shards", std::uint64_t{store.shards});
    if (!store.held_by.empty()) json.text_field("held_by", store.held_by);
    json.field("problems", problems_in(store)).name("per_shard").begin_array();
    for (const ShardInspection& shard : store.per_shard) {
      json.begin_object();
      write_shard_fields(json, shard);
      json.end_object();
    }
    json.end_array().end_object();
  });
}

ExitCode store_info(Invocation& invocation) {
  ExitCode code{};
  const auto store = inspect(invocation, false, code);
  if (!store) return code;
  if (invocation.output.json()) {
    print_json(invocation, *store);
    return tell_unreadable(invocation, *store, ExitCode::done);
  }
  Sheet sheet;
  sheet.add("store", invocation.url());
  sheet.add("id", fmt::format("{:016x}", store->store_id));
  sheet.add("format version", std::to_string(store->version));
  sheet.add("shards", std::to_string(store->shards));
  sheet.add("held by", store->held_by.empty() ? "nobody" : store->held_by);
  sheet.add("messages", grouped(sum(*store, &ShardInspection::messages)));
  sheet.add("segments", grouped(sum(*store, &ShardInspection::segments)));
  sheet.add("journal", grouped(sum(*store, &ShardInspection::bytes)) + " bytes");
  sheet.add("on disk", grouped(sum(*store, &ShardInspection::allocated)) + " bytes");
  if (const std::uint64_t problems = problems_in(*store); problems > 0) {
    sheet.add("problems", grouped(problems) + ": some is not counted; see `tarry store check`");
  }
  if (const std::size_t unreadable = unreadable_in(*store); unreadable > 0) {
    sheet.add("unreadable", fmt::format("{} of {} shards: nothing in them is counted", unreadable,
                                        store->shards));
  }
  invocation.output.print(sheet);
  return tell_unreadable(invocation, *store, ExitCode::done);
}

ExitCode upgrade(Invocation& invocation) {
  Output& output = invocation.output;
  const auto path = tools::path_of_store(invocation.url());
  if (!path) return output.usage(path.error().message);
  const auto before = tools::format_of_store(*path);
  const auto format = before ? tools::upgrade_store(*path) : before;
  if (!format) {
    output.error(format.error());
    return exit_code_of_open(format.error().code);
  }
  const bool upgraded = format->version != before->version;
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().field("version", std::uint64_t{format->version});
      json.field("newest", std::uint64_t{format->newest})
          .field_bool("upgraded", upgraded)
          .end_object();
    });
  } else if (upgraded) {
    output.print_line(
        fmt::format("format version {}; it was version {}. From now on the new format is written, "
                    "which older programs refuse",
                    format->version, before->version));
  } else {
    output.print_line(
        fmt::format("format version {}, the newest that this program writes: nothing to upgrade",
                    format->version));
  }
  return ExitCode::done;
}

void print_check(Output& output, const StoreInspection& store) {
  Table table({{"SHARD", true},
               {"SEGMENTS", true},
               {"BATCHES", true},
               {"RECORDS", true},
               {"MESSAGES", true},
               {"TORN BYTES", true},
               {"CUT BATCHES", true},
               {"CLOSED"},
               {"PROBLEMS", true}});
  for (const ShardInspection& shard : store.per_shard) {
    if (shard.unreadable) {
      table.add({std::to_string(shard.shard), "-", "-", "-", "-", "-", "-", "-", "not read"});
      continue;
    }
    table.add({std::to_string(shard.shard), grouped(shard.segments), grouped(shard.batches),
               grouped(shard.records), grouped(shard.messages), grouped(shard.torn_bytes),
               grouped(shard.cut_batches), shard.clean ? "clean" : "not clean",
               std::to_string(shard.problems.size())});
  }
  output.print(table);
  if (!store.held_by.empty()) {
    output.note(fmt::format("{} has the store open: its figures may change.", store.held_by));
  }
}

struct CheckWords {
  bool deep = false;
};

ExitCode check_store(Invocation& invocation, const CheckWords& words) {
  ExitCode code{};
  const auto store = inspect(invocation, words.deep, code);
  if (!store) return code;
  if (invocation.output.json()) {
    print_json(invocation, *store);
  } else {
    print_check(invocation.output, *store);
  }
  for (const ShardInspection& shard : store->per_shard) {
    for (const std::string& problem : shard.problems) {
      code = worst(code, invocation.output.fail({ErrorCode::damaged, problem}));
    }
    // If a process is writing to the store, batches may appear while this command reads, so they
    // are no damage.
    if (shard.cut_batches == 0 || !store->held_by.empty()) continue;
    code = worst(code, invocation.output.fail(
                           {ErrorCode::damaged,
                            fmt::format("shard {}: opening the store cuts {}; `tarry store "
                                        "salvage DIRECTORY` makes a store that keeps them",
                                        shard.shard, shard.tear)}));
  }
  return tell_unreadable(invocation, *store, code);
}

ExitCode audit(Invocation& invocation) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const core::Capabilities can = store->engine().capabilities();
  if (!can.counts) {
    return invocation.output.fail(
        {ErrorCode::unsupported, can.keeper() +
                                     ": this store does not count accepted and ended messages, so "
                                     "there is nothing to audit"});
  }
  const auto stats = store->stats();
  if (!stats) return invocation.output.fail(stats.error());
  const tools::StoreAudit audit = tools::audit(*stats);
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().field_bool("balanced", audit.balanced() && stats->unreadable.empty());
      json.name("queues").begin_array();
      for (const tools::QueueAudit& queue : audit.queues) {
        json.begin_object().text_field("queue", queue.queue).field("accepted", queue.accepted);
        json.field("present", queue.present).field("ended", queue.ended);
        json.field_i64("difference", queue.difference()).end_object();
      }
      json.end_array();
      if (!stats->unreadable.empty()) {
        json.name("unreadable").begin_array();
        for (const UnreadableQueue& queue : stats->unreadable) json.string(queue.queue);
        json.end_array();
      }
      json.end_object();
    });
  } else {
    Table table({{"QUEUE", false, true},
                 {"ACCEPTED", true},
                 {"PRESENT", true},
                 {"ENDED", true},
                 {"DIFFERENCE", true}});
    for (const tools::QueueAudit& queue : audit.queues) {
      table.add({queue.queue, grouped(queue.accepted), grouped(queue.present), grouped(queue.ended),
                 std::to_string(queue.difference())});
    }
    invocation.output.print(table);
  }
  for (const tools::QueueAudit& queue : audit.queues) {
    if (queue.difference() == 0) continue;
    code = worst(code, invocation.output.fail(
                           {ErrorCode::damaged,
                            fmt::format("queue {}: {} accepted, but {} present and {} ended",
                                        base::quoted(queue.queue), queue.accepted, queue.present,
                                        queue.ended)}));
  }
  return worst(code, tell_unreadable(invocation.output, *stats));
}

}  // namespace

void add_store_commands(CLI::App& root, Invocation& invocation) {
  CLI::App& store = add_group(root, "store", R"(
The store itself: info, check, audit, backup, export, import, ...

  tarry --store file:/var/lib/tarry store check)");
  add_command(store, invocation, "info", store_info, R"(
Show what a file: store is and how big; changes nothing

  tarry --store file:/var/lib/tarry store info)");
  const auto [command, words] = add_command(store, invocation, "check", check_store, R"(
Read a file: store's journal and check every batch; changes nothing

  tarry --store file:/var/lib/tarry store check
  tarry --store file:/var/lib/tarry store check --deep)");
  command.add_flag("--deep", words.deep, "Check the payload of every message too");
  add_command(store, invocation, "audit", audit, R"(
Check the counts: every accepted message is still there or has ended

  tarry store audit
  tarry --store file:/var/lib/tarry store audit)");
  add_command(store, invocation, "upgrade", upgrade, R"(
Upgrade a file: store to the newest format of this program

Version 2 keeps when each message was pushed. From then on older programs refuse the
store. No process may have the store open.

  tarry --store file:/var/lib/tarry store upgrade)");
  add_salvage_command(store, invocation);
  add_backup_command(store, invocation);
  add_transfer_commands(store, invocation);
  add_migrate_command(store, invocation);
  add_acl_command(store, invocation);
}

}  // namespace tarry::app
