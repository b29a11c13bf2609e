// Scripts and engine agree on the order of a queue's settings in META.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/settings/settings_table.h"
#include "engines/redis/node/scripts.h"

namespace tarry::redis {
namespace {

// The names of the settings in settings.lua, in their order.
std::vector<std::string> names_in_scripts() {
  const std::string text = text_of(Script::ack, net::RedisChannels::plain);
  constexpr std::string_view kBegin = "local names = {";
  const std::size_t begin = text.find(kBegin);
  std::vector<std::string> names;
  if (begin == std::string::npos) return names;
  const std::string list = text.substr(begin, text.find('}', begin) - begin);
  for (std::size_t at = list.find('\''); at != std::string::npos; at = list.find('\'', at + 1)) {
    const std::size_t end = list.find('\'', at + 1);
    names.push_back(list.substr(at + 1, end - at - 1));
    at = end;
  }
  return names;
}

TEST(ScriptSettings, StandInTheTablesOrder) {
  std::vector<std::string> table;
  core::each_setting([&](const auto& row) { table.emplace_back(row.name); });
  const std::vector<std::string> names = names_in_scripts();
  ASSERT_FALSE(names.empty());
  ASSERT_LE(names.size(), table.size());
  table.resize(names.size());
  EXPECT_EQ(names, table);
}

}  // namespace
}  // namespace tarry::redis
