// Guarantee 6: delivered as accepted, byte for byte.
#include "contract.h"
#include "core/limits.h"

namespace tarry::contract {
namespace {

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

std::string noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 12345;
  for (char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

class Fidelity : public Contract {
 protected:
  /// What a key or a header may contain in this run: on the command line no zero byte, because it
  /// ends an argument.
  [[nodiscard]] std::string sayable(std::string bytes) const {
    if (is_by(By::command_line)) std::erase(bytes, '\0');
    return bytes;
  }
  /// Pushes a message, then checks it by get and claim, and its key also by list and cancel.
  void expect_kept(std::string_view key, std::string_view payload, const Headers& headers) {
    const Queue q = queue();
    const Pushed pushed = must(q.push({.key = key, .payload = payload, .headers = headers}));
    ASSERT_EQ(pushed.outcome, Outcome::pushed);
    ASSERT_EQ(pushed.key, key);
    const MessageInfo info = find(q, key).value();
    EXPECT_EQ(info.key, key);
    EXPECT_TRUE(info.payload == payload);
    EXPECT_EQ(info.headers, headers);
    const std::vector<MessageInfo> listed = list_all(q);
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0].key, key);
    const Delivery delivery = claim_one(q);
    EXPECT_EQ(delivery.key(), key);
    EXPECT_EQ(delivery.queue(), "q");
    EXPECT_TRUE(delivery.payload() == payload);
    EXPECT_EQ(delivery.headers(), headers);
    EXPECT_EQ(delivery.id(), pushed.id);
    EXPECT_EQ(must(q.release(delivery.receipt())), Outcome::done);
    EXPECT_EQ(must(q.cancel(key)), Outcome::cancelled);
  }
};
TARRY_ON_ALL_ENGINES(Fidelity);

TEST_P(Fidelity, PayloadsOfAllByteValues) { expect_kept("k", all_bytes(), {}); }

TEST_P(Fidelity, EmptyPayloads) { expect_kept("k", "", {}); }

TEST_P(Fidelity, PayloadsOfOneMebibyte) { expect_kept("k", noise(core::kDefaultMaxPayload), {}); }

TEST_P(Fidelity, PayloadsThatLookLikeSomethingElse) {
  for (const std::string_view payload : {"{\"key\":\"value\"}", "null", "\xff\xfe", "a\r\n\r\nb",
                                         "\\u0000", "\xed\xa0\x80", "%00"}) {
    expect_kept("k", payload, {});
  }
}

TEST_P(Fidelity, KeysOfAllByteValues) {
  const std::string bytes = sayable(all_bytes());
  for (std::size_t i = 0; i < 256; i += 64) expect_kept(bytes.substr(i, 64), "x", {});
  expect_kept(bytes + bytes, "x", {});  // 512 bytes: the limit
}

TEST_P(Fidelity, HostileKeys) {
  for (const std::string_view key :
       {std::string_view("\0", 1), std::string_view(" "), std::string_view("a b"),
        std::string_view("{"), std::string_view("{}"), std::string_view("{x}y"),
        std::string_view("}{"), std::string_view("../../etc/passwd"),
        std::string_view("a/b?c=d&e#f"), std::string_view("%2F"), std::string_view("\"\\\n\r\t"),
        std::string_view("\xc3\xa9"), std::string_view("\xff"),
        std::string_view("\xf0\x9f\x95\xb0"), std::string_view("null"), std::string_view("0"),
        std::string_view("-1"), std::string_view("\x7f")}) {
    SCOPED_TRACE(testing::PrintToString(key));
    if (sayable(std::string(key)).empty()) continue;
    expect_kept(key, "x", {});
  }
}

TEST_P(Fidelity, KeysThatDifferInOneByteAreDifferentMessages) {
  const Queue q = queue();
  const std::string bytes = sayable(all_bytes());
  for (const char byte : bytes) {
    EXPECT_EQ(
        must(q.push({.key = std::string("k") + byte, .payload = std::string(1, byte)})).outcome,
        Outcome::pushed);
  }
  std::set<std::string> payloads;
  for (const Delivery& delivery : claim_all(q)) {
    EXPECT_EQ(delivery.key().substr(1), delivery.payload());
    payloads.emplace(delivery.payload());
  }
  EXPECT_EQ(payloads.size(), bytes.size());
}

TEST_P(Fidelity, HeadersInOrderAndRepeated) {
  expect_kept("k", "x", {{"B", "1"}, {"A", "2"}, {"B", "3"}, {"empty", ""}});
}

TEST_P(Fidelity, HeaderValuesOfAllByteValues) {
  expect_kept("k", "x", {{"bytes", sayable(all_bytes())}});
}

TEST_P(Fidelity, HeadersUpToTheLimit) {
  expect_kept("one", "x", {{"n", sayable(noise(core::kMaxHeaders - 1))}});
  Headers many;
  for (std::size_t i = 0; i < core::kMaxHeaders / 16; ++i) {
    std::string name = "n" + std::to_string(10'000 + i);  // 6 bytes
    many.push_back({std::move(name), sayable(noise(10))});
  }
  expect_kept("many", "x", many);
}

TEST_P(Fidelity, HeadersAreFoundByNameWhateverTheirCase) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .headers = {{"Content-Type", "a/b"}, {"X", ""}}}));
  const Delivery delivery = claim_one(q);
  EXPECT_EQ(delivery.header("content-type"), "a/b");
  EXPECT_EQ(delivery.header("x"), "");
  EXPECT_EQ(delivery.header("Y"), std::nullopt);
}

TEST_P(Fidelity, SurvivesRetryReleaseRescheduleBuryAndRevive) {
  const Queue q = queue();
  const std::string payload = noise(5000);
  const Headers headers = {{"H", sayable(all_bytes())}};
  (void)must(q.push({.key = "k", .payload = payload, .headers = headers, .priority = 77}));
  (void)must(q.retry(claim_one(q).receipt(), 0ms));
  (void)must(q.release(claim_one(q).receipt()));
  (void)must(q.reschedule("k", in(1h)));
  clock().advance(1h);
  (void)must(q.bury(claim_one(q).receipt(), "why"));
  EXPECT_EQ(must(q.revive()), 1u);
  const Delivery delivery = claim_one(q);
  EXPECT_TRUE(delivery.payload() == payload);
  EXPECT_EQ(delivery.headers(), headers);
  EXPECT_EQ(delivery.priority(), 77u);
}

TEST_P(Fidelity, ManyPayloadsOfOneClaimDoNotMix) {
  const Queue q = queue();
  std::vector<std::string> payloads;
  for (std::size_t i = 0; i < 200; ++i) payloads.push_back(noise(i * 13) + std::to_string(i));
  for (std::size_t i = 0; i < 200; ++i) {
    (void)must(q.push({.key = std::to_string(i), .payload = payloads[i]}));
  }
  const std::vector<Delivery> claimed = claim(q, 200);
  EXPECT_EQ(claimed.size(), 200u);
  for (const Delivery& delivery : claimed) {
    EXPECT_TRUE(delivery.payload() == payloads.at(std::stoul(std::string(delivery.key()))));
  }
}

}  // namespace
}  // namespace tarry::contract
