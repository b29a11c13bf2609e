#include "app/config/section.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/config/queue_section.h"

namespace tarry::app::config {
namespace {

using Lines = std::vector<std::string>;

struct SectionFile {
  explicit SectionFile(const std::string& text) : root(parse_toml(text, "f.toml")) {}

  Section whole() { return Section(*root, "", problems); }

  Result<Node> root;
  Problems problems{"f.toml"};
};

TEST(Section, ReadsEveryKind) {
  SectionFile file(
      "[a]\nt = 'x'\nc = 'two'\nb = true\nn = 7\ns = '64MiB'\nz = 512\nd = '1h30m'\nl = ['p', "
      "'q']\n"
      "[[relay]]\nto = 'one'\n[[relay]]\nto = 'two'\n[queue.'o.*']\nx = 1\n[queue.b]\n");
  ASSERT_TRUE(file.root);
  Section whole = file.whole();
  auto a = whole.section("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->text("t"), "x");
  EXPECT_EQ(a->choice("c", {"one", "two"}), "two");
  EXPECT_EQ(a->boolean("b"), true);
  EXPECT_EQ(a->count("n", 7, 7), 7u);
  EXPECT_EQ(a->size("s", 0, 1ull << 40), 64ull << 20);
  EXPECT_EQ(a->size("z", 512, 512), 512u);
  EXPECT_EQ(a->duration("d", Millis(0), Millis(5'400'000)), Millis(5'400'000));
  EXPECT_EQ(a->texts("l"), (Lines{"p", "q"}));
  EXPECT_FALSE(a->text("absent"));
  EXPECT_EQ(a->line_of("d"), 8u);
  a->finish();
  auto relays = whole.sections("relay");
  ASSERT_EQ(relays.size(), 2u);
  EXPECT_EQ(relays[1].text("to"), "two");
  EXPECT_EQ(relays[1].line(), 12u);
  auto queues = whole.named_sections("queue");
  ASSERT_EQ(queues.size(), 2u);
  EXPECT_EQ(queues[0].first, "o.*");
  EXPECT_EQ(queues[0].second.path(), "queue.\"o.*\"");
  whole.finish();
  EXPECT_TRUE(file.problems.none());
}

// The problems of one key, read by `read`.
template <typename Read>
Lines problems_of(const std::string& line, Read read) {
  SectionFile file("[s]\n" + line + "\n");
  EXPECT_TRUE(file.root);
  Section whole = file.whole();
  auto section = whole.section("s");
  EXPECT_TRUE(section);
  EXPECT_FALSE(read(*section));
  section->finish();
  return file.problems.lines();
}

TEST(Section, NamesKeyValueLimitAndLineOfWhatIsWrong) {
  const auto count = [](Section& s) { return s.count("k", 1, 10); };
  EXPECT_EQ(problems_of("k = 11", count), Lines{"f.toml:2: s.k: 11 is not from 1 to 10"});
  EXPECT_EQ(problems_of("k = -1", count), Lines{"f.toml:2: s.k: -1 is not from 1 to 10"});
  EXPECT_EQ(problems_of("k = '5'", count),
            Lines{"f.toml:2: s.k must be a whole number, not a text"});
  EXPECT_EQ(problems_of("k = 5.0", count),
            Lines{"f.toml:2: s.k must be a whole number, not a number with a fraction"});
  const auto size = [](Section& s) { return s.size("k", 1024, 2048); };
  EXPECT_EQ(problems_of("k = '1MiB'", size),
            Lines{"f.toml:2: s.k: 1MiB is not from 1024 to 2048 bytes"});
  EXPECT_EQ(problems_of("k = -5", size).size(), 1u);
  EXPECT_EQ(problems_of("k = true", size),
            Lines{"f.toml:2: s.k must be a size as \"64MiB\", or bytes, not true or false"});
  const auto span = [](Section& s) { return s.duration("k", Millis(1000), Millis(60'000)); };
  EXPECT_EQ(problems_of("k = '2m'", span), Lines{"f.toml:2: s.k: \"2m\" is not from 1s to 1m"});
  EXPECT_EQ(problems_of("k = 5", span),
            Lines{"f.toml:2: s.k must be a text, a duration as \"30s\", not a whole number"});
  EXPECT_EQ(problems_of("k = ''", [](Section& s) { return s.text("k"); }),
            Lines{"f.toml:2: s.k: must not be empty"});
  EXPECT_EQ(problems_of("k = 'tow'", [](Section& s) { return s.choice("k", {"one", "two"}); }),
            Lines{"f.toml:2: s.k: \"tow\" is none of one, two; did you mean \"two\"?"});
  EXPECT_EQ(problems_of("k = [1]", [](Section& s) { return s.texts("k"); }),
            Lines{"f.toml:2: s.k must be a list of texts, and holds a whole number"});
  EXPECT_EQ(problems_of("k = 2026-11-23", [](Section& s) { return s.boolean("k"); }),
            Lines{"f.toml:2: s.k must be true or false, not a date or time"});
  EXPECT_EQ(problems_of("k = [1]", [](Section& s) { return !s.sections("k").empty(); }),
            Lines{"f.toml:2: s.k must be a list of sections, [[s.k]], and holds a whole number"});
  EXPECT_EQ(problems_of("k = 1", [](Section& s) { return s.section("k").has_value(); }),
            Lines{"f.toml:2: s.k must be a section, not a whole number"});
}

TEST(Section, RefusesWhatNobodyKnowsAndNamesTheNearest) {
  SectionFile file("lisen = 1\n[server]\nmax_bdy = 2\nzzzzzz = 3\n");
  Section whole = file.whole();
  auto server = whole.section("server");
  ASSERT_TRUE(server);
  EXPECT_FALSE(server->text("listen"));
  EXPECT_FALSE(server->text("max_body"));
  server->finish();
  whole.finish();
  EXPECT_EQ(file.problems.lines(),
            (Lines{"f.toml:1: unknown key \"lisen\"; known are server",
                   "f.toml:3: unknown key \"max_bdy\" in [server]; did you mean \"max_body\"?",
                   "f.toml:4: unknown key \"zzzzzz\" in [server]; known are listen, max_body"}));
}

TEST(Section, AFileThatIsNoTomlIsNamedWithItsLine) {
  for (const char* text : {"a = 1\nb = [\n", "a = 1\n[x\n", "a = 1\na = 2\n", "a = 1\nb = '\xff'\n",
                           "a = 1\n\"b\" 'c'\n"}) {
    const auto root = parse_toml(text, "f.toml");
    ASSERT_FALSE(root) << text;
    EXPECT_TRUE(root.error().message.starts_with("f.toml:2: ") ||
                root.error().message.starts_with("f.toml:3: "))
        << root.error().message;
    EXPECT_EQ(root.error().message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(parse_toml("a = " + std::string(100'000, '['), "f.toml"));
}

TEST(QueueSection, LongerPatternsWinKeyByKey) {
  SectionFile file(
      "[queue.\"*\"]\nlease = '1m'\nmax_attempts = 2\n[queue.\"orders.eu\"]\nmax_attempts = 4\n"
      "[queue.\"orders.*\"]\nmax_attempts = 3\nif_exists = 'keep'\n");
  Section whole = file.whole();
  const auto rules = read_queue_rules(whole);
  whole.finish();
  EXPECT_EQ(file.problems.lines(), Lines());
  const auto eu = rules.patch_of("orders.eu");
  ASSERT_TRUE(eu);
  EXPECT_EQ(eu->lease, Millis(60'000));
  EXPECT_EQ(eu->max_attempts, 4u);
  EXPECT_EQ(eu->if_exists, IfExists::keep);
  EXPECT_EQ(rules.patch_of("orders.us")->max_attempts, 3u);
  EXPECT_EQ(rules.patch_of("orders")->max_attempts, 2u);
  EXPECT_EQ(rules.rules().front().pattern, "*");
  EXPECT_EQ(rules.rules().back().pattern, "orders.eu");
}

TEST(QueueSection, NothingIsSaidOfQueuesThatNoPatternMatches) {
  SectionFile file("[queue.\"a.*\"]\nlease = '1m'\n[queue.\"b\"]\nlease = '2m'\n");
  Section whole = file.whole();
  const auto rules = read_queue_rules(whole);
  EXPECT_FALSE(rules.patch_of("a"));
  EXPECT_TRUE(rules.patch_of("a."));
  EXPECT_FALSE(rules.patch_of("bb"));
  EXPECT_FALSE(presets::QueueRules().patch_of("a."));
}

TEST(QueueSection, RefusesPatternsThatMatchNothingAndSettingsThatContradict) {
  SectionFile file(
      "[queue.\"a*b\"]\n[queue.\"-x\"]\n[queue.\"*\"]\nbackoff_min = '5m'\n"
      "[queue.\"q\"]\nbackoff_max = '1m'\n");
  Section whole = file.whole();
  (void)read_queue_rules(whole);
  const Lines lines = file.problems.lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "f.toml:1: queue.\"a*b\": pattern \"a*b\" may have a * at its end only");
  EXPECT_NE(lines[1].find("f.toml:2: queue.-x: queue name \"-x\" must be"), std::string::npos)
      << lines[1];
  EXPECT_EQ(lines[2],
            "f.toml:5: queue.q: backoff_min 5m must not be over backoff_max, which is 1m");
}

}  // namespace
}  // namespace tarry::app::config
