#include "server/identity/tokens_file.h"

#include <sys/stat.h>

#include <fstream>

#include <gtest/gtest.h>

#include "server/identity/tokens.h"
#include "support/temp_directory.h"

namespace tarry::identity {
namespace {

using Lines = std::vector<std::string>;

const std::string kHash = "sha256:" + digest_of("s3cret");
const std::string kOther = "sha256:" + digest_of("other");

TEST(TokensFile, has_a_line_for_each_token) {
  Lines problems;
  const auto tokens = parse_tokens(
      "# name scopes queues hash end\n\n  \t\r\n"
      "scraper read * " +
          kHash +
          "\n"
          " shop\tpush,consume  shop.*,mails " +
          kOther + " 2027-01-01T00:00:00+01:00\r\n",
      "tokens", problems);
  EXPECT_EQ(problems, Lines());
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].line, 4u);
  EXPECT_EQ(tokens[0].identity.name, "scraper");
  EXPECT_EQ(tokens[0].identity.digest, digest_of("s3cret"));
  EXPECT_TRUE(tokens[0].identity.may_everywhere(Scope::read));
  EXPECT_FALSE(tokens[0].identity.ends);
  EXPECT_EQ(tokens[1].line, 5u);
  const Identity& shop = tokens[1].identity;
  EXPECT_EQ(shop.queues, (Lines{"shop.*", "mails"}));
  EXPECT_EQ(spell_scopes(shop.scopes), "push,consume");
  EXPECT_EQ(spell_token(shop),
            "shop push,consume shop.*,mails " + kOther + " 2026-12-31T23:00:00.000Z");
  EXPECT_EQ(spell_token(tokens[0].identity), "scraper read * " + kHash);
}

// One fault each, in the second line.
TEST(TokensFile, names_the_file_the_line_and_the_value_of_a_fault) {
  struct Fault {
    std::string line;
    std::string says;
  };
  const Fault faults[] = {
      {"a reed * " + kOther,
       R"(scope "reed" is not read, push, consume or admin; did you mean "read"?)"},
      {"a read,, * " + kOther, R"(scope "" is not read, push, consume or admin)"},
      {"a Read * " + kOther, R"(scope "Read" is not)"},
      {"a read a*b " + kOther, R"(pattern "a*b" may have a * at its end only)"},
      {"a read shop.*, " + kOther, "queue"},
      {"a read -x " + kOther, R"("-x")"},
      {"a read . " + kOther, R"(".")"},
      {"a read * sha256:12", "the hash, a text of 9 bytes, is not sha256: and 64 of 0-9a-f"},
      {"a read * " + digest_of("other"), "the hash, a text of 64 bytes, is not"},
      {"a read * " + kOther + " tomorrow", R"(its end: time "tomorrow")"},
      {"a read * " + kOther + " 2027-01-01T00:00:00", "its end: "},
      {"a/b read * " + kOther, R"(token name "a/b" is not 1 to 64 letters, digits, -, _ and .)"},
      {std::string(65, 'a') + " read * " + kOther, "is not 1 to 64"},
      {"token_file read * " + kOther, R"("token_file" is that of the token in server.token_file)"},
      {"first read * " + kOther, R"(the name "first" is on line 1 too)"},
      {"a read * " + kHash, R"(the token "a" has the hash of line 1)"},
      {"a read *", "3 words; a token has 4 or 5"},
      {"a", "1 word; a token has 4 or 5"},
      {"a read * " + kOther + " 2027-01-01T00:00:00Z more", "6 words; a token has 4 or 5"},
  };
  for (const Fault& fault : faults) {
    Lines problems;
    const auto tokens =
        parse_tokens("first read * " + kHash + "\n" + fault.line, "/etc/tokens", problems);
    EXPECT_EQ(tokens.size(), 1u) << fault.line;
    ASSERT_EQ(problems.size(), 1u) << fault.line;
    EXPECT_TRUE(problems[0].starts_with("/etc/tokens:2: ")) << problems[0];
    EXPECT_NE(problems[0].find(fault.says), std::string::npos) << problems[0];
    EXPECT_EQ(problems[0].find('\n'), std::string::npos);
  }
}

TEST(TokensFile, shows_nothing_that_may_be_a_secret) {
  Lines problems;
  (void)parse_tokens("a read * tarry_TheSecretItself\nb read * sha256:TheSecretItself\n", "f",
                     problems);
  ASSERT_EQ(problems.size(), 2u);
  for (const std::string& line : problems) {
    EXPECT_EQ(line.find("Secret"), std::string::npos) << line;
  }
}

TEST(TokensFile, reports_every_fault) {
  Lines problems;
  (void)parse_tokens("a\nb reed * " + kHash + "\nc read * x\n", "f", problems);
  EXPECT_EQ(problems.size(), 3u);
}

TEST(TokensFile, has_a_limit) {
  std::string text;
  for (std::size_t i = 0; i <= kMaxTokens; ++i) {
    const std::string name = "t" + std::to_string(i);
    text += name + " read * sha256:" + digest_of(name) + "\n";
  }
  Lines problems;
  EXPECT_EQ(parse_tokens(text, "f", problems).size(), kMaxTokens);
  EXPECT_EQ(problems, Lines{R"(f:1001: the token "t1000" is one more than the limit of 1000)"});
}

TEST(TokensFile, tells_of_tokens_that_have_ended) {
  Lines problems;
  const auto tokens = parse_tokens(
      "a read * " + kHash + " 2027-01-15T08:00:00Z\n" + "b read * " + kOther + "\n", "f", problems);
  constexpr Time kEnd{Millis(1'800'000'000'000)};
  EXPECT_EQ(ended_tokens(tokens, "f", kEnd - Millis(1)), Lines());
  EXPECT_EQ(ended_tokens(tokens, "f", kEnd),
            Lines{R"(f:1: the token "a" ended at 2027-01-15T08:00:00.000Z)"});
}

TEST(TokensFile, must_be_its_owners_alone) {
  const storage::TempDirectory directory;
  const std::string path = directory.path() + "/tokens";
  std::ofstream(path) << "text\n";
  const auto read = [&](mode_t mode) {
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    const auto text = read_tokens_file(path);
    return text ? *text : text.error().message;
  };
  EXPECT_EQ(read(0600), "text\n");
  EXPECT_EQ(read(0640), "text\n");
  EXPECT_EQ(read(0644), "tokens file \"" + path +
                            "\" can be read by every user of this machine: chmod o-r " + path);
  EXPECT_EQ(read(0660),
            "tokens file \"" + path + "\" can be written by other users: chmod go-w " + path);
  EXPECT_NE(read_tokens_file(directory.path()).error().message.find("not a regular file"),
            std::string::npos);
  EXPECT_NE(read_tokens_file(path + "x").error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace tarry::identity
