#include "server/metrics/metrics.h"

#include <string>

#include <gtest/gtest.h>

namespace tarry::metrics {
namespace {

constexpr Time kNow{Millis(1'767'225'600'000)};

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, AnswersAreCountedByRouteAndStatus) {
  Meter meter;
  FrontMeter& http = meter.front("http");
  http.answered("/v1/claim", 200);
  http.answered("/v1/claim", 200);
  http.answered("/v1/claim", 400);
  http.connected();
  const std::string text = metrics_text({}, meter, 0, kNow, "1");
  EXPECT_TRUE(has_line(text, R"(tarry_http_requests_total{route="/v1/claim",code="200"} 2)"));
  EXPECT_TRUE(has_line(text, R"(tarry_http_requests_total{route="/v1/claim",code="400"} 1)"));
  EXPECT_TRUE(has_line(text, "tarry_http_connections 1"));
}

TEST(Metrics, EachFrontCountsItsOwnClients) {
  Meter meter;
  meter.front("http").answered("/v1/claim", 200);
  meter.front("line").answered("claim", 200);
  meter.front("line").answered("claim", 200);
  meter.front("line").connected();
  const std::string text = metrics_text({}, meter, 0, kNow, "1");
  EXPECT_TRUE(has_line(text, R"(tarry_http_requests_total{route="/v1/claim",code="200"} 1)"));
  EXPECT_TRUE(has_line(text, "tarry_http_connections 0"));
  EXPECT_TRUE(has_line(text, R"(tarry_line_requests_total{route="claim",code="200"} 2)"));
  EXPECT_TRUE(has_line(text, "tarry_line_connections 1"));
}

TEST(Metrics, TellOfTheStoreToo) {
  Meter meter;
  StoreStats stats;
  stats.engine = "embedded";
  const std::string text = metrics_text(stats, meter, 0, kNow, "1.2.3");
  EXPECT_TRUE(has_line(text, R"(tarry_build_info{version="1.2.3",engine="embedded"} 1)"));
}

}  // namespace
}  // namespace tarry::metrics
