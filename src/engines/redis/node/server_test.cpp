#include "engines/redis/node/server.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "engines/redis/node/scripts.h"

namespace tarry::redis {
namespace {

/// The first words of the errors that scripts answer: error_reply('WORD ...'), and
/// error_reply(format('WORD ...')).
std::set<std::string> words_of_scripts() {
  constexpr std::string_view kReply = "error_reply(";
  constexpr std::string_view kFormat = "format(";
  std::set<std::string> words;
  for (std::size_t i = 0; i < kScripts; ++i) {
    const std::string text = text_of(static_cast<Script>(i), net::RedisChannels::plain);
    std::string_view left = text;
    for (std::size_t at = left.find(kReply); at != std::string_view::npos; at = left.find(kReply)) {
      left.remove_prefix(at + kReply.size());
      if (left.starts_with(kFormat)) left.remove_prefix(kFormat.size());
      if (!left.starts_with("'")) continue;  // Redis's own error, which the script hands on
      left.remove_prefix(1);
      words.emplace(left.substr(0, left.find_first_of(" '")));
    }
  }
  return words;
}

TEST(ServerErrors, EveryWordOfTheScriptsIsKnown) {
  const std::set<std::string> words = words_of_scripts();
  EXPECT_TRUE(words.contains("BACKOFF"));
  EXPECT_TRUE(words.contains("STALE"));
  for (const std::string& word : words) {
    if (word == "ERR") continue;
    const Error error = error_of_reply("127.0.0.1:6379", word + " of a script", "configure");
    EXPECT_NE(error.code, ErrorCode::io_error) << word << ": " << error.message;
  }
}

TEST(ServerErrors, TwoBackoffsGivenAtOnceAreAConflict) {
  const Error error = error_of_reply("127.0.0.1:6379", "BACKOFF 7200000 3600000", "configure");
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_NE(error.message.find("7200000 3600000"), std::string::npos) << error.message;
}

// The sentences of Redis 7.0.15 and of 8.0.2.
TEST(ServerErrors, ACommandThatAScriptMayNotRunIsAMissingPermission) {
  for (const std::string_view said :
       {"ERR The user executing the script can't run this command or subcommand script: 4f1a",
        "ERR ACL failure in script: User tarry has no permissions to run the 'hmget' command"}) {
    EXPECT_EQ(error_of_reply("127.0.0.1:6379", said, "stats").code, ErrorCode::permission_denied)
        << said;
  }
}

}  // namespace
}  // namespace tarry::redis
