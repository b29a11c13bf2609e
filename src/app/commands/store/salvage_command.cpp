// tarry store salvage: makes a new store from the intact parts of a damaged one.
#include <memory>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/store/shard_sum.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "base/text/text.h"
#include "open/store_tools.h"

namespace tarry::app {
namespace {

using tools::SalvagedShard;
using tools::SalvageReport;

void write_salvaged(wire::JsonWriter& json, const SalvagedShard& shard) {
  json.field("shard", std::uint64_t{shard.shard}).field_bool("sound", shard.sound);
  json.field("segments", shard.segments).field("batches", shard.batches);
  json.field("records", shard.records).field("torn_bytes", shard.torn_bytes);
  json.field("messages", shard.messages).field("remembered", shard.remembered);
  json.field("damaged_messages", shard.damaged_messages);
  json.field("uncertain_messages", shard.uncertain_messages);
  json.field("lost_messages", shard.lost_messages).field("lost_batches", shard.lost_batches);
  json.field("unnamed_queues", shard.unnamed_queues);
  json.field("unreachable_messages", shard.unreachable_messages);
  json.field("adopted_queues", shard.adopted_queues).name("losses").begin_array();
  for (const tools::Loss& loss : shard.losses) {
    json.begin_object().text_field("file", loss.file).field("offset", loss.offset);
    json.field("bytes", loss.bytes).text_field("what", loss.what).end_object();
  }
  json.end_array();
}

void print_json(Output& output, const SalvageReport& report) {
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object().field("store_id", fmt::format("{:016x}", report.store_id));
    json.field("shards", std::uint64_t{report.shards});
    if (!report.store_file.empty()) json.text_field("store_file", report.store_file);
    json.field("messages", sum(report, &SalvagedShard::messages));
    json.name("per_shard").begin_array();
    for (const SalvagedShard& shard : report.per_shard) {
      json.begin_object();
      write_salvaged(json, shard);
      json.end_object();
    }
    json.end_array().end_object();
  });
}

void print_salvage(Output& output, const SalvageReport& report) {
  Table table({{"SHARD", true},
               {"STATE"},
               {"BATCHES", true},
               {"BATCHES LOST", true},
               {"MESSAGES", true},
               {"UNCERTAIN", true},
               {"NO PAYLOAD", true},
               {"KNOWN LOST", true}});
  for (const SalvagedShard& shard : report.per_shard) {
    table.add({std::to_string(shard.shard), shard.sound ? "sound" : "damaged",
               grouped(shard.batches), grouped(shard.lost_batches), grouped(shard.messages),
               grouped(shard.uncertain_messages), grouped(shard.damaged_messages),
               grouped(shard.lost_messages)});
  }
  output.print(table);
}

// Prints the losses in words. The JSON answer contains all of them too. None of them is a failure
// of the command.
void tell_losses(Output& output, const SalvageReport& report) {
  if (!report.store_file.empty()) output.note(fmt::format("STORE {}.", report.store_file));
  for (const SalvagedShard& shard : report.per_shard) {
    for (const tools::Loss& loss : shard.losses) {
      output.note(loss.bytes == 0 ? fmt::format("lost: {} {}", loss.file, loss.what)
                                  : fmt::format("lost: {} offset {}, {} bytes: {}", loss.file,
                                                loss.offset, grouped(loss.bytes), loss.what));
    }
  }
  if (const auto count = sum(report, &SalvagedShard::lost_messages); count > 0) {
    output.note(fmt::format("{} known to be lost: later records name them. There may be more.",
                            count == 1 ? "1 message is" : grouped(count) + " messages are"));
  }
  if (const auto count = sum(report, &SalvagedShard::uncertain_messages); count > 0) {
    output.note(
        fmt::format("{} may have been settled, cancelled or changed in the lost part; they are as "
                    "they were before it, and may be delivered again.",
                    counted(count, "message")));
  }
  if (const auto count = sum(report, &SalvagedShard::damaged_messages); count > 0) {
    output.note(fmt::format("Payload lost: {}; when these are due they become dead.",
                            counted(count, "message")));
  }
  for (const SalvagedShard& shard : report.per_shard) {
    if (shard.adopted_queues == 0) continue;
    output.note(fmt::format("Shard {} took the settings and pauses of {} from other shards.",
                            shard.shard, counted(shard.adopted_queues, "queue")));
  }
  if (const auto count = sum(report, &SalvagedShard::unnamed_queues); count > 0) {
    output.note(
        fmt::format("Name lost: {}; now called salvaged-SHARD-NUMBER.", counted(count, "queue")));
  }
  if (const auto count = sum(report, &SalvagedShard::unreachable_messages); count > 0) {
    output.note(
        fmt::format("{} in them can be claimed, but not found by key.", counted(count, "message")));
  }
}

ExitCode salvage(Invocation& invocation, const std::string& target) {
  const auto path = tools::path_of_store(invocation.url());
  if (!path) return invocation.output.usage(path.error().message);
  const auto to = tools::directory_of(target);
  if (!to) {
    return invocation.output.usage("DIRECTORY " + base::quoted(target) + ": " + to.error().message);
  }
  Progress progress("salvaging", stderr, invocation.output.err());
  const auto report = tools::salvage_store(
      *path, *to,
      [&](std::uint64_t done, std::uint64_t total) { progress.show_bytes(done, total); });
  progress.clear();
  if (!report) {
    invocation.output.error(report.error());
    return exit_code_of_open(report.error().code);
  }
  if (invocation.output.json()) {
    print_json(invocation.output, *report);
  } else {
    print_salvage(invocation.output, *report);
    tell_losses(invocation.output, *report);
  }
  return ExitCode::done;
}

}  // namespace

void add_salvage_command(CLI::App& store, Invocation& invocation) {
  const auto [command, target] = add_command(store, invocation, "salvage", salvage, R"(
Make a new store of the intact parts of a damaged file: store

The answer lists what was lost, by file and offset. The new store has the old one's id,
so keys and receipts stay valid: use one of the two, never both.

  tarry --store file:/var/lib/tarry store salvage /var/lib/tarry-new)");
  add_word(command, "DIRECTORY", target, "Where to put the new store: a new or empty directory")
      ->required();
}

}  // namespace tarry::app
