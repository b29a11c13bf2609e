#include "app/transfer/export_mark.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "app/system/replace_file.h"
#include "base/text/text.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::app::transfer {
namespace {

using wire::Fields;

Error failure(std::string_view doing, const std::string& path) {
  const int why = errno;
  return {why == ENOSPC || why == EDQUOT ? ErrorCode::no_space : ErrorCode::io_error,
          std::string(doing) + " " + base::quoted(path) + ": " + std::strerror(why)};
}

void write_texts(wire::JsonWriter& json, std::string_view name,
                 const std::vector<std::string>& texts) {
  json.name(name).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

std::vector<std::string> texts_in(Fields& fields, std::string_view name) {
  std::vector<std::string> texts;
  fields.require(name);
  if (const auto* array = fields.array(name)) {
    for (const auto& value : *array) {
      if (const auto* text = value.if_string()) texts.emplace_back(*text);
    }
  }
  return texts;
}

Result<KeptMark> read_mark(std::string_view text) {
  wire::Document document(text.size());
  if (auto error = document.parse(text, "the mark")) return *std::move(error);
  Fields fields(document.root(), "the mark", wire::Unknown::refused);
  KeptMark kept;
  const auto count = [&](std::string_view name) {
    fields.require(name);
    return fields.u64(name).value_or(0);
  };
  fields.require("export");
  kept.of = fields.text("export").value_or("");
  kept.bytes = count("bytes");
  kept.mark.queues = texts_in(fields, "queues");
  kept.mark.queue = count("queue");
  std::string scratch;
  kept.mark.after = fields.bytes("after", "after_base64", scratch).value_or("");
  kept.mark.total = count("total");
  if (const auto present = fields.u64("present")) {  // older marks have no counters
    kept.mark.books = QueueBooks{*present, count("accepted"), count("ended")};
    kept.mark.listed = count("listed");
  }
  kept.mark.report.queues = kept.mark.queues.size();
  kept.mark.report.messages = count("messages");
  kept.mark.report.leased = count("leased");
  kept.mark.report.stopping = fields.u64("stopping").value_or(0);  // older marks do not have it
  kept.mark.report.gone = fields.u64("gone").value_or(0);
  kept.mark.report.remembered = count("remembered");
  kept.mark.report.problems = texts_in(fields, "problems");
  if (auto error = fields.finish()) return *std::move(error);
  return kept;
}

}  // namespace

Result<void> keep_mark(const std::string& path, const KeptMark& kept) {
  std::string text;
  wire::JsonWriter json(text);
  const ExportReport& report = kept.mark.report;
  json.begin_object().text_field("export", kept.of).field("bytes", kept.bytes);
  write_texts(json, "queues", kept.mark.queues);
  json.field("queue", std::uint64_t{kept.mark.queue}).bytes_field("after", kept.mark.after);
  json.field("total", kept.mark.total).field("messages", report.messages);
  if (const auto& books = kept.mark.books; books) {
    json.field("present", books->present).field("accepted", books->accepted);
    json.field("ended", books->ended).field("listed", kept.mark.listed);
  }
  json.field("leased", report.leased).field("stopping", report.stopping);
  json.field("gone", report.gone).field("remembered", report.remembered);
  write_texts(json, "problems", report.problems);
  json.end_object();
  return replace_file(path, text + '\n');
}

Result<std::optional<KeptMark>> kept_mark(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<KeptMark>();
    return failure("read", path);
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto kept = read_mark(text);
  if (kept) return std::optional<KeptMark>(*std::move(kept));
  return Unexpected(ErrorCode::damaged, base::quoted(path) +
                                            " does not say how far the export had come (" +
                                            kept.error().message + "); remove it to begin anew");
}

}  // namespace tarry::app::transfer
