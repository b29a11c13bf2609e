// Functions that all batches share. An item may fail when it is read (it then never reaches the
// engine), or when the engine refuses it; other items are not affected. Both kinds of errors are in
// "results", at the item's index, as {"error":{"code","message"}}.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::wire {

/// An item that could not be read: its place in the client's batch.
struct BadItem {
  std::size_t index = 0;
  Error error;
};
/// Sorted by index.
using BadItems = std::vector<BadItem>;

/// A request, without the items that could not be read.
template <typename Request>
struct Decoded {
  Request request;
  BadItems bad;
};

/// {"error":{"code","message"}} without the outer braces.
void write_error(JsonWriter& out, const Error& error);

/// The error of an item, if it has one.
[[nodiscard]] std::optional<Error> read_error(Fields& fields);

/// Writes {"messages":[...]}; `write` returns a MaybeError for each item. `size`: about how many
/// bytes an item takes besides its strings.
template <typename Request, typename Write>
[[nodiscard]] Result<std::string> encode_messages(const Request& request, std::size_t size,
                                                  Write write) {
  std::string text;
  text.reserve(request.bytes.size() + request.items.size() * size + 32);
  JsonWriter out(text);
  out.begin_object().name("messages").begin_array();
  for (const auto& item : request.items) {
    out.begin_object();
    if (MaybeError error = write(out, item)) return *error;
    out.end_object();
  }
  out.end_array().end_object();
  return text;
}

/// Reads the body of a request: `read` gets its fields and returns what they say. A field that
/// `read` did not ask for is an error.
template <typename Read>
[[nodiscard]] auto decode_body(std::string_view body, Read read)
    -> Result<decltype(read(std::declval<Fields&>()))> {
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the body", Unknown::refused);
  auto request = read(fields);
  if (MaybeError error = fields.finish()) return *error;
  return request;
}
/// The same for the body of an answer. Unknown fields are ignored, because a newer server may send
/// them.
template <typename Read>
[[nodiscard]] auto decode_answer(std::string_view body, Read read)
    -> Result<decltype(read(std::declval<Fields&>()))> {
  Document document(body.size(), kAnswerLimits);
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the answer", Unknown::ignored);
  auto reply = read(fields);
  if (MaybeError error = fields.finish()) return *error;
  return reply;
}

/// Reads one of the results: its error, or its outcome and the members that `read` reads.
template <typename Reply, typename Read>
[[nodiscard]] MaybeError read_result(const boost::json::value& value, Reply& reply, Read read) {
  Fields fields(value, "a result", Unknown::ignored);
  auto& result = reply.items.emplace_back();
  result.error = read_error(fields);
  if (!result.error) {
    fields.require("outcome");
    read(fields, result);
  }
  return fields.finish();
}

/// Reads an array item by item. `read` returns a MaybeError for each. After an error, `bytes` (to
/// which items append their strings) is as it was before the item. The document has checked the
/// number of items.
template <typename Read>
void read_items(const boost::json::array& array, std::string& bytes, BadItems& bad, Read read) {
  for (std::size_t i = 0; i < array.size(); ++i) {
    const std::size_t before = bytes.size();
    if (MaybeError error = read(array[i])) {
      bytes.resize(before);
      bad.push_back({i, std::move(*error)});
    }
  }
}

/// Reads the array of a body that has no other field. `size` is the body's size in bytes.
template <typename Request, typename Read>
[[nodiscard]] Result<Decoded<Request>> decode_batch(const boost::json::value& body,
                                                    std::size_t size, std::string_view name,
                                                    Request request, Read read) {
  Fields fields(body, "the body", Unknown::refused);
  fields.require(name);
  const boost::json::array* array = fields.array(name);
  if (MaybeError error = fields.finish()) return *error;
  Decoded<Request> decoded{std::move(request), {}};
  decoded.request.bytes.reserve(size);
  if constexpr (requires { decoded.request.items; }) {
    decoded.request.items.reserve(array->size());
  }
  const auto one = [&](const boost::json::value& value) { return read(value, decoded.request); };
  read_items(*array, decoded.request.bytes, decoded.bad, one);
  return decoded;
}
template <typename Request, typename Read>
[[nodiscard]] Result<Decoded<Request>> decode_batch(std::string_view body, std::string_view name,
                                                    Request request, Read read) {
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return *error;
  return decode_batch(document.root(), body.size(), name, std::move(request), std::move(read));
}

/// Writes NAME, or {"results":[...]}: the engine's answers, with the bad items in their places.
/// `write` writes the members of the engine's answer number i.
template <typename Write>
void write_results(JsonWriter& out, std::string_view name, std::size_t answers, const BadItems& bad,
                   Write write) {
  out.name(name).begin_array();
  std::size_t next_bad = 0;
  const std::size_t total = answers + bad.size();
  for (std::size_t index = 0, answer = 0; index < total; ++index) {
    out.begin_object();
    if (next_bad < bad.size() && bad[next_bad].index == index) {
      write_error(out, bad[next_bad++].error);
    } else {
      write(out, answer++);
    }
    out.end_object();
  }
  out.end_array();
}
template <typename Write>
[[nodiscard]] std::string write_results(std::size_t answers, const BadItems& bad, Write write) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_results(out, "results", answers, bad, std::move(write));
  out.end_object();
  return text;
}

/// Reads {"results":[...]}: `read` gets each result as a JSON value, and returns a MaybeError.
template <typename Read>
[[nodiscard]] MaybeError read_results(std::string_view body, Read read) {
  Document document(body.size(), kAnswerLimits);
  if (MaybeError error = document.parse(body)) return error;
  Fields fields(document.root(), "the answer", Unknown::ignored);
  fields.require("results");
  const boost::json::array* results = fields.array("results");
  if (MaybeError error = fields.finish()) return error;
  for (const boost::json::value& result : *results) {
    if (MaybeError error = read(result)) return error;
  }
  return std::nullopt;
}

/// Reads an answer that has only results; `read` returns a MaybeError for each.
template <typename Reply, typename Read>
[[nodiscard]] Result<Reply> decode_results(std::string_view body, Read read) {
  Reply reply;
  const auto one = [&](const boost::json::value& value) { return read(value, reply); };
  if (MaybeError error = read_results(body, one)) return *error;
  return reply;
}

}  // namespace tarry::wire
