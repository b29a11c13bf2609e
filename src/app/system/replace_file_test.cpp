#include "app/system/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "support/temp_directory.h"

namespace tarry::app {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ReplaceFile : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return directory_ / name; }

  storage::TempDirectory temporary_;
  const fs::path directory_ = temporary_.path();
};

TEST_F(ReplaceFile, AbsentAndRegularFilesAreReplacedWhole) {
  const fs::path path = at("port");
  ASSERT_TRUE(replace_file(path, "1\n"));
  EXPECT_EQ(text_of(path), "1\n");
  fs::create_hard_link(path, at("before"));
  ASSERT_TRUE(replace_file(path, "22\n"));
  EXPECT_EQ(text_of(path), "22\n");
  EXPECT_EQ(text_of(at("before")), "1\n");  // the name now belongs to another file
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 2);
}

TEST_F(ReplaceFile, AFifoIsWrittenToAndStaysOne) {
  const fs::path path = at("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(check_replaceable(path));
  const auto unread = replace_file(path, "1\n");
  ASSERT_FALSE(unread);
  EXPECT_NE(unread.error().message.find("no process has it open to read"), std::string::npos);
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(replace_file(path, "1\n"));
  std::array<char, 8> got{};
  EXPECT_EQ(::read(fd, got.data(), got.size()), 2);
  EXPECT_STREQ(got.data(), "1\n");
  ::close(fd);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(ReplaceFile, ADeviceIsWrittenToAndItsErrorIsTold) {
  // Uses links: run as root, the test must not put the machine's devices at risk.
  fs::create_symlink("/dev/full", at("full"));
  fs::create_symlink("/dev/null", at("null"));
  EXPECT_TRUE(replace_file(at("null"), "1\n"));
  const auto full = replace_file(at("full"), "1\n");
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("No space left"), std::string::npos);
  EXPECT_TRUE(fs::is_symlink(at("full")));
  EXPECT_TRUE(fs::is_symlink(at("null")));
}

TEST_F(ReplaceFile, LinksToFilesAndDirectoriesAreRefused) {
  std::ofstream(at("file")) << "mine";
  fs::create_symlink(at("file"), at("link"));
  fs::create_symlink(at("nowhere"), at("dangling"));
  for (const char* name : {"link", "dangling", "."}) {
    const auto done = replace_file(at(name), "1\n");
    ASSERT_FALSE(done) << name;
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument) << name;
    EXPECT_FALSE(check_replaceable(at(name))) << name;
  }
  EXPECT_EQ(text_of(at("file")), "mine");
  EXPECT_FALSE(fs::exists(at("nowhere")));
}

TEST_F(ReplaceFile, ADraftThatSomebodyHasPutThereIsNotFollowed) {
  std::ofstream(at("victim")) << "mine";
  fs::create_symlink(at("victim"), at("port." + std::to_string(::getpid())));
  EXPECT_TRUE(replace_file(at("port"), "1\n"));
  EXPECT_EQ(text_of(at("victim")), "mine");
  EXPECT_EQ(text_of(at("port")), "1\n");
  EXPECT_FALSE(fs::is_symlink(at("port")));
}

}  // namespace
}  // namespace tarry::app
