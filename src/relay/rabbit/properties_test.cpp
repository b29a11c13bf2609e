#ifdef TARRY_WITH_RABBITMQ

#include "relay/rabbit/properties.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "core/rules/headers.h"
#include "net/rabbit/link.h"
#include "support/outgoing.h"

namespace tarry::relay::rabbit {

using net::rabbit::amqp_view;
using net::rabbit::number_entry;
using net::rabbit::text_entry;
using net::rabbit::view_of;

namespace {

Delivery delivery_with(const Headers& headers) {
  auto reply = std::make_shared<core::ClaimReply>(test::claimed({"k"}));
  const std::string encoded = *core::encode_headers(headers);
  reply->items[0].id = 7;
  reply->items[0].headers = core::append(reply->bytes, encoded);
  return {reply, 0};
}

std::string header_of(const Headers& headers, std::string_view name) {
  const auto found = std::ranges::find(headers, name, &Header::name);
  return found == headers.end() ? "-" : found->value;
}

// Shows a table as "name=value ..."; values are numbers and texts.
std::string shown(const amqp_table_t& table) {
  std::string out;
  for (int i = 0; i < table.num_entries; ++i) {
    const amqp_table_entry_t& entry = table.entries[i];
    out += std::string(view_of(entry.key)) + "=";
    if (entry.value.kind == AMQP_FIELD_KIND_TABLE) {
      out += "{" + shown(entry.value.value.table) + "}";
    } else if (entry.value.kind == AMQP_FIELD_KIND_ARRAY) {
      out += "[...]";
    } else if (entry.value.kind == AMQP_FIELD_KIND_I64) {
      out += std::to_string(entry.value.value.i64);
    } else {
      out += view_of(entry.value.value.bytes);
    }
    out += ' ';
  }
  return out;
}

TEST(RabbitProperties, WhatCameGoesOutAsItCame) {
  amqp_table_entry_t inner = number_entry("deep", -3);
  std::array<amqp_table_entry_t, 5> entries{
      text_entry("lang", "de"), number_entry("x-delay", -1'500), text_entry("no token", "a b"),
      text_entry("tarry-key", "another relay's"), amqp_table_entry_t{}};
  entries[4].key = amqp_view("nested");
  entries[4].value.kind = AMQP_FIELD_KIND_TABLE;
  entries[4].value.value.table = {1, &inner};
  amqp_basic_properties_t came{};
  came._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_PRIORITY_FLAG |
                AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_CORRELATION_ID_FLAG |
                AMQP_BASIC_REPLY_TO_FLAG | AMQP_BASIC_EXPIRATION_FLAG | AMQP_BASIC_TIMESTAMP_FLAG |
                AMQP_BASIC_USER_ID_FLAG;
  came.content_type = amqp_view("text/plain");
  came.headers = {static_cast<int>(entries.size()), entries.data()};
  came.priority = 9;
  came.message_id = amqp_view("order-42");
  came.correlation_id = amqp_view("c");
  came.reply_to = amqp_view("replies");
  came.expiration = amqp_view("60000");
  came.timestamp = 1'600'000'000;
  came.user_id = amqp_view("shop");

  const Headers headers = headers_of(came, "shop", "orders.close");
  EXPECT_EQ(header_of(headers, kExchangeHeader), "shop");
  EXPECT_EQ(header_of(headers, kRoutingKeyHeader), "orders.close");
  EXPECT_EQ(header_of(headers, "lang"), "de");
  EXPECT_EQ(header_of(headers, "tarry-key"), "-");

  const auto made = properties_of(delivery_with(headers), "guest", Copies::refused);
  ASSERT_TRUE(made) << made.error().message;
  const amqp_basic_properties_t& out = (*made)->get();
  EXPECT_EQ(view_of(out.content_type), "text/plain");
  EXPECT_EQ(view_of(out.message_id), "order-42");
  EXPECT_EQ(view_of(out.correlation_id), "c");
  EXPECT_EQ(view_of(out.reply_to), "replies");
  EXPECT_EQ(view_of(out.expiration), "60000");
  EXPECT_EQ(out.priority, 9);
  EXPECT_EQ(out.timestamp, 1'600'000'000u);
  // The message had none, which in AMQP means 1.
  EXPECT_EQ(out.delivery_mode, 1);
  EXPECT_EQ(out._flags & AMQP_BASIC_USER_ID_FLAG, 0u);  // the broker refuses any other user's name
  EXPECT_EQ(shown(out.headers),
            "tarry-queue=q tarry-key=k tarry-attempt=1 tarry-due-ms=0 lang=de x-delay=-1500 "
            "no token=a b nested={deep=-3 } tarry-id=7 ");
  EXPECT_EQ(id_of(out), "7");
  const auto shops = properties_of(delivery_with(headers), "shop", Copies::refused);
  EXPECT_EQ(view_of((*shops)->get().user_id), "shop");
}

TEST(RabbitProperties, OfAMessageThatCameFromElsewhere) {
  const auto made = properties_of(delivery_with({{"lang", "de"}}), "guest", Copies::refused);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->get().delivery_mode, 2);
  EXPECT_EQ(view_of((*made)->get().message_id), "7");
  EXPECT_EQ(id_of((*made)->get()), "7");
}

TEST(RabbitProperties, WhatAmqpCannotSayIsAnError) {
  const auto says = [](const char* name, const std::string& value) {
    const auto made = properties_of(delivery_with({{name, value}}), "guest", Copies::refused);
    return made ? "made" : made.error().message;
  };
  EXPECT_EQ(says("amqp-content-type", std::string(255, 'x')), "made");
  EXPECT_EQ(says("amqp-content-type", std::string(256, 'x')),
            "header amqp-content-type has 256 bytes; as a property of AMQP up to 255 are possible");
  EXPECT_NE(says("amqp-expiration", "soon").find("amqp-expiration"), std::string::npos);
  EXPECT_NE(says("amqp-expiration", "4294967296").find("4294967295"), std::string::npos);
  EXPECT_NE(says("amqp-delivery-mode", "3").find("amqp-delivery-mode"), std::string::npos);
  EXPECT_NE(says("amqp-priority", "256").find("amqp-priority"), std::string::npos);
  for (const char* table : {"!", "AAAA", "AAAAAQ==", "AAAAAAA="}) {
    EXPECT_NE(says("amqp-headers", table).find("no AMQP table"), std::string::npos) << table;
  }
  EXPECT_EQ(says("amqp-headers", "AAAAAA=="), "made");  // an empty table
  EXPECT_EQ(says("amqp-something", "x"), "made");
}

// The headers of an arrived message that had a list under this name.
Headers headers_with_list(const char* name) {
  amqp_field_value_t key{};
  key.kind = AMQP_FIELD_KIND_UTF8;
  key.value.bytes = amqp_view("another.queue");
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_ARRAY;
  entry.value.value.array = {1, &key};
  amqp_basic_properties_t came{};
  came._flags = AMQP_BASIC_HEADERS_FLAG;
  came.headers = {1, &entry};
  return headers_of(came, "shop", "orders.close");
}

TEST(RabbitProperties, AMessageRoutesItselfNowhereElseUnlessThatIsAllowed) {
  const auto says = [](const Headers& headers, Copies copies) {
    const auto made = properties_of(delivery_with(headers), "guest", copies);
    return made ? "made" : made.error().message;
  };
  for (const std::string name : {"CC", "BCC"}) {
    const Headers list = headers_with_list(name.c_str());
    const Headers text{{name, "another.queue"}};
    const std::string refused =
        "header " + name + " names further routing keys to RabbitMQ; allow_cc=yes lets it";
    EXPECT_EQ(says(list, Copies::refused), refused);
    EXPECT_EQ(says(text, Copies::refused), refused);
    EXPECT_EQ(says(list, Copies::allowed), "made");
    // The message would close the channel, which costs other messages on it an attempt.
    EXPECT_EQ(says(text, Copies::allowed),
              "header " + name + " is a list of routing keys to RabbitMQ; this one is no list");
  }
  // RabbitMQ does not know these spellings.
  EXPECT_EQ(says({{"cc", "x"}, {"Bcc", "y"}}, Copies::refused), "made");
  const auto aside = properties_of_refused(headers_with_list("BCC"), "why", 4'000);
  EXPECT_NE(shown(aside->get().headers).find("tarry-BCC="), std::string::npos);
  EXPECT_EQ(shown(aside->get().headers).find(" BCC="), std::string::npos);
}

TEST(RabbitProperties, OfOneThatIsSetAside) {
  const Headers headers{{"amqp-exchange", "shop"},   {"amqp-routing-key", "k"},
                        {"amqp-expiration", "1000"}, {"amqp-delivery-mode", "1"},
                        {"amqp-message-id", "m"},    {"x-delay", "soon"}};
  const auto made = properties_of_refused(headers, "why", 4'000);
  const amqp_basic_properties_t& out = made->get();
  EXPECT_EQ(out.delivery_mode, 2);
  EXPECT_EQ(out._flags & AMQP_BASIC_EXPIRATION_FLAG, 0u);
  EXPECT_EQ(view_of(out.message_id), "m");
  EXPECT_EQ(shown(out.headers),
            "tarry-reason=why tarry-exchange=shop tarry-routing-key=k tarry-expiration=1000 "
            "x-delay=soon ");
}

std::size_t properties_size(const amqp_basic_properties_t& properties) {
  std::string room(300'000, '\0');
  amqp_basic_properties_t copy = properties;
  return static_cast<std::size_t>(amqp_encode_properties(AMQP_BASIC_CLASS, &copy, amqp_view(room)));
}

TEST(RabbitProperties, OfOneThatIsSetAsideAndDoesNotFit) {
  Headers headers{{"amqp-message-id", "m"}};
  for (const char* name : {"a", "b", "c"}) headers.push_back({name, std::string(900, 'x')});
  headers[2].value += "x";
  const std::string many(4'000, 'y');
  const std::size_t all = properties_size(properties_of_refused(headers, many, 10'000)->get());
  for (const std::size_t room : {all, all - 1, all - 900, std::size_t{400}}) {
    EXPECT_LE(properties_size(properties_of_refused(headers, many, room)->get()), room);
  }
  EXPECT_EQ(properties_size(properties_of_refused(headers, many, all)->get()), all);
  const auto made = properties_of_refused(headers, "why", 2'000);
  EXPECT_EQ(view_of(made->get().message_id), "m");
  EXPECT_EQ(shown(made->get().headers), "tarry-reason=why a=" + headers[1].value +
                                            " c=" + headers[3].value + " tarry-headers-dropped=1 ");
}

// The properties of a set-aside message always fit into one frame.
TEST(RabbitProperties, WhatIsSetAsideFitsIntoTheSmallestFrame) {
  Headers headers;
  for (const char* name :
       {"content-type", "content-encoding", "correlation-id", "reply-to", "message-id", "type",
        "app-id", "cluster-id", "exchange", "routing-key", "expiration"}) {
    headers.push_back({std::string("amqp-") + name, std::string(255, 'x')});
  }
  headers.push_back({"amqp-priority", "1"});
  headers.push_back({"amqp-timestamp", "1"});
  for (int i = 0; i < 1'000; ++i) headers.push_back({"h" + std::to_string(i), "x"});
  const auto made = properties_of_refused(headers, std::string(1'000, 'y'), 4'000);
  EXPECT_LE(properties_size(made->get()), 4'000u);
}

}  // namespace
}  // namespace tarry::relay::rabbit

#endif
