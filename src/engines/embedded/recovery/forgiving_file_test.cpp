#include "engines/embedded/recovery/forgiving_file.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kSize = 20'000;

/// A file in which each byte tells its offset. The byte at `bad` cannot be read.
class Scratched final : public storage::File {
 public:
  Scratched(std::uint64_t bad, ErrorCode code) : bad_(bad), code_(code) {}

  static char at(std::uint64_t offset) { return static_cast<char>(1 + offset % 251); }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
    const std::uint64_t left = offset < kSize ? kSize - offset : 0;
    const std::uint64_t size = std::min<std::uint64_t>(into.size(), left);
    if (bad_ >= offset && bad_ < offset + size) return Unexpected(code_, "bad sector");
    for (std::uint64_t i = 0; i < size; ++i) into[i] = at(offset + i);
    return static_cast<std::size_t>(size);
  }
  Result<std::uint64_t> size() const override { return kSize; }
  void will_need(std::uint64_t /*offset*/, std::uint64_t /*length*/) const override {}
  Result<void> write_at(std::uint64_t /*offset*/, std::string_view /*bytes*/) override {
    return {};
  }
  Result<void> write_at(std::uint64_t /*offset*/,
                        std::span<const std::string_view> /*pieces*/) override {
    return {};
  }
  Result<void> sync_data() override { return {}; }
  Result<void> allocate(std::uint64_t /*size*/) override { return {}; }
  Result<void> truncate(std::uint64_t /*size*/) override { return {}; }

 private:
  std::uint64_t bad_;
  ErrorCode code_;
};

ForgivingFile scratched(std::uint64_t bad, ErrorCode code = ErrorCode::io_error) {
  return ForgivingFile(std::make_unique<Scratched>(bad, code));
}

TEST(ForgivingFile, ReadsZerosWhereTheDiskCannotAndAllAroundIt) {
  for (const std::uint64_t bad : {0ull, 4095ull, 4096ull, 10'000ull, 19'999ull}) {
    const ForgivingFile file = scratched(bad);
    for (const std::uint64_t from : {0ull, 100ull, 4096ull, 9'000ull, 19'000ull}) {
      SCOPED_TRACE(std::to_string(bad) + " from " + std::to_string(from));
      std::string bytes(kSize, 'x');
      const auto got = file.read_at(from, bytes);
      ASSERT_TRUE(got);
      ASSERT_EQ(*got, kSize - from);
      for (std::uint64_t i = 0; i < *got; ++i) {
        const bool lost = (from + i) / 4096 == bad / 4096 && bad >= from;
        ASSERT_EQ(bytes[i], lost ? '\0' : Scratched::at(from + i)) << i;
      }
    }
  }
}

TEST(ForgivingFile, ForgivesNothingElse) {
  std::string bytes(10, 'x');
  EXPECT_EQ(scratched(0, ErrorCode::permission_denied).read_at(0, bytes).error().code,
            ErrorCode::permission_denied);
  ForgivingFile file = scratched(0);
  EXPECT_EQ(file.write_at(0, "x").error().code, ErrorCode::misuse);
  EXPECT_EQ(file.truncate(0).error().code, ErrorCode::misuse);
  EXPECT_EQ(file.size().value(), kSize);
}

}  // namespace
}  // namespace tarry::embedded
