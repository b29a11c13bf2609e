#include "server/audit/file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "support/temp_directory.h"

namespace tarry::audit {
namespace {

struct AuditFile : ::testing::Test {
  [[nodiscard]] std::string path() const { return directory.path() + "/audit.jsonl"; }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  storage::TempDirectory directory;
};

TEST_F(AuditFile, it_is_made_for_its_owner_alone_and_appended_to) {
  for (const char* line : {"a\n", "b\n"}) {
    auto file = File::open("--audit-log", path());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_TRUE((*file)->append(line));
  }
  EXPECT_EQ(text(), "a\nb\n");
  struct stat status{};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(AuditFile, a_line_that_a_crash_has_cut_off_does_not_spoil_the_next) {
  std::ofstream(path()) << "a\n{\"cut";
  auto file = File::open("--audit-log", path());
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->append("b\n"));
  EXPECT_TRUE((*file)->append("c\n"));
  EXPECT_EQ(text(), "a\n{\"cut\nb\nc\n");
}

TEST_F(AuditFile, a_full_disk_is_told_and_lines_after_it_are_whole) {
  auto file = File::open("--audit-log", path());
  ASSERT_TRUE(file);
  // A limit of the file's size cuts a write as a full disk does.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{3, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto full = (*file)->append("0123456789\n");
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::no_space);
  EXPECT_TRUE((*file)->append("after\n"));
  EXPECT_EQ(text(), "012\nafter\n");
}

TEST_F(AuditFile, what_cannot_be_a_log_is_refused) {
  const auto refusal = [](const std::string& path) {
    const auto file = File::open("--audit-log", path);
    return file ? std::string() : file.error().message;
  };
  EXPECT_EQ(refusal(directory.path()), "--audit-log \"" + directory.path() + "\": Is a directory");
  EXPECT_NE(refusal(directory.path() + "/none/audit").find("No such file"), std::string::npos);
  EXPECT_NE(refusal("/dev/null").find("it is not a regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_NE(refusal(path()).find("it is not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace tarry::audit
