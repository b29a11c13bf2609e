#include "core/rules/trace_context.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/limits.h"
#include "core/rules/headers.h"

namespace tarry::core {
namespace {

constexpr std::string_view kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string parent_of(std::string_view field) { return read_trace(field, "").parent; }

std::string changed(std::size_t at, std::string_view text) {
  return std::string(kParent).replace(at, text.size(), text);
}

TEST(TraceContext, a_valid_parent_stays_as_it_is) {
  EXPECT_EQ(parent_of(kParent), kParent);
  EXPECT_EQ(parent_of(" \t" + std::string(kParent) + " "), kParent);
  EXPECT_EQ(parent_of(changed(53, "ff")), changed(53, "ff"));
}

TEST(TraceContext, what_the_w3c_calls_invalid_is_ignored) {
  for (std::size_t size = 0; size < kParent.size(); ++size) {
    EXPECT_EQ(parent_of(kParent.substr(0, size)), "") << size;
  }
  for (const std::string& wrong :
       {std::string(kParent) + "-", std::string(kParent) + "-00", changed(0, "ff"),
        changed(0, "0G"), changed(3, "00000000000000000000000000000000"),
        changed(36, "0000000000000000"), changed(3, "A"), changed(36, "x"), changed(53, "0F"),
        changed(2, "_"), changed(35, "_"), changed(52, "_"), changed(0, "01") + "x"}) {
    EXPECT_EQ(parent_of(wrong), "") << wrong;
  }
}

TEST(TraceContext, a_later_version_becomes_one_that_we_know) {
  EXPECT_EQ(parent_of(changed(0, "cc")), kParent);
  EXPECT_EQ(parent_of(changed(0, "01") + "-what-comes"), kParent);
  std::string unsampled = changed(0, "01");
  unsampled.replace(53, 2, "fe");
  EXPECT_EQ(parent_of(unsampled), changed(53, "00"));
}

TEST(TraceContext, a_state_belongs_to_a_parent) {
  EXPECT_EQ(read_trace(kParent, " a=1,b=2 ").state, "a=1,b=2");
  EXPECT_EQ(read_trace("x", "a=1").state, "");
  EXPECT_EQ(read_trace(kParent, "a=\x01").state, "");
  EXPECT_EQ(read_trace(kParent, std::string(kMaxTracestate, 'a')).state.size(), kMaxTracestate);
  EXPECT_EQ(read_trace(kParent, std::string(kMaxTracestate + 1, 'a')).state, "");
}

PushRequest push_of(const std::vector<Headers>& messages) {
  PushRequest request{"q", {}, {}};
  for (const Headers& headers : messages) {
    request.items.emplace_back();
    request.items.back().headers = append(request.bytes, *encode_headers(headers));
  }
  return request;
}

Headers headers_of(const PushRequest& request, std::size_t item) {
  return decode_headers(view(request.bytes, request.items[item].headers)).value_or(Headers{});
}

const Header kTheParent{"traceparent", std::string(kParent)};
const Header kTheState{"tracestate", "a=1"};

TEST(TraceContext, messages_without_one_get_it) {
  const Headers own{{"TraceParent", "mine"}};
  const Headers other{{"a", "b"}};
  const Headers state{{"tracestate", "old=1"}};
  PushRequest request = push_of({{}, own, other, {}, state});
  add_trace(request, read_trace(kParent, "a=1"));
  EXPECT_EQ(headers_of(request, 0), (Headers{kTheParent, kTheState}));
  EXPECT_EQ(headers_of(request, 1), own);
  EXPECT_EQ(headers_of(request, 2), (Headers{other[0], kTheParent, kTheState}));
  EXPECT_EQ(headers_of(request, 3), headers_of(request, 0));
  EXPECT_EQ(headers_of(request, 4), (Headers{state[0], kTheParent}));
  EXPECT_EQ(request.items[0].headers.offset, request.items[3].headers.offset) << "is shared";
}

TEST(TraceContext, without_one_nothing_changes) {
  PushRequest request = push_of({{}, {{"a", "b"}}});
  const std::string before = request.bytes;
  add_trace(request, read_trace("none", "a=1"));
  EXPECT_EQ(request.bytes, before);
}

TEST(TraceContext, a_push_does_not_fail_because_of_it) {
  const auto padded = [](std::size_t left) {
    return Headers{{"a", std::string(kMaxHeaders - 1 - left, 'x')}};
  };
  const std::size_t parent = kTheParent.name.size() + kTheParent.value.size();
  const std::size_t both = parent + kTheState.name.size() + kTheState.value.size();
  PushRequest request = push_of(
      {padded(both), padded(both - 1), padded(parent - 1), Headers(kMaxHeaderCount, {"a", ""})});
  add_trace(request, read_trace(kParent, "a=1"));
  EXPECT_EQ(headers_of(request, 0).size(), 3u);
  EXPECT_EQ(headers_of(request, 1).size(), 2u);
  EXPECT_EQ(headers_of(request, 2).size(), 1u);
  EXPECT_EQ(headers_of(request, 3).size(), kMaxHeaderCount);
  PushRequest large = push_of({{}, {}});
  const Slice payload = append(large.bytes, std::string(kMaxBatchBytes / 2 - 20, 'x'));
  for (PushItem& item : large.items) item.payload = payload;
  add_trace(large, read_trace(kParent, ""));
  EXPECT_EQ(headers_of(large, 0), Headers{});
}

}  // namespace
}  // namespace tarry::core
