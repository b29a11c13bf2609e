#include "engines/redis/records/member.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engines/redis/records/receipt.h"

namespace tarry::redis {
namespace {

constexpr std::uint64_t kSecret = 0x1234'5678'9abc'def0;

std::string spelled(std::uint64_t id, std::uint64_t secret = kSecret) {
  const IdBytes bytes = id_bytes(id);
  std::string key;
  append_key(key, std::string_view(bytes.data(), bytes.size()), secret);
  return key;
}

std::string round_trip(std::string_view key) {
  std::string scratch;
  std::string back;
  append_key(back, member_of(key, kSecret, scratch), kSecret);
  return back;
}

TEST(Member, OfAMadeKeyIsItsId) {
  for (const std::uint64_t id : {std::uint64_t{1}, std::uint64_t{255}, kMaxId}) {
    const std::string key = spelled(id);
    EXPECT_EQ(key.size(), kSpelledSize);
    std::string scratch;
    const std::string_view member = member_of(key, kSecret, scratch);
    EXPECT_TRUE(is_made_member(member));
    EXPECT_EQ(id_from(member), id);
  }
}

TEST(Member, OfAnIdThatWasNeverMadeHereIsTheKeyItself) {
  std::string scratch;
  const std::string other = spelled(7, kSecret + 1);
  EXPECT_EQ(member_of(other, kSecret, scratch), other);
  std::string changed = spelled(7);
  changed.back() = changed.back() == '0' ? '1' : '0';
  EXPECT_EQ(member_of(changed, kSecret, scratch), changed);
}

TEST(Member, OfAUsersKeyIsNeverAnIds) {
  std::string scratch;
  EXPECT_EQ(member_of("order:42", kSecret, scratch), "order:42");
  const std::string looks_made("\0\0\0\0\0\1", 6);
  EXPECT_EQ(member_of(looks_made, kSecret, scratch), "\x1f" + looks_made);
  EXPECT_EQ(member_of("\x1f", kSecret, scratch), "\x1f\x1f");
}

RC_GTEST_PROP(Member, ComesBackAsTheKeyItWas, (const std::string& key)) {
  RC_PRE(!key.empty());
  RC_ASSERT(round_trip(key) == key);
}

RC_GTEST_PROP(Member, OfDifferentKeysDiffers, (const std::string& a, const std::string& b)) {
  RC_PRE(!a.empty() && !b.empty() && a != b);
  std::string scratch_a;
  std::string scratch_b;
  RC_ASSERT(member_of(a, kSecret, scratch_a) != member_of(b, kSecret, scratch_b));
}

Receipt sample_receipt() {
  Receipt receipt;
  receipt.queue = 77;
  receipt.shard = 3;
  receipt.claim = 1'234'567;
  receipt.taken = 100;
  return receipt;
}

std::string spell(std::string_view member) {
  std::string text;
  ReceiptSpeller(sample_receipt(), kSecret).append(text, member, true);
  return text;
}

TEST(RedisReceipt, ComesBackAsItWas) {
  const auto read = parse_receipt(spell("order:42"), kSecret);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->queue, 77u);
  EXPECT_EQ(read->shard, 3u);
  EXPECT_EQ(read->claim, 1'234'567u);
  EXPECT_EQ(read->taken, 100u);
  EXPECT_TRUE(read->has_past);
  EXPECT_EQ(read->member, "order:42");
  EXPECT_TRUE(read->is_ours);
}

TEST(RedisReceipt, OfOneClaimDifferByTheirMessages) {
  ReceiptSpeller speller(sample_receipt(), kSecret);
  std::string texts;
  speller.append(texts, "a longer key", true);
  const std::size_t first = texts.size();
  speller.append(texts, "key", false);
  const auto one = parse_receipt(std::string_view(texts).substr(0, first), kSecret);
  const auto other = parse_receipt(std::string_view(texts).substr(first), kSecret);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->member, "a longer key");
  EXPECT_TRUE(one->has_past);
  EXPECT_EQ(other->member, "key");
  EXPECT_FALSE(other->has_past);
  EXPECT_EQ(claim_name(*one), claim_name(*other));
  EXPECT_TRUE(one->is_ours && other->is_ours);
}

TEST(RedisReceipt, OfTheLongestKeyIsShortEnough) {
  const std::string text = spell(std::string(513, 'k'));
  EXPECT_LE(text.size(), 1'024u);
  EXPECT_TRUE(parse_receipt(text, kSecret));
}

TEST(RedisReceipt, OfAnotherStoreIsNotOurs) {
  const auto read = parse_receipt(spell("k"), kSecret + 1);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->is_ours);
}

TEST(RedisReceipt, ThatWasCutOrLengthenedIsNone) {
  const std::string text = spell("order:42");
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_receipt(std::string_view(text).substr(0, size), kSecret)) << size;
  }
  EXPECT_FALSE(parse_receipt(text + "AAAA", kSecret));
}

RC_GTEST_PROP(RedisReceipt, ThatWasChangedIsNotOurs, ()) {
  std::string text = spell("order:42");
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  const char was = text[at];
  text[at] = *rc::gen::elementOf(std::string("abcXYZ019-_"));
  RC_PRE(text[at] != was);
  const auto read = parse_receipt(text, kSecret);
  RC_ASSERT(!read || !read->is_ours);
}

RC_GTEST_PROP(RedisReceipt, OfAnyTextIsReadOrRefused, (const std::string& text)) {
  const auto read = parse_receipt(text, kSecret);
  RC_ASSERT(!read || !read->is_ours);
}

}  // namespace
}  // namespace tarry::redis
