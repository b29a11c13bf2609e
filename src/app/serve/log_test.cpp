#include "app/serve/log.h"

#include <string>

#include <gtest/gtest.h>

namespace tarry::app {
namespace {

using Format = ServeLog::Format;

session::RequestNote note_of(unsigned status) {
  session::RequestNote note;
  note.id = "abc-1";
  note.method = "PO\nST";
  note.route = "/v1/claim";
  note.status = status;
  if (status != 200) note.reason = "the disk\nfailed";
  note.took = std::chrono::microseconds(42);
  return note;
}

// Runs `tell`, and returns the text that the log has written.
template <typename Tell>
std::string said(std::string_view level, Format format, Tell tell) {
  ::testing::internal::CaptureStderr();
  {
    ServeLog log(level, format);
    tell(log);
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(ServeLog, ALineIsOneLineWhateverIsTold) {
  const auto tell = [](ServeLog& log) {
    log.warning("a_code", "a \"b\"\n\x1b[2J\r\xff %v {}\u2028");
  };
  const std::string text = said("info", Format::text, tell);
  EXPECT_NE(text.find(R"(warning a "b"\n\x1b[2J\r\xff %v {}\u{2028})"), std::string::npos) << text;
  const std::string json = said("info", Format::json, tell);
  EXPECT_NE(
      json.find(R"("level":"warning","code":"a_code","message":"a \"b\"\\n\\x1b[2J\\r\\xff %v {})"),
      std::string::npos)
      << json;
  for (const std::string& line : {text, json}) {
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(line.find('\r'), std::string::npos);
  }
  EXPECT_TRUE(json.starts_with(R"({"time":"2)")) << json;
  EXPECT_TRUE(json.ends_with("}\n")) << json;
}

TEST(ServeLog, ARequestNamesTheTokenOfItsClient) {
  const auto tell = [](ServeLog& log) {
    session::RequestNote note = note_of(200);
    log.request(note);
    note.identity = "scraper";
    log.request(note);
  };
  const std::string text = said("debug", Format::text, tell);
  EXPECT_NE(text.find("/v1/claim: 200 after 42 us\n"), std::string::npos) << text;
  EXPECT_NE(text.find("/v1/claim: 200 after 42 us, token scraper\n"), std::string::npos) << text;
  const std::string json = said("debug", Format::json, tell);
  EXPECT_NE(json.find(R"("request_id":"abc-1","method")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("request_id":"abc-1","identity":"scraper","method")"), std::string::npos)
      << json;
}

TEST(ServeLog, TheReadyLineIsAsTheLogsLinesAre) {
  const std::string text = ServeLog("error", Format::text)
                               .ready_line({"http://127.0.0.1:1", "http://[::1]:2"}, "memory:");
  EXPECT_TRUE(text.starts_with("tarry ") &&
              text.ends_with(" serves memory: on http://127.0.0.1:1, http://[::1]:2\n"))
      << text;
  const std::string json = ServeLog("error", Format::json)
                               .ready_line({"http://127.0.0.1:1", "http://[::1]:2"}, "memory:");
  EXPECT_TRUE(json.starts_with(R"({"time":"2)")) << json;
  EXPECT_NE(json.find(R"(,"level":"info","message":"ready",)"), std::string::npos) << json;
  EXPECT_TRUE(
      json.ends_with("\"url\":\"http://127.0.0.1:1\","
                     "\"urls\":[\"http://127.0.0.1:1\",\"http://[::1]:2\"],"
                     "\"store\":\"memory:\"}\n"))
      << json;
}

TEST(ServeLog, LevelsLeaveOutWhatIsLess) {
  const auto all = [](ServeLog& log) {
    log.request(note_of(200));
    log.info("c", "i");
    log.warning("c", "w");
    log.error("c", "e");
  };
  const auto lines = [&](std::string_view level) {
    const std::string text = said(level, Format::text, all);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines("debug"), 4);
  EXPECT_EQ(lines("info"), 3);
  EXPECT_EQ(lines("warning"), 2);
  EXPECT_EQ(lines("error"), 1);
  EXPECT_EQ(said("error", Format::text,
                 [](ServeLog& log) {
                   log.set_level("info");
                   log.info("c", "i");
                 })
                .ends_with("info i\n"),
            true);
}

TEST(ServeLog, RequestsAreToldWithTheirIdsAndFailuresWithTheirReasons) {
  const auto done = [](ServeLog& log) { log.request(note_of(200)); };
  const auto failed = [](ServeLog& log) { log.request(note_of(503)); };
  EXPECT_TRUE(said("debug", Format::text, done)
                  .ends_with("debug request abc-1 PO\\nST /v1/claim: 200 after 42 us\n"));
  EXPECT_EQ(said("info", Format::text, done), "");
  EXPECT_TRUE(said("info", Format::text, failed)
                  .ends_with("warning request abc-1 PO\\nST /v1/claim: 503 after 42 us: "
                             "the disk\\nfailed\n"));
  const auto often = [](ServeLog& log) {
    session::RequestNote note = note_of(503);
    note.left_out = 7;
    log.request(note);
  };
  EXPECT_TRUE(said("info", Format::text, often).ends_with("failed (and 7 more like it before)\n"));
  EXPECT_TRUE(said("info", Format::json, often).ends_with("failed\",\"left_out\":7}\n"));
  EXPECT_TRUE(
      said("info", Format::json, failed)
          .ends_with(
              R"("level":"warning","code":"request","message":"request","request_id":"abc-1",)"
              R"("method":"PO\\nST","route":"/v1/claim","status":503,)"
              R"("took_us":42,"reason":"the disk\\nfailed"})"
              "\n"));
}

}  // namespace
}  // namespace tarry::app
