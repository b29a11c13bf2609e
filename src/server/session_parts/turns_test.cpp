#include "server/session_parts/turns.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

namespace tarry::session {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMost = Turns::kMost;

TEST(Turns, LetOthersInBetween) {
  asio::io_context io;
  Turns turns;
  std::vector<std::string> ran;
  asio::post(io, [&] {
    for (std::size_t i = 0; i < 3 * kMost; ++i) {
      turns.run(io.get_executor(), [&ran, i] { ran.push_back(std::to_string(i)); });
    }
    asio::post(io, [&] {
      ran.push_back("another");
      asio::post(io, [&] { ran.push_back("and another"); });
    });
  });
  io.run();
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < 3 * kMost; ++i) {
    // The first turn is the event itself. The second turn runs before tasks that were posted after
    // it.
    if (i == 2 * kMost) wanted.emplace_back("another");
    wanted.push_back(std::to_string(i));
  }
  wanted.emplace_back("and another");
  EXPECT_EQ(ran, wanted);
}

TEST(Turns, RunAtOnceWhatIsFew) {
  asio::io_context io;
  Turns turns;
  std::size_t ran = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kMost; ++i) turns.run(io.get_executor(), [&ran] { ++ran; });
    EXPECT_EQ(ran, kMost * static_cast<std::size_t>(round + 1));
    io.run();
    io.restart();
  }
}

TEST(Turns, GoOnBehindATaskThatThrows) {
  asio::io_context io;
  Turns turns;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < 2 * kMost; ++i) {
    turns.run(io.get_executor(), [&ran, i] {
      if (++ran; i == kMost) throw std::runtime_error("no");
    });
  }
  EXPECT_THROW(io.run(), std::runtime_error);
  io.run();
  EXPECT_EQ(ran, 2 * kMost);
}

}  // namespace
}  // namespace tarry::session
