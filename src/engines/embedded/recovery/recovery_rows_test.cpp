// The table in docs/formats/journal.md is the code's table, row for row and word for word.
#include "engines/embedded/recovery/recovery_rows.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace tarry::embedded {
namespace {

// The lines of the page's section that begin with "| ", without the table's head.
std::vector<std::string> rows_of_the_page() {
  std::ifstream page(TARRY_JOURNAL_PAGE);
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(page, line) && line != "## Recovery") {
  }
  while (std::getline(page, line) && !line.starts_with("## ")) {
    if (line.starts_with("| ") && !line.starts_with("| row |")) rows.push_back(line);
  }
  return rows;
}

TEST(RecoveryRows, AreThoseOfThePage) {
  std::vector<std::string> rows;
  for (const RowText& row : kRows) {
    rows.push_back("| " + std::string(row.name) + " | " + std::string(row.found) + " | " +
                   std::string(row.done) + " |");
  }
  EXPECT_EQ(rows_of_the_page(), rows);
}

TEST(RecoveryRows, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const RowText& row : kRows) names.insert(row.name);
  EXPECT_EQ(names.size(), kRows.size());
  EXPECT_EQ(name_of(Row::s4_by_proof), "S4 by proof");
}

}  // namespace
}  // namespace tarry::embedded
