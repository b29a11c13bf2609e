#include "app/output/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/output/printable.h"
#include "base/assert.h"

namespace tarry::app {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kCloseGap = 1;
constexpr std::size_t kNarrowest = 6;  // with this width a cut cell still shows a few characters

}  // namespace

Table::Table(std::vector<Column> columns, bool close)
    : columns_(std::move(columns)), close_(close) {}

void Table::add(const std::vector<std::string_view>& cells) {
  TARRY_ASSERT(cells.size() == columns_.size());
  auto& row = rows_.emplace_back();
  row.reserve(cells.size());
  for (const std::string_view cell : cells) row.push_back(printable(cell));
}

Table::Layout Table::layout(std::size_t limit) const {
  Layout layout{kGap, {}};
  std::vector<std::size_t>& widths = layout.widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = app::columns(columns_[i].heading);
    for (const auto& row : rows_) width = std::max(width, app::columns(row[i]));
    widths.push_back(width);
  }
  if (limit == 0) return layout;
  const std::size_t gaps = columns_.size() - 1;
  std::size_t sum = std::accumulate(widths.begin(), widths.end(), kGap * gaps);
  if (close_ && sum > limit) {
    layout.gap = kCloseGap;
    sum -= (kGap - kCloseGap) * gaps;
  }
  while (sum > limit) {
    // The widest column is cut first, down to the width of the next widest, and so on.
    std::size_t widest = columns_.size();
    std::size_t next = kNarrowest;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].shrinks || widths[i] <= kNarrowest) continue;
      if (widest == columns_.size() || widths[i] > widths[widest]) {
        if (widest != columns_.size()) next = widths[widest];
        widest = i;
      } else {
        next = std::max(next, widths[i]);
      }
    }
    if (widest == columns_.size()) break;
    const std::size_t step = std::max<std::size_t>(1, widths[widest] - next);
    const std::size_t taken = std::min({sum - limit, step, widths[widest] - kNarrowest});
    widths[widest] -= taken;
    sum -= taken;
  }
  return layout;
}

std::string Table::text(std::size_t width) const {
  const auto [gap, widths] = layout(width);
  const bool whole =
      std::ranges::any_of(columns_, [](const Column& column) { return column.whole; });
  std::string out;
  const auto put = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = clipped(cell_of(i), widths[i]);
      const std::string padding(widths[i] - app::columns(cell), ' ');
      if (i > 0) line.append(gap, ' ');
      line += columns_[i].right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (width == 0 || whole ? line : clipped(line, width)) + "\n";
  };
  put([&](std::size_t i) -> const std::string& { return columns_[i].heading; });
  for (const auto& row : rows_) put([&](std::size_t i) -> const std::string& { return row[i]; });
  return out;
}

void Sheet::add(std::string_view name, std::string_view value) {
  lines_.push_back({std::string(name), {printable(value)}});
}

void Sheet::add_parts(std::string_view name, std::vector<std::string> parts) {
  lines_.push_back({std::string(name), std::move(parts)});
}

std::string Sheet::text(std::size_t width) const {
  std::size_t names = 0;
  for (const Line& line : lines_) names = std::max(names, app::columns(line.name));
  std::string out;
  const auto put = [&](std::string_view text) {
    out += (width == 0 ? std::string(text) : clipped(text, width)) + "\n";
  };
  for (const Line& line : lines_) {
    std::string text = line.name;
    text.append(names - app::columns(line.name) + kGap, ' ');
    for (std::size_t i = 0; i < line.parts.size(); ++i) {
      const std::string part = line.parts[i] + (i + 1 < line.parts.size() ? "," : "");
      const bool fits = width == 0 || app::columns(text) + 1 + app::columns(part) <= width;
      if (i > 0 && !fits) {
        put(text);
        text.assign(names + kGap, ' ');
      } else if (i > 0) {
        text += ' ';
      }
      text += part;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    put(text);
  }
  return out;
}

}  // namespace tarry::app
