#include "core/settings/settings_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tarry::core {
namespace {

// These two lines do not compile if a struct has more members than the table has rows.
TEST(SettingsTable, HasARowForEachMember) {
  auto [lease, attempts, least, most, remember, keep, rule, aim, expire, end, leased, rate, group,
        of_group, history, order] = QueueSettings();
  auto [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = SettingsPatch();
  EXPECT_EQ(kSettings, 16u);
  (void)lease, (void)attempts, (void)least, (void)most, (void)remember, (void)keep, (void)rule;
  (void)aim, (void)expire, (void)end, (void)leased, (void)rate, (void)group;
  (void)of_group, (void)history, (void)order;
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  (void)i, (void)j, (void)k, (void)l, (void)m, (void)n, (void)o, (void)p;
}

TEST(SettingsTable, NoTwoRowsAreOfOneMemberOrOfOneName) {
  std::vector<std::string> names;
  each_setting([&](const auto& row) {
    names.emplace_back(row.name);
    SettingsPatch patch;
    patch.*row.change = QueueSettings().*row.value;
    int changes = 0;
    each_setting([&](const auto& other) { changes += (patch.*other.change).has_value(); });
    EXPECT_EQ(changes, 1) << row.name;
  });
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  each_setting_of<DurationSetting>([](const DurationSetting& row) {
    EXPECT_EQ(row.name_ms, std::string(row.name) + "_ms");
    EXPECT_LT(row.min, row.max);
  });
}

QueueSettings others() {
  QueueSettings settings;
  each_setting_of<DurationSetting>([&](const auto& row) { settings.*row.value += Millis(1000); });
  each_setting_of<CountSetting>([&](const auto& row) { settings.*row.value += 1; });
  each_setting_of<RuleSetting>([&](const auto& row) { settings.*row.value = IfExists::later; });
  settings.expire = Millis(1000);
  settings.on_expiry = OnExpiry::dead;
  settings.max_leased = 5;
  settings.rate = {100, Millis(1000), 20};
  settings.group = {Grouping::By::header, "tenant"};
  settings.group_max_leased = 5;
  settings.history = 5;
  settings.group_order = GroupOrder::push;
  each_setting_of<ObjectiveSetting>(
      [&](const auto& row) { settings.*row.value = {99'000, Millis(1000)}; });
  return settings;
}

TEST(SettingsTable, APatchOfSettingsMakesThemOfAnyOthers) {
  EXPECT_EQ(apply(patch_of(others()), QueueSettings()), others());
  EXPECT_EQ(apply(patch_of(QueueSettings()), others()), QueueSettings());
}

TEST(SettingsTable, AnEmptyPatchChangesNothing) {
  EXPECT_EQ(apply(SettingsPatch(), others()), others());
}

TEST(SettingsTable, EachSettingIsChangedAlone) {
  each_setting([](const auto& row) {
    SettingsPatch patch;
    patch.*row.change = others().*row.value;
    QueueSettings expected;
    expected.*row.value = others().*row.value;
    EXPECT_EQ(apply(patch, QueueSettings()), expected) << row.name;
  });
}

TEST(SettingsTable, WhatIsLaidOverOthersWins) {
  SettingsPatch onto{.lease = Millis(1), .max_attempts = 2};
  lay(onto, SettingsPatch{.max_attempts = 3, .remember = Millis(4)});
  EXPECT_EQ(onto.lease, Millis(1));
  EXPECT_EQ(onto.max_attempts, 3u);
  EXPECT_EQ(onto.remember, Millis(4));
  EXPECT_FALSE(onto.dead_keep);
}

}  // namespace
}  // namespace tarry::core
