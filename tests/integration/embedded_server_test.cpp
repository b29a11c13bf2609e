// tarry::Server, through which a user can look into a program that embeds tarry.
#include <gtest/gtest.h>
#include <tarry/server.h>
#include <tarry/store.h>

#include <filesystem>

#include "support/no_threads.h"
#include "support/temp_directory.h"

namespace tarry {
namespace {

namespace fs = std::filesystem;

// Runs in a directory of its own, and leaves it at the end.
class EmbeddedServer : public ::testing::Test {
 protected:
  EmbeddedServer() { fs::current_path(directory.path()); }
  ~EmbeddedServer() override { fs::current_path(before); }

  const fs::path before = fs::current_path();
  storage::TempDirectory directory;
  Result<Store> store = tarry::open("memory:");
};

TEST_F(EmbeddedServer, StaysWhereItIsWhenTheProgramGoesElsewhere) {
  const fs::path socket = fs::path(directory.path()) / "x.sock";
  fs::create_directory("elsewhere");
  Server server(*store, "x.sock");
  ASSERT_TRUE(server.start());
  ASSERT_TRUE(fs::exists(socket));
  fs::current_path("elsewhere");
  EXPECT_EQ(server.url(), "http+unix://" + socket.string());
  EXPECT_TRUE(tarry::open(server.url()));
  server.stop();
  EXPECT_FALSE(fs::exists(socket));
  ASSERT_TRUE(server.start());
  EXPECT_TRUE(fs::exists(socket));
}

TEST_F(EmbeddedServer, NeedsAPath) {
  EXPECT_EQ(Server(*store, "").start().error().code, ErrorCode::invalid_argument);
}

TEST_F(EmbeddedServer, DoesNotStartWithoutAThread) {
  Server server(*store, "x.sock");
  {
    const test::NoThreads none;
    const auto refused = server.start();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().message;
  }
  EXPECT_FALSE(fs::exists("x.sock"));
  EXPECT_TRUE(server.start());
}

}  // namespace
}  // namespace tarry
