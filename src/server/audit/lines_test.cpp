#include "server/audit/lines.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "server/audit/refusal_throttle.h"

namespace tarry::audit {
namespace {

namespace json = boost::json;

constexpr Client kShop{"shop", "10.0.0.7:1234", "http", "id-1"};
constexpr Time kNow{Millis{1'900'000'000'000}};

std::vector<json::object> lines_of(const Entry& entry, const Answer& answer = {200, {}, {}}) {
  std::string text;
  std::size_t told = 0;
  write_lines(entry, kShop, answer, kNow, [&](std::string_view lines, std::size_t count) {
    text += lines;
    told += count;
  });
  std::vector<json::object> lines;
  std::size_t from = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', from)) {
    lines.push_back(json::parse(text.substr(from, end - from)).as_object());
    from = end + 1;
  }
  EXPECT_EQ(from, text.size()) << "a line has no end";
  EXPECT_EQ(told, lines.size());
  return lines;
}

std::string text_at(const json::object& line, const char* name) {
  const auto* value = line.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

core::Request cancel_of(const std::vector<std::string>& keys) {
  core::CancelRequest request{"orders", {}, {}};
  for (const auto& key : keys) request.keys.push_back(core::append(request.bytes, key));
  return request;
}

core::ItemResult with(Outcome outcome) {
  core::ItemResult result;
  result.outcome = outcome;
  return result;
}

TEST(AuditLines, each_key_has_its_line_and_outcome) {
  const auto entry = entry_of(cancel_of({"a", "b"}));
  core::ItemResult failed;
  failed.error = Error(ErrorCode::io_error, "broken");
  note_reply(*entry, core::ItemsReply{{with(Outcome::cancelled), failed}});
  const auto lines = lines_of(*entry);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(json::serialize(lines[0]),
            R"({"time":"2030-03-17T17:46:40.000Z","act":"cancel","identity":"shop",)"
            R"("peer":"10.0.0.7:1234","front":"http","request_id":"id-1","queue":"orders",)"
            R"("key":"a","outcome":"cancelled"})");
  EXPECT_EQ(text_at(lines[1], "key"), "b");
  EXPECT_EQ(text_at(lines[1], "outcome"), "failed");
  EXPECT_EQ(text_at(lines[1], "code"), "io_error");
}

TEST(AuditLines, names_of_any_bytes_are_valid_json) {
  const std::vector<std::string> keys = {std::string("\0\n\"\\\x7f", 5), "\xff\xfe", "\xed\xa0\x80",
                                         "ключ", std::string(512, '\x01')};
  const auto entry = entry_of(cancel_of(keys));
  entry->queue = "\x80queue";
  const auto lines = lines_of(*entry, {403, "permission_denied", "no \"scope\"\n"});
  ASSERT_EQ(lines.size(), keys.size());
  EXPECT_EQ(text_at(lines[0], "key"), keys[0]);
  EXPECT_EQ(text_at(lines[1], "key_base64"), "//4=");
  EXPECT_EQ(text_at(lines[3], "key"), keys[3]);
  EXPECT_FALSE(text_at(lines[0], "queue_base64").empty());
  EXPECT_EQ(text_at(lines[0], "reason"), "no \"scope\"\n");
}

TEST(AuditLines, a_reason_that_may_quote_the_body_is_left_out) {
  const Entry entry(Act::import_messages, "q");
  EXPECT_EQ(text_at(lines_of(entry, {400, "invalid_argument", "secret"}).at(0), "reason"), "");
  EXPECT_EQ(text_at(lines_of(entry, {409, "conflict", "leased"}).at(0), "reason"), "leased");
  const auto line = lines_of(entry, {503, "unavailable", "away"}).at(0);
  EXPECT_EQ(text_at(line, "outcome"), "failed");
  EXPECT_EQ(line.at("status").as_int64(), 503);
}

TEST(AuditLines, an_act_whose_outcome_is_unknown_says_so) {
  const auto entry = entry_of(core::PurgeRequest{"q"});
  EXPECT_EQ(text_at(lines_of(*entry, {500, "unknown_outcome", ""}).at(0), "outcome"),
            "unknown_outcome");
  note_reply(*entry, core::CountReply{7});
  const auto line = lines_of(*entry, {}).at(0);
  EXPECT_EQ(text_at(line, "outcome"), "done");
  EXPECT_EQ(line.at("count").as_int64(), 7);
  EXPECT_FALSE(line.at("answered").as_bool());
}

TEST(AuditLines, a_batch_in_which_nothing_could_be_read_has_one_line) {
  Entry entry(Act::cancel, "q");
  EXPECT_EQ(text_at(lines_of(entry).at(0), "code"), "invalid_argument");
  const auto some = entry_of(cancel_of({"a"}));
  some->unreadable = 3;
  note_reply(*some, core::ItemsReply{{with(Outcome::unknown)}});
  const auto lines = lines_of(*some);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].at("items").as_int64(), 3);
}

