#include <gtest/gtest.h>
#include <tarry/store.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/transfer/exporter.h"
#include "app/transfer/importer.h"

namespace tarry::app::transfer {
namespace {

using namespace std::chrono_literals;
using Exported = std::vector<std::string>;

Store open_memory() {
  auto store = tarry::open("memory:?shards=2");
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

Exported export_of(Store& store) {
  Exported lines;
  const auto report = export_store(store.engine(), {}, [&](std::string_view line) {
    lines.emplace_back(line);
    return Result<void>();
  });
  EXPECT_TRUE(report) << report.error().message;
  return lines;
}

// Shards return their messages in no particular order.
Exported sorted(Exported lines) {
  std::ranges::sort(lines);
  return lines;
}

Error import_into(core::Engine& engine, const std::string& text, ImportReport& report,
                  bool keep_settings = false) {
  Importer importer(engine, keep_settings);
  Result<void> done;
  for (std::size_t at = 0; done && at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    done = importer.take(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  if (done) done = importer.finish();
  report = importer.report();
  return done ? Error{} : done.error();
}

Error import_into(Store& store, const std::string& text, ImportReport& report,
                  bool keep_settings = false) {
  return import_into(store.engine(), text, report, keep_settings);
}

/// Passes requests to another engine, but fails from the nth request that pauses or resumes on.
class GoesAway final : public core::Engine {
 public:
  GoesAway(core::Engine& engine, int pauses) : engine_(engine), left_(pauses) {}

  core::Ticket submit(core::Request request, core::Completion completion) override {
    const bool pauses = std::holds_alternative<core::PauseRequest>(request) ||
                        std::holds_alternative<core::ResumeRequest>(request);
    if (!pauses || --left_ > 0) return engine_.submit(std::move(request), std::move(completion));
    completion(Error{ErrorCode::unavailable, "it has gone"});
    return 0;
  }
  void withdraw(core::Ticket ticket) override { engine_.withdraw(ticket); }
  [[nodiscard]] core::Capabilities capabilities() const override { return engine_.capabilities(); }
  void close() override {}

 private:
  core::Engine& engine_;
  int left_;
};

/// Passes requests to another engine, whose lists then lack the message with this key. Calls
/// `before`, if set, before the first list.
class LeavesOut final : public core::Engine {
 public:
  LeavesOut(core::Engine& engine, std::string key, std::function<void()> before)
      : engine_(engine), key_(std::move(key)), before_(std::move(before)) {}

  core::Ticket submit(core::Request request, core::Completion completion) override {
    if (!std::holds_alternative<core::ListRequest>(request)) {
      return engine_.submit(std::move(request), std::move(completion));
    }
    if (before_) std::exchange(before_, nullptr)();
    return engine_.submit(std::move(request), [key = key_, completion = std::move(completion)](
                                                  Result<core::Reply> reply) mutable {
      if (reply) {
        std::erase_if(std::get<core::ListReply>(*reply).messages,
                      [&](const MessageInfo& message) { return message.key == key; });
      }
      completion(std::move(reply));
    });
  }
  void withdraw(core::Ticket ticket) override { engine_.withdraw(ticket); }
  [[nodiscard]] core::Capabilities capabilities() const override { return engine_.capabilities(); }
  void close() override {}

 private:
  core::Engine& engine_;
  const std::string key_;
  std::function<void()> before_;
};

std::string joined(const Exported& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// A store that has something of every kind that can be exported.
Store full_store() {
  Store store = open_memory();
  Queue orders = store.queue("orders");
  const std::string bytes("\x00\xff\n\"", 4);
  const Time later{Millis(4'000'000'000'000)};
  const auto push = [&](std::string_view key, Push message) {
    message.key = key;
    message.due = tarry::at(later);
    EXPECT_TRUE(orders.push(message));
  };
  push("plain", {.payload = "p"});
  push("bytes", {.payload = bytes, .headers = {{"h", "v"}, {"h2", ""}}, .priority = 5});
  push(bytes, {.payload = "", .max_attempts = 3});
  for (const std::string_view key : {"dead", "tried", "released"}) {
    EXPECT_TRUE(orders.push({.key = key, .payload = "x", .priority = 1}));
    auto claimed = orders.claim({.max = 1});
    EXPECT_TRUE(claimed && claimed->size() == 1);
    Settle settle{.receipt = claimed->front().receipt()};
    settle.action = key == "dead" ? Action::bury : key == "tried" ? Action::retry : Action::release;
    if (key == "dead") settle.reason = "no \"good\"";
    if (key == "tried") settle.delay = 10h;
    const std::vector<Settle> items{settle};
    EXPECT_TRUE(store.settle(items));
    if (key == "released") {
      EXPECT_TRUE(orders.reschedule(key, tarry::at(later)));
    }
  }
  EXPECT_TRUE(orders.configure({.lease = 7s, .max_attempts = 4, .remember = 1h}));
  EXPECT_TRUE(store.queue("empty").configure({.if_exists = IfExists::keep}));
  EXPECT_TRUE(store.queue("empty").pause());
  return store;
}

TEST(Transfer, WhatWasExportedAndImportedIsExportedTheSame) {
  Store from = full_store();
  const Exported lines = export_of(from);
  EXPECT_EQ(lines.size(), 1u + 2 + 6 + 1);
  Store to = open_memory();
  ImportReport report;
  EXPECT_EQ(import_into(to, joined(lines), report).message, "");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.imported, 6u);
  EXPECT_TRUE(report.held.empty());
  EXPECT_EQ(sorted(export_of(to)), sorted(lines));
  // The second import finds all messages in the store.
  EXPECT_EQ(import_into(to, joined(lines), report).message, "");
  EXPECT_EQ(report.found, 6u);
  EXPECT_EQ(report.imported + report.conflicts + report.failed, 0u);
  EXPECT_EQ(sorted(export_of(to)), sorted(lines));
}

TEST(Transfer, AFileWithAHoleIsRefusedAndItsQueuesStayHeld) {
  Store from = full_store();
  const Exported lines = export_of(from);
  Exported holed = lines;
  const auto message = std::ranges::find_if(
      holed, [](const std::string& line) { return line.find("\"message\"") != std::string::npos; });
  ASSERT_NE(message, holed.end());
  holed.erase(message);
  Store to = open_memory();
  ImportReport report;
  EXPECT_NE(import_into(to, joined(holed), report)
                .message.find("the export has 6 messages, but only 5 came before its end"),
            std::string::npos);
  EXPECT_FALSE(report.complete);
  EXPECT_FALSE(report.held.empty());
  EXPECT_EQ(import_into(to, joined(lines), report).message, "");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(sorted(export_of(to)), sorted(lines));
}

TEST(Transfer, AFileThatWasCutAnywhereIsGoneOnWith) {
  Store from = full_store();
  const Exported lines = export_of(from);
  const std::string whole = joined(lines);
  for (std::size_t cut = 1; cut < whole.size() - 1; cut += 37) {
    Store to = open_memory();
    ImportReport report;
    const Error error = import_into(to, whole.substr(0, cut), report);
    // If only the newline is cut off, the line is complete.
    const std::size_t seen = whole[cut] == '\n' ? cut + 1 : cut;
    const auto before = static_cast<std::size_t>(std::ranges::count(whole.substr(0, seen), '\n'));
    const bool at_end = seen == 0 || whole[seen - 1] == '\n';
    EXPECT_EQ(error.message.find("line " + std::to_string(before + (at_end ? 0 : 1)) + ": "), 0u)
        << error.message;
    EXPECT_FALSE(report.complete);
    // Everything before the cut is in the store, and nothing is delivered yet.
    const std::size_t messages = before > 3 ? before - 3 : 0;
    EXPECT_EQ(report.imported, messages) << cut;
    EXPECT_EQ(report.held.size(), std::min<std::size_t>(before > 1 ? before - 1 : 0, 2));
    EXPECT_EQ(import_into(to, whole, report).message, "");
    EXPECT_EQ(report.found, messages);
    EXPECT_EQ(sorted(export_of(to)), sorted(lines));
  }
}

TEST(Transfer, HeldQueuesDeliverNothingUntilTheEnd) {
  Store from = open_memory();
  EXPECT_TRUE(from.queue("q").push({.key = "k", .payload = "p"}));
  const std::string whole = joined(export_of(from));
  Store to = open_memory();
  ImportReport report;
  (void)import_into(to, whole.substr(0, whole.size() - 4), report);
  EXPECT_EQ(report.imported, 1u);
  EXPECT_EQ(to.queue("q").claim({.max = 1})->size(), 0u);
  (void)import_into(to, whole, report);
  EXPECT_EQ(to.queue("q").claim({.max = 1})->size(), 1u);
}

// With two queues there are two pauses to fill them, two that say that they are complete, and two
// resumes.
TEST(Transfer, WhatWasReleasedBeforeAnImportWasCutShortIsNotPutInAgain) {
  Store from = open_memory();
  for (const char* queue : {"a", "b"}) {
    EXPECT_TRUE(from.queue(queue).push({.key = "settled", .payload = "p"}));
    EXPECT_TRUE(from.queue(queue).push({.key = "stays", .payload = "p"}));
  }
  const std::string whole = joined(export_of(from));
  for (int pauses = 1; pauses <= 6; ++pauses) {
    Store to = open_memory();
    GoesAway part(to.engine(), pauses);
    ImportReport report;
    EXPECT_EQ(import_into(part, whole, report).code, ErrorCode::unavailable);
    std::uint64_t settled = 0;
    for (const char* queue : {"a", "b"}) {
      auto claimed = to.queue(queue).claim({.max = 2});
      if (!claimed) continue;  // the queue is not there yet
      EXPECT_TRUE(claimed->empty() || pauses == 6);
      std::vector<Settle> items;
      for (const Delivery& delivery : *claimed) {
        const bool ends = delivery.key() == "settled";
        items.push_back(
            {.receipt = delivery.receipt(), .action = ends ? Action::ack : Action::release});
        if (ends) ++settled;
      }
      if (!items.empty()) {
        EXPECT_TRUE(to.settle(items));
      }
    }
    EXPECT_EQ(settled, pauses == 6 ? 1u : 0u);

    EXPECT_EQ(import_into(to, whole, report).message, "");
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(report.ended, settled);
    EXPECT_EQ(report.imported + report.found + report.ended, 4u);
    EXPECT_EQ(report.conflicts + report.failed, 0u);
    for (const char* queue : {"a", "b"}) {
      EXPECT_EQ(to.queue(queue).stats()->counters.accepted, 2u);
      EXPECT_FALSE(to.queue(queue).stats()->paused);
    }
  }
}

TEST(Transfer, AMessageOutAtAConsumerIsDeliveredAgain) {
  Store from = open_memory();
  EXPECT_TRUE(from.queue("q").push({.key = "k", .payload = "p"}));
  EXPECT_EQ(from.queue("q").claim({.max = 1})->size(), 1u);
  const std::string whole = joined(export_of(from));
  EXPECT_NE(whole.find("\"state\":\"leased\""), std::string::npos);
  Store to = open_memory();
  ImportReport report;
  EXPECT_EQ(import_into(to, whole, report).message, "");
  const auto again = to.queue("q").claim({.max = 1});
  ASSERT_EQ(again->size(), 1u);
  EXPECT_EQ(again->front().attempt(), 2u);
}

TEST(Transfer, ALastAttemptAtAConsumerIsDead) {
  Store from = open_memory();
  Queue queue = from.queue("q");
  EXPECT_TRUE(queue.configure({.max_attempts = 1}));
  EXPECT_TRUE(queue.push({.key = "its own", .payload = "p", .max_attempts = 2}));
  EXPECT_TRUE(queue.push({.key = "its own last", .payload = "p", .max_attempts = 1}));
  EXPECT_TRUE(queue.push({.key = "the queue's", .payload = "p"}));
  EXPECT_EQ(queue.claim({.max = 3})->size(), 3u);
  const std::string whole = joined(export_of(from));
  for (const bool keeps : {false, true}) {
    Store to = open_memory();
    EXPECT_TRUE(to.queue("q").configure({.max_attempts = 2}));
    ImportReport report;
    for (int time = 0; time < 2; ++time) {  // the second time, all messages are there already
      EXPECT_EQ(import_into(to, whole, report, keeps).message, "");
      EXPECT_EQ(time == 0 ? report.imported : report.found, 3u);
    }
    const auto message = [&to](std::string_view key) { return *to.queue("q").get(key); };
    EXPECT_EQ(message("its own").state, State::ready);
    EXPECT_EQ(message("its own last").state, State::dead);
    EXPECT_EQ(message("its own last").reason, "lease ran out on attempt 1 of 1");
    EXPECT_EQ(message("the queue's").state, keeps ? State::ready : State::dead);
    EXPECT_EQ(message("the queue's").reason, keeps ? "" : "lease ran out on attempt 1 of 1");
  }
}

TEST(Transfer, WhatIsCancelledAtAConsumerIsLeftOut) {
  Store from = open_memory();
  Queue queue = from.queue("q");
  EXPECT_TRUE(queue.push({.key = "gone", .payload = "p"}));
  EXPECT_EQ(queue.claim({.max = 1})->size(), 1u);
  const std::vector<std::string_view> keys{"gone"};
  EXPECT_EQ(queue.cancel(keys)->front()->outcome, Outcome::stopping);
  EXPECT_TRUE(queue.push({.key = "stays", .payload = "p"}));
  Exported lines;
  const auto exported = export_store(from.engine(), {}, [&](std::string_view line) {
    lines.emplace_back(line);
    return Result<void>();
  });
  ASSERT_TRUE(exported);
  EXPECT_EQ(exported->messages, 1u);
  EXPECT_EQ(exported->stopping, 1u);
  EXPECT_EQ(exported->leased, 0u);
  Store to = open_memory();
  ImportReport report;
  EXPECT_EQ(import_into(to, joined(lines), report).message, "");
  EXPECT_EQ(report.imported, 1u);
  const auto delivered = to.queue("q").claim({.max = 2});
  ASSERT_EQ(delivered->size(), 1u);
  EXPECT_EQ(delivered->front().key(), "stays");
}

TEST(Transfer, WhatIsThereIsNeverOverwritten) {
  Store from = full_store();
  const std::string whole = joined(export_of(from));
  Store to = open_memory();
  EXPECT_TRUE(to.queue("orders").configure({.lease = 1h, .remember = 1h}));
  EXPECT_TRUE(to.queue("orders").push({.key = "plain", .payload = "mine"}));
  EXPECT_TRUE(to.queue("orders").push({.key = "dead", .payload = "mine"}));
  auto claimed = to.queue("orders").claim({.max = 2});
  for (const Delivery& delivery : *claimed) {
    if (delivery.key() == "dead") {
      const std::vector<Settle> items{{.receipt = delivery.receipt()}};
      EXPECT_TRUE(to.settle(items));
    }
  }
  ImportReport report;
  EXPECT_EQ(import_into(to, whole, report, true).message, "");
  EXPECT_EQ(report.conflicts, 1u);
  EXPECT_EQ(report.settled, 1u);
  EXPECT_EQ(report.imported, 4u);
  EXPECT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(to.queue("orders").get("plain")->payload, "mine");
  EXPECT_EQ(to.queue("orders").stats()->settings.lease, Millis(1h));
}

// The number of claims is larger than a store keeps.
TEST(Transfer, AMessageIsTheSameHoweverOftenItWasClaimed) {
  Store from = full_store();
  std::string lines = joined(export_of(from));
  const std::string tally = "\"claims\":1,";
  const std::size_t at = lines.find(tally);
  ASSERT_NE(at, std::string::npos) << lines;
  lines.replace(at, tally.size(), "\"claims\":4294967295,");
  Store to = open_memory();
  ImportReport report;
  for (const std::uint64_t found : {0u, 6u}) {
    EXPECT_EQ(import_into(to, lines, report).message, "");
    EXPECT_EQ(report.found, found);
    EXPECT_EQ(report.imported, 6 - found);
    EXPECT_EQ(report.conflicts, 0u);
  }
}

TEST(Transfer, AnExportThatLacksWhatTheQueueCountsSaysSo) {
  Store store = full_store();
  const auto none = [](std::string_view) { return Result<void>(); };
  LeavesOut lacks(store.engine(), "plain", nullptr);
  const auto report = export_store(lacks, {}, none);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_NE(report->problems[0].find("queue \"orders\""), std::string::npos) << report->problems[0];
  EXPECT_NE(report->problems[0].find("not complete"), std::string::npos) << report->problems[0];
}

TEST(Transfer, WhatEndsAndComesMeanwhileExplainsWhatAnExportLacks) {
  Store store = full_store();
  const auto none = [](std::string_view) { return Result<void>(); };
  Queue orders = store.queue("orders");
  LeavesOut lacks(store.engine(), "plain", [&] {
    EXPECT_TRUE(orders.cancel("plain"));
    EXPECT_TRUE(orders.push({.key = "new", .payload = "x", .due = tarry::in(1h)}));
  });
  const auto report = export_store(lacks, {}, none);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->problems.empty()) << report->problems[0];
}

TEST(Transfer, AnExportOfVersion1HasNoPushTimesAndIsRead) {
  Store from = open_memory();
  const Queue orders = from.queue("orders");
  ASSERT_TRUE(orders.push({.key = "k", .payload = "p", .due = in(1h)}));
  const auto pushed = orders.get("k").value().pushed;
  ASSERT_TRUE(pushed);
  for (const std::uint32_t version : {1u, 2u}) {
    std::string text;
    ExportOptions options;
    options.version = version;
    ASSERT_TRUE(export_store(from.engine(), options, [&](std::string_view line) {
      text.append(line).append("\n");
      return Result<void>();
    }));
    EXPECT_TRUE(text.starts_with("{\"tarry_export\":" + std::to_string(version) + "}\n")) << text;
    EXPECT_EQ(text.find("pushed") != std::string::npos, version == 2) << text;
    Store to = open_memory();
    ImportReport report;
    EXPECT_EQ(import_into(to, text, report).message, "");
    EXPECT_EQ(to.queue("orders").get("k").value().pushed,
              version == 2 ? pushed : std::optional<Time>());
  }
}

TEST(Transfer, LinesThatAreNoneEndTheImportAndAreNamed) {
  const std::string head = "{\"tarry_export\":2}\n";
  const std::string queue = R"({"queue":"q","settings":{},"paused":false})"
                            "\n";
  const struct {
    std::string text;
    std::string error;
  } cases[] = {
      {"{\"key\":\"k\"}\n", "line 1: "},
      {queue, "line 1: it is no export"},
      {"", "there is nothing to import"},
      {"{\"tarry_export\":3}\n",
       "line 1: the export has version 3; this program knows versions 1 to 2"},
      {head + head, "line 2: another export begins"},
      {head + R"({"message":{"queue":"q","key":"k","state":"ready","due_ms":0}})",
       "line 2: the line"},
      {head + queue + R"({"message":{"queue":"q","key":"k","state":"redy","due_ms":0}})",
       "line 3: "},
      {head + queue + R"({"message":{"queue":"q","key":"","state":"ready","due_ms":0}})",
       "line 3: "},
      {head + queue + R"({"message":{"queue":"q","key":"k","state":"ready","due_ms":"1"}})",
       "line 3: "},
      {head + queue + R"({"message":{"queue":"q","key":"k","state":"ready","due_ms":0,"x":1}})",
       "line 3: "},
      {head + queue + R"({"message":{"queue":"q","key":"k","state":"ready","due_ms":1700000000}})",
       "line 3: \"due_ms\" is 1700000000, which looks like seconds"},
      {head + queue +
           R"({"message":{"queue":"q","key":"k","state":"ready",)"
           R"("due":"2026-01-01T00:00:00Z","due_ms":1767225600001}})",
       "line 3: \"due\" is \"2026-01-01T00:00:00Z\" and \"due_ms\" is 1767225600001"},
      {head + R"({"queue":"q","settings":{},"paused":true,"paused_until_ms":1700000000})",
       "line 2: \"paused_until_ms\" is 1700000000"},
      {head + R"({"queue":"-q","settings":{}})", "line 2: "},
      {head + R"({"queue":"q"})", "line 2: "},
      {head + "\n\n[]", "line 4: "},
      {head + "{\"end\":true,\"messages\":0}\n" + queue, "line 3: there is more after the end"},
  };
  for (const auto& [text, expected] : cases) {
    Store to = open_memory();
    ImportReport report;
    const Error error = import_into(to, text, report);
    EXPECT_EQ(error.message.find(expected), 0u) << text << error.message;
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tarry::app::transfer
