// Checks a store whose URL has max_payload=10B.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <tarry/queue.h>
#include <tarry/store.h>

namespace tarry::testing {

inline void expect_ten_bytes_at_most(const Store& store) {
  EXPECT_TRUE(store.queue("q").push({.payload = "0123456789"}));
  const auto over = store.queue("q").push({.payload = "0123456789a"});
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::too_large);
  EXPECT_NE(over.error().message.find("11"), std::string::npos) << over.error().message;
  EXPECT_NE(over.error().message.find("10"), std::string::npos) << over.error().message;
}

}  // namespace tarry::testing
