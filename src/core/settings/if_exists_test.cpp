#include "core/settings/if_exists.h"

#include <gtest/gtest.h>

namespace tarry::core {
namespace {

TEST(IfExists, every_name_reads_back_as_its_rule) {
  ASSERT_EQ(if_exists_names().size(), std::size_t{5});
  for (std::size_t i = 0; i < if_exists_names().size(); ++i) {
    EXPECT_EQ(if_exists_from(if_exists_names()[i]), static_cast<IfExists>(i));
  }
}

TEST(IfExists, other_names_are_no_rule) {
  EXPECT_EQ(if_exists_from(""), std::nullopt);
  EXPECT_EQ(if_exists_from("Reject"), std::nullopt);
  EXPECT_EQ(if_exists_from("rejected"), std::nullopt);
}

}  // namespace
}  // namespace tarry::core
