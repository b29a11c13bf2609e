#include "app/output/table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "app/output/printable.h"

namespace tarry::app {
namespace {

TEST(Table, AlignsColumns) {
  Table table({{"KEY"}, {"ID", true}});
  table.add({"order:1", "7"});
  table.add({"a", "1234"});
  EXPECT_EQ(table.text(0),
            "KEY        ID\n"
            "order:1     7\n"
            "a        1234\n");
}

TEST(Table, HasNoSpaceAtTheEndOfALine) {
  Table table({{"KEY"}, {"REASON"}});
  table.add({"order:1", ""});
  EXPECT_EQ(table.text(0), "KEY      REASON\norder:1\n");
}

TEST(Table, EscapesCells) {
  Table table({{"KEY"}});
  table.add({"a\x1b[2Jb"});
  EXPECT_EQ(table.text(0), "KEY\na\\x1b[2Jb\n");
}

TEST(Table, CutsOnlyWhatMayBeCut) {
  Table table({{"KEY", false, true}, {"RECEIPT"}});
  table.add({"a-very-long-key-indeed", "0123456789"});
  EXPECT_EQ(table.text(20),
            "KEY       RECEIPT\n"
            "a-very-…  0123456789\n");
}

TEST(Table, NeverCutsWhatUsersCopy) {
  Table table({{"KEY", false, true}, {"RECEIPT", false, false, true}});
  table.add({"a-very-long-key-indeed", "0123456789"});
  EXPECT_EQ(table.text(12),
            "KEY     RECEIPT\n"
            "a-ver…  0123456789\n");
}

TEST(Table, StandsCloserBeforeItCuts) {
  Table table({{"KEY", false, true}, {"ID", true}, {"DUE", true}}, true);
  table.add({"order:1", "7", "12"});
  EXPECT_EQ(table.text(16), "KEY      ID  DUE\norder:1   7   12\n");
  EXPECT_EQ(table.text(15), "KEY     ID DUE\norder:1  7  12\n");
  EXPECT_EQ(table.text(13), "KEY    ID DUE\norder…  7  12\n");
}

TEST(Table, CutsTheWidestFirst) {
  Table table({{"A", false, true}, {"B", false, true}});
  table.add({"12345678", std::string(30, 'x')});
  const std::string text = table.text(24);
  EXPECT_NE(text.find("12345678  "), std::string::npos) << text;
}

TEST(Table, IsNeverCutWithoutAWidth) {
  Table table({{"A", false, true}});
  table.add({std::string(5000, 'x')});
  EXPECT_EQ(table.text(0), "A\n" + std::string(5000, 'x') + "\n");
}

RC_GTEST_PROP(Table, FitsAnyWidth, (const std::vector<std::string>& cells)) {
  Table table({{"A", false, true}, {"B", true}, {"C", false, true}});
  for (const std::string& cell : cells) table.add({cell, "7", cell});
  const std::size_t width = *rc::gen::inRange<std::size_t>(1, 60);
  std::istringstream lines(table.text(width));
  for (std::string line; std::getline(lines, line);) RC_ASSERT(columns(line) <= width);
}

TEST(Sheet, PutsValuesBelowEachOther) {
  Sheet sheet;
  sheet.add("id", "7");
  sheet.add("payload", "a\nb");
  EXPECT_EQ(sheet.text(0), "id       7\npayload  a\\nb\n");
  EXPECT_EQ(sheet.text(10), "id       7\npayload  …\n");
}

TEST(Sheet, LetsPartsGoOnInTheNextLine) {
  Sheet sheet;
  sheet.add("id", "7");
  sheet.add_parts("ended", {"1,000 acked", "20 cancelled", "3 purged"});
  EXPECT_EQ(sheet.text(0), "id     7\nended  1,000 acked, 20 cancelled, 3 purged\n");
  EXPECT_EQ(sheet.text(34), "id     7\nended  1,000 acked, 20 cancelled,\n       3 purged\n");
  EXPECT_EQ(sheet.text(15), "id     7\nended  1,000 a…\n       20 canc…\n       3 purged\n");
}

}  // namespace
}  // namespace tarry::app
