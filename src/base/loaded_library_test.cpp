#include "base/loaded_library.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace tarry::base {
namespace {

TEST(LoadedLibrary, OneThatIsLinkedNeedsNothing) { EXPECT_TRUE(load(LoadedLibrary{})); }

TEST(LoadedLibrary, FillsThePlacesOfItsFunctionsAndData) {
  void* length = nullptr;
  int signgam = -1;
  const std::array symbols{LoadedSymbol{"lgamma", &length, 0},
                           LoadedSymbol{"signgam", &signgam, sizeof(signgam)}};
  const LoadedLibrary library{"libm.so.6", "libc6", symbols};
  ASSERT_TRUE(load(library));
  ASSERT_NE(length, nullptr);
  EXPECT_EQ(signgam, 0);
  EXPECT_NEAR(reinterpret_cast<double (*)(double)>(length)(3.0), 0.693147, 1e-6);
  signgam = 7;
  EXPECT_TRUE(load(library));
  EXPECT_EQ(signgam, 7) << "it was loaded again";
}

TEST(LoadedLibrary, OneThatIsMissingNamesItsPackage) {
  void* place = nullptr;
  const std::array symbols{LoadedSymbol{"f", &place, 0}};
  const auto loaded = load({"libtarry-none.so.1", "none1 (Debian)", symbols});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::unsupported);
  const std::string_view says = loaded.error().message;
  EXPECT_NE(says.find("libtarry-none.so.1, of the package none1 (Debian): "), says.npos) << says;
}

TEST(LoadedLibrary, OneThatIsTooOldFillsNothing) {
  void* length = nullptr;
  void* other = nullptr;
  const std::array symbols{LoadedSymbol{"lgamma", &length, 0},
                           LoadedSymbol{"tarry_no_such_function", &other, 0}};
  const auto loaded = load({"libm.so.6", "libc6", symbols});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message,
            "needs a newer libm.so.6: this one has no tarry_no_such_function");
  EXPECT_EQ(length, nullptr);
}

}  // namespace
}  // namespace tarry::base
