#ifdef TARRY_WITH_RABBITMQ

#include "relay/intakes/delay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "core/limits.h"
#include "net/rabbit/link.h"

namespace tarry::relay {
namespace {

amqp_field_value_t value_of(amqp_field_value_kind_t kind,
                            const std::function<void(amqp_field_value_t&)>& set) {
  amqp_field_value_t value{};
  value.kind = static_cast<std::uint8_t>(kind);
  set(value);
  return value;
}
amqp_field_value_t text_value(std::string_view text) {
  return net::rabbit::text_entry("x-delay", text).value;
}
amqp_field_value_t double_value(double number) {
  return value_of(AMQP_FIELD_KIND_F64, [&](auto& v) { v.value.f64 = number; });
}
std::string read_delay(const amqp_field_value_t& value) {
  const auto ms = delay_of(value);
  return ms ? std::to_string(*ms) : std::string(ms.error().message);
}

TEST(IntakeDelay, IntegersOfEveryWidth) {
  using Kind = amqp_field_value_kind_t;
  const auto read = [](Kind kind, const std::function<void(amqp_field_value_t&)>& set) {
    return read_delay(value_of(kind, set));
  };
  EXPECT_EQ(read(AMQP_FIELD_KIND_I8, [](auto& v) { v.value.i8 = -128; }), "-128");
  EXPECT_EQ(read(AMQP_FIELD_KIND_U8, [](auto& v) { v.value.u8 = 255; }), "255");
  EXPECT_EQ(read(AMQP_FIELD_KIND_I16, [](auto& v) { v.value.i16 = -32'768; }), "-32768");
  EXPECT_EQ(read(AMQP_FIELD_KIND_U16, [](auto& v) { v.value.u16 = 65'535; }), "65535");
  EXPECT_EQ(read(AMQP_FIELD_KIND_I32, [](auto& v) { v.value.i32 = 2'147'483'647; }), "2147483647");
  EXPECT_EQ(read(AMQP_FIELD_KIND_U32, [](auto& v) { v.value.u32 = 4'294'967'295; }), "4294967295");
  EXPECT_EQ(read(AMQP_FIELD_KIND_I64, [](auto& v) { v.value.i64 = -5; }), "-5");
  EXPECT_EQ(read(AMQP_FIELD_KIND_I64, [](auto& v) { v.value.i64 = core::kMaxDelayMs; }),
            "3155760000000");
  EXPECT_EQ(read(AMQP_FIELD_KIND_U64, [](auto& v) { v.value.u64 = 7; }), "7");
}

TEST(IntakeDelay, TooFar) {
  const std::string limit = " is over 3155760000000 ms, which is 100 years";
  EXPECT_EQ(read_delay(value_of(AMQP_FIELD_KIND_I64,
                                [](auto& v) { v.value.i64 = core::kMaxDelayMs + 1; })),
            "x-delay 3155760000001" + limit);
  EXPECT_EQ(read_delay(value_of(AMQP_FIELD_KIND_U64,
                                [](auto& v) { v.value.u64 = 18'446'744'073'709'551'615u; })),
            "x-delay 18446744073709551615" + limit);
  EXPECT_EQ(read_delay(text_value("99999999999999999999")),
            "x-delay \"99999999999999999999\"" + limit);
  EXPECT_EQ(read_delay(text_value("1e999")), "x-delay \"1e999\"" + limit);
  EXPECT_EQ(read_delay(text_value("inf")), "x-delay \"inf\"" + limit);
}

TEST(IntakeDelay, FractionsAreRoundedUpAndTextIsANumber) {
  EXPECT_EQ(read_delay(double_value(1.25)), "2");
  EXPECT_EQ(read_delay(double_value(-1.5)), "-1");
  EXPECT_EQ(read_delay(value_of(AMQP_FIELD_KIND_F32, [](auto& v) { v.value.f32 = 0.5F; })), "1");
  EXPECT_EQ(read_delay(text_value("5000")), "5000");
  EXPECT_EQ(read_delay(text_value("+5")), "5");
  EXPECT_EQ(read_delay(text_value("-5000")), "-5000");
  EXPECT_EQ(read_delay(text_value("-1e999")), "-1");
  EXPECT_EQ(read_delay(text_value("1500.5")), "1501");
}

TEST(IntakeDelay, WhatIsNoNumber) {
  const std::string rule = " must be milliseconds, as a number or in digits";
  for (const char* text : {"", "+", "soon", "5s", " 5", "5 ", "0x10", "++5", "nan"}) {
    EXPECT_EQ(read_delay(text_value(text)), "x-delay \"" + std::string(text) + "\"" + rule);
  }
  EXPECT_EQ(read_delay(double_value(std::numeric_limits<double>::quiet_NaN())),
            "x-delay nan" + rule);
  EXPECT_EQ(read_delay(value_of(AMQP_FIELD_KIND_BOOLEAN, [](auto& v) { v.value.boolean = 1; })),
            "x-delay of AMQP's type 't'" + rule);
}

TEST(IntakeDelay, OfProperties) {
  amqp_basic_properties_t properties{};
  EXPECT_FALSE(delay_of(properties)->has_value());
  EXPECT_FALSE(expiration_of(properties)->has_value());
  amqp_table_entry_t entry = net::rabbit::number_entry("x-delay", 5);
  properties._flags = AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_EXPIRATION_FLAG;
  properties.headers = {1, &entry};
  properties.expiration = net::rabbit::amqp_view("60000");
  EXPECT_EQ(delay_of(properties)->value(), 5);
  EXPECT_EQ(expiration_of(properties)->value(), 60'000);
}

}  // namespace
}  // namespace tarry::relay

#endif
