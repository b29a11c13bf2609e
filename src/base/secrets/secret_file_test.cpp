#include "base/secrets/secret_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temp_directory.h"

namespace tarry::base {
namespace {

namespace fs = std::filesystem;

class SecretFile : public testing::Test {
 protected:
  std::string write(const std::string& text, mode_t mode = 0600) const {
    const std::string path = directory_ / "secret";
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static std::string refusal(const std::string& path) {
    const auto read = read_secret("token_file", path);
    if (read) return "taken";
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(read.error().message.rfind("token_file \"" + path + "\"", 0), 0u);
    return read.error().message;
  }

  storage::TempDirectory temporary_;
  const fs::path directory_ = temporary_.path();
};

TEST_F(SecretFile, IsTheFirstLine) {
  for (const char* text : {"sesame", "sesame\n", "sesame\r\n", "sesame\nmore\n"}) {
    EXPECT_EQ(read_secret("", write(text)).value(), "sesame") << text;
  }
  const std::string longest(kMaxSecretLine, 'x');
  EXPECT_EQ(read_secret("", write(longest)).value(), longest);
  EXPECT_EQ(read_secret("", write(longest + "\n")).value(), longest);
  EXPECT_EQ(read_secret("", write(longest + "\r\n")).value(), longest);
}

TEST_F(SecretFile, HasToBeALine) {
  for (const char* text : {"", "\n", "\r\n", "\nsesame\n"}) {
    EXPECT_NE(refusal(write(text)).find("first line is empty"), std::string::npos) << text;
  }
  for (const std::size_t size : {kMaxSecretLine + 1, kMaxSecretLine * 3}) {
    EXPECT_NE(refusal(write(std::string(size, 'x'))).find("over 4096 bytes"), std::string::npos);
  }
}

TEST_F(SecretFile, MayBeWrittenByItsOwnerAlone) {
  for (const mode_t mode : {0600U, 0640U, 0644U, 0444U, 0400U}) {
    EXPECT_EQ(refusal(write("sesame", mode)), "taken") << std::oct << mode;
  }
  for (const mode_t mode : {0666U, 0622U, 0660U, 0602U}) {
    EXPECT_NE(refusal(write("sesame", mode)).find("chmod go-w"), std::string::npos)
        << std::oct << mode;
  }
  EXPECT_TRUE(is_readable_by_all(write("sesame", 0604)));
  EXPECT_FALSE(is_readable_by_all(write("sesame", 0640)));
}

TEST_F(SecretFile, HasToBeARegularFile) {
  const std::string fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, std::string("/dev/zero"), directory_.string()}) {
    EXPECT_NE(refusal(path).find("not a regular file"), std::string::npos) << path;
  }
  EXPECT_NE(refusal(directory_ / "none").find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace tarry::base
