#include "core/settings/setting_text.h"

#include <gtest/gtest.h>

namespace tarry::core {
namespace {

using namespace std::chrono_literals;

TEST(SettingText, IsWhatPeopleWrite) {
  EXPECT_EQ(setting_text(Millis(90s)), "1m30s");
  EXPECT_EQ(setting_text(std::uint32_t{7}), "7");
  EXPECT_EQ(setting_text(std::uint32_t{0}), "none");
  EXPECT_EQ(setting_text(IfExists::earlier), "earlier");
  EXPECT_EQ(setting_text(OnExpiry::dead), "dead");
  EXPECT_EQ(setting_text(DeliveryRate{100, 1s, 20}), "100/1s burst 20");
  EXPECT_EQ(setting_text(Objective()), "none");
}

}  // namespace
}  // namespace tarry::core