TEST(AuditLines, a_page_has_its_filter_and_counts) {
  Entry entry(Act::cancel, "q");
  entry.page.emplace();
  entry.page->filter.prefix = "order:";
  note_request(entry, core::ListRequest{});
  core::ListReply listed;
  listed.messages.resize(3);
  note_reply(entry, listed);
  EXPECT_EQ(lines_of(entry).at(0).at("matched").as_int64(), 0);
  note_request(entry, cancel_of({"a", "b"}));
  EXPECT_EQ(text_at(lines_of(entry, {503, "unavailable", ""}).at(0), "outcome"), "failed");
  note_reply(entry, core::ItemsReply{{with(Outcome::cancelled), with(Outcome::stopping)}});
  const auto line = lines_of(entry).at(0);
  EXPECT_EQ(text_at(line.at("filter").as_object(), "prefix"), "order:");
  EXPECT_EQ(line.at("looked").as_int64(), 3);
  EXPECT_EQ(line.at("matched").as_int64(), 2);
  EXPECT_EQ(json::serialize(line.at("outcomes")), R"({"cancelled":1,"stopping":1})");
}

TEST(AuditLines, the_end_of_a_session_is_known_by_the_answer) {
  Entry entry(Act::end_session);
  entry.session = "8d969eef6ecad3c2";
  entry.session_of = "ann";
  EXPECT_EQ(json::serialize(lines_of(entry).front()),
            R"({"time":"2030-03-17T17:46:40.000Z","act":"end_session","identity":"shop",)"
            R"("peer":"10.0.0.7:1234","front":"http","request_id":"id-1",)"
            R"("session":"8d969eef6ecad3c2","session_of":"ann","outcome":"done"})");
  const auto refused = lines_of(entry, {404, "not_found", "none"});
  EXPECT_EQ(text_at(refused.front(), "outcome"), "refused");
}

TEST(AuditLines, only_the_buries_of_a_settle_are_told) {
  core::SettleRequest settle;
  settle.items.resize(2);
  for (core::SettleItem& item : settle.items) item.receipt = core::append(settle.bytes, "r");
  EXPECT_EQ(entry_of(settle), nullptr);
  settle.items[1].action = core::SettleAction::bury;
  const auto entry = entry_of(settle);
  ASSERT_NE(entry, nullptr);
  note_reply(*entry, core::ItemsReply{{with(Outcome::done), with(Outcome::stale)}});
  const auto lines = lines_of(*entry);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(text_at(lines[0], "receipt"), "r");
  EXPECT_EQ(text_at(lines[0], "outcome"), "stale");

  core::ClaimRequest claim;
  EXPECT_EQ(entry_of(claim), nullptr);
  claim.settle = settle;
  const auto of_claim = entry_of(claim);
  ASSERT_NE(of_claim, nullptr);
  core::ClaimReply claimed;
  claimed.settled = {with(Outcome::done), with(Outcome::stale)};
  note_reply(*of_claim, std::move(claimed));
  const auto lines_of_claim = lines_of(*of_claim);
  ASSERT_EQ(lines_of_claim.size(), 1u);
  EXPECT_EQ(text_at(lines_of_claim[0], "outcome"), "stale");
}

TEST(AuditLines, long_batches_come_in_pieces_of_whole_lines) {
  const auto entry = entry_of(cancel_of(std::vector<std::string>(10'000, std::string(100, 'k'))));
  std::size_t longest = 0;
  std::size_t count = 0;
  write_lines(*entry, kShop, {200, {}, {}}, kNow, [&](std::string_view lines, std::size_t told) {
    longest = std::max(longest, lines.size());
    count += told;
    EXPECT_EQ(lines.back(), '\n');
  });
  EXPECT_EQ(count, 10'000u);
  EXPECT_LT(longest, kPiece + 1024);
}

TEST(AuditThrottle, one_line_a_second_for_each_peer_and_some_for_all) {
  RefusalThrottle throttle;
  RefusalThrottle::Clock::time_point now{};
  EXPECT_EQ(throttle.turn("a", now), 0u);
  EXPECT_EQ(throttle.turn("a", now), std::nullopt);
  EXPECT_EQ(throttle.turn("b", now), 1u);
  for (int i = 0; i < 1'000; ++i) static_cast<void>(throttle.turn(std::to_string(i), now));
  now += std::chrono::seconds(1);
  EXPECT_EQ(throttle.turn("a", now), 1'000 - (RefusalThrottle::kMostLines - 2));
}

}  // namespace
}  // namespace tarry::audit
