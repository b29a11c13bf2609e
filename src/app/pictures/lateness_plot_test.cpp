#include "app/pictures/lateness_plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace tarry::app {
namespace {

// A load of about a thousand messages: 989 are `most` microseconds late, nine are `some`, two are
// `few`.
LatenessAtLoad run(double load, std::int64_t most, std::int64_t some, std::int64_t few) {
  LatenessAtLoad at;
  at.asked = load;
  at.lateness.record(most, 989);
  at.lateness.record(some, 9);
  at.lateness.record(few, 2);
  return at;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(LatenessText, DrawsEachLoadOnOneAxis) {
  const auto lines = lines_of(lateness_text({run(1000, 100, 1000, 10'000)}, 56));
  ASSERT_EQ(lines.size(), 2u);
  // 41 columns for 0.01 ms to 10 ms: 0.1 ms is the 13th, 1 ms the 27th, 10 ms the 40th.
  const std::string label = "       1,000/s ";
  EXPECT_EQ(lines[0],
            label + std::string(13, ' ') + "|" + std::string(14, '-') + std::string(13, '.'));
  EXPECT_EQ(lines[1].find("0.01ms"), label.size());
  EXPECT_EQ(lines[1].find(" 0.1ms"), label.size() + 12);
  EXPECT_EQ(lines[1].find(" 1ms"), label.size() + 26);
}

TEST(LatenessText, TheAxisGrowsWithWhatIsThere) {
  const std::string text = lateness_text({run(10, 2, 5, 9), run(1e6, 90'000, 2e6, 8e6)}, 100);
  EXPECT_NE(text.find("0.001ms"), std::string::npos) << text;
  EXPECT_NE(text.find("10s"), std::string::npos) << text;
  EXPECT_NE(text.find("1,000,000/s"), std::string::npos) << text;
}

TEST(LatenessText, FitsItsWidth) {
  for (std::size_t width = 0; width < 200; ++width) {
    for (const std::string& line :
         lines_of(lateness_text({run(1, 0, 0, 0), run(123'456, 40, 1e9, 1e12)}, width))) {
      EXPECT_LE(line.size(), width == 0 ? 80 : std::max<std::size_t>(width, 40));
    }
  }
}

TEST(LatenessSvg, HasALineForEachPercentile) {
  const std::string svg =
      lateness_svg({run(100, 50, 60, 70), run(1000, 80, 90, 5000)}, "a <b> & \"c\"\n");
  EXPECT_NE(svg.find("a &lt;b&gt; &amp; &quot;c&quot; <"), std::string::npos) << svg;
  std::size_t lines = 0;
  for (std::size_t at = svg.find("<polyline"); at != std::string::npos;
       at = svg.find("<polyline", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 3u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(lateness_svg({run(5, 1, 1, 1)}, "").find("nan"), std::string::npos);
}

TEST(LatenessWords, HaveTheUnitThatReadsBest) {
  EXPECT_EQ(lateness_words(430), "0.43 ms");
  EXPECT_EQ(lateness_words(12'400), "12 ms");
  EXPECT_EQ(lateness_words(34e6), "34.0 s");
}

}  // namespace
}  // namespace tarry::app
