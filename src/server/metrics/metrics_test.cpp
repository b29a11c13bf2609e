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
  const std::string text = metrics_text({}, meter, {}, 0, kNow, "1");
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
  const std::string text = metrics_text({}, meter, {}, 0, kNow, "1");
  EXPECT_TRUE(has_line(text, R"(tarry_http_requests_total{route="/v1/claim",code="200"} 1)"));
  EXPECT_TRUE(has_line(text, "tarry_http_connections 0"));
  EXPECT_TRUE(has_line(text, R"(tarry_line_requests_total{route="claim",code="200"} 2)"));
  EXPECT_TRUE(has_line(text, "tarry_line_connections 1"));
}

TEST(Metrics, TellOfTheStoreToo) {
  Meter meter;
  StoreStats stats;
  stats.engine = "embedded";
  const std::string text = metrics_text(stats, meter, {}, 0, kNow, "1.2.3");
  EXPECT_TRUE(has_line(text, R"(tarry_build_info{version="1.2.3",engine="embedded"} 1)"));
}

TEST(Metrics, TellOfSchedulesToThoseWhoMaySeeAll) {
  Meter meter;
  const ScheduleFigures schedules{false, 5, 1, 2, 3};
  const std::string text = metrics_text({}, meter, {}, 0, kNow, "1", {}, {}, &schedules);
  for (const char* line :
       {"tarry_schedule_up 0", "tarry_schedule_pushed_total 5", "tarry_schedule_repeated_total 1",
        "tarry_schedule_skipped_total 2", "tarry_schedule_failed_total 3"}) {
    EXPECT_TRUE(has_line(text, line)) << line;
  }
  const Shown some = [](std::string_view) { return true; };
  for (const std::string& none :
       {metrics_text({}, meter, {}, 0, kNow, "1"),
        metrics_text({}, meter, {}, 0, kNow, "1", {}, some, &schedules)}) {
    EXPECT_EQ(none.find("tarry_schedule"), std::string::npos);
  }
}

TEST(Metrics, TellOfLimitsAndOfWhatTheyRefused) {
  Meter meter;
  limits::Figures limits;
  limits.of[index_of(limits::Limit::requests)] = {{100, 10, 0}, 7};
  limits.refusals.add(limits::Limit::requests, limits::Scope::peer);
  limits.refusals.add(limits::Limit::waiting_claims, limits::Scope::total);
  limits.of_tokens["shop"].add(limits::Limit::waiting_claims, limits::Scope::total);
  limits.of_tokens["shop"].add(limits::Limit::waiting_claims, limits::Scope::token);
  const std::string text = metrics_text({}, meter, limits, 0, kNow, "1");
  for (const char* line :
       {R"(tarry_limit_requests_per_second{scope="total"} 100)",
        R"(tarry_limit_requests_per_second{scope="peer"} 10)",
        R"(tarry_limit_requests_per_second{scope="token"} 0)", "tarry_used_requests_per_second 7",
        R"(tarry_limit_refusals_total{limit="requests",scope="peer"} 1)",
        R"(tarry_limit_refusals_total{limit="requests",scope="token"} 0)",
        R"(tarry_limit_refusals_total{limit="waiting_claims",scope="total"} 1)",
        R"(tarry_token_refusals_total{token="shop",limit="waiting_claims"} 2)",
        R"(tarry_token_refusals_total{token="shop",limit="requests"} 0)"}) {
    EXPECT_TRUE(has_line(text, line)) << line;
  }
  // A token that sees some queues only learns nothing of other clients.
  const Shown none = [](std::string_view) { return false; };
  EXPECT_EQ(metrics_text({}, meter, limits, 0, kNow, "1", {}, none).find("tarry_limit"),
            std::string::npos);
}

}  // namespace
}  // namespace tarry::metrics
