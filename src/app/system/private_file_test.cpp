#include "app/system/private_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "support/temp_directory.h"

namespace tarry::app {
namespace {

class PrivateFile : public ::testing::Test {
 protected:
  Result<void> append(const std::string& text) {
    return change_private_file(
        path_, 100, [&](std::string before) -> Result<std::string> { return before + text; });
  }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] mode_t mode() const {
    struct stat status{};
    EXPECT_EQ(::stat(path_.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  /// Files in the directory: a draft would be one more.
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(directory_.path()), {});
  }

  storage::TempDirectory directory_;
  std::string path_ = directory_.path() + "/file";
};

TEST_F(PrivateFile, is_made_for_its_owner_alone) {
  const mode_t before = ::umask(0);
  EXPECT_TRUE(append("a\n"));
  ::umask(before);
  EXPECT_EQ(text(), "a\n");
  EXPECT_EQ(mode(), 0600u);
  EXPECT_EQ(files(), 1);
}

TEST_F(PrivateFile, keeps_its_mode_when_it_is_changed) {
  ASSERT_TRUE(append("a\n"));
  std::filesystem::permissions(path_, std::filesystem::perms(0640));
  EXPECT_TRUE(append("b\n"));
  EXPECT_EQ(text(), "a\nb\n");
  EXPECT_EQ(mode(), 0640u);
  EXPECT_EQ(files(), 1);
}

TEST_F(PrivateFile, stays_as_it_was_after_an_error) {
  ASSERT_TRUE(append("a\n"));
  const auto refused = change_private_file(path_, 100, [](const std::string&) {
    return Result<std::string>(Error(ErrorCode::conflict, "no"));
  });
  EXPECT_EQ(refused.error().message, "no");
  EXPECT_EQ(text(), "a\n");
  ASSERT_TRUE(append(std::string(99, 'x')));
  EXPECT_EQ(append("more").error().code, ErrorCode::invalid_argument);  // 101 bytes already
  EXPECT_EQ(files(), 1);
}

TEST_F(PrivateFile, is_a_regular_file) {
  std::filesystem::create_symlink("/nowhere", path_);
  EXPECT_NE(append("a").error().message.find("it is a link"), std::string::npos);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_EQ(append("a").error().code, ErrorCode::invalid_argument);
  path_ = directory_.path() + "/none/file";
  EXPECT_EQ(append("a").error().code, ErrorCode::io_error);
}

}  // namespace
}  // namespace tarry::app
