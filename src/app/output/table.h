// Table: rows of text under headings, laid out to fit a terminal.
//
// Thread safety: none of its own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::app {

struct Column {
  std::string heading;
  bool right = false;    // aligned to the right, for figures
  bool shrinks = false;  // may be cut with `…` if the terminal is too narrow
  bool whole = false;    // never cut, for values that users copy; the last column may then make
                         // lines too long
};

class Table {
 public:
  /// `close`: if the table is too wide, columns are separated by one space instead of two before
  /// any cell is cut.
  explicit Table(std::vector<Column> columns, bool close = false);

  /// Adds a row: one cell for each column. Cells are made printable here.
  void add(const std::vector<std::string_view>& cells);

  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  /// The table as lines that each end in a newline, headings first. If `width` is 0, nothing is
  /// cut.
  [[nodiscard]] std::string text(std::size_t width) const;

 private:
  struct Layout {
    std::size_t gap;
    std::vector<std::size_t> widths;
  };
  [[nodiscard]] Layout layout(std::size_t limit) const;

  std::vector<Column> columns_;
  bool close_;
  std::vector<std::vector<std::string>> rows_;
};

/// Names and values, one pair per line, to show a single message or queue. Names are the program's
/// own; values are made printable. A value longer than `width` (0: no limit) is cut; a value made
/// of several parts continues on the next line.
class Sheet {
 public:
  void add(std::string_view name, std::string_view value);
  void add_parts(std::string_view name, std::vector<std::string> parts);
  [[nodiscard]] std::string text(std::size_t width) const;

 private:
  struct Line {
    std::string name;
    std::vector<std::string> parts;
  };
  std::vector<Line> lines_;
};

}  // namespace tarry::app
