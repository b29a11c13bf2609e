#include "server/sqs/protocol/xml.h"

#include <algorithm>
#include <array>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::string_view kNamespace = "http://queue.amazonaws.com/doc/2012-11-05/";

/// Lists and maps are flat: each element stands under its own name, without one for the whole.
struct Flat {
  std::string_view member;
  std::string_view element;
  std::string_view key = {};  // of a map
  std::string_view value = {};
};
constexpr std::array kFlat = {
    Flat{"QueueUrls", "QueueUrl"},
    Flat{"queueUrls", "QueueUrl"},
    Flat{"Messages", "Message"},
    Flat{"Attributes", "Attribute", "Name", "Value"},
    Flat{"MessageAttributes", "MessageAttribute", "Name", "Value"},
    Flat{"Tags", "Tag", "Key", "Value"},
    Flat{"Failed", "BatchResultErrorEntry"},
    Flat{"Results", "ListMessageMoveTasksResultEntry"},
};

std::string_view entry_of(std::string_view action) {
  if (action == "SendMessageBatch") return "SendMessageBatchResultEntry";
  if (action == "DeleteMessageBatch") return "DeleteMessageBatchResultEntry";
  return "ChangeMessageVisibilityBatchResultEntry";
}

class XmlWriter {
 public:
  explicit XmlWriter(std::string_view action) : action_(action) {}

  void open(std::string_view name) { out_ += '<', out_ += name, out_ += '>'; }
  void close(std::string_view name) { out_ += "</", out_ += name, out_ += '>'; }
  void raw(std::string_view text) { out_ += text; }

  void text(std::string_view text) {
    for (const char c : text) {
      switch (c) {
        case '<': out_ += "&lt;"; break;
        case '>': out_ += "&gt;"; break;
        case '&': out_ += "&amp;"; break;
        case '"': out_ += "&quot;"; break;
        case '\r': out_ += "&#xD;"; break;  // a parser would read it as a line feed
        default: out_ += c;
      }
    }
  }

  void element(std::string_view name, std::string_view value) {
    open(name);
    text(value);
    close(name);
  }

  void members(const json::object& object) {
    for (const auto& [name, value] : object) member(name, value);
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void member(std::string_view name, const json::value& value) {
    const auto flat = std::ranges::find(kFlat, name, &Flat::member);
    if (const json::array* list = value.if_array()) {
      const std::string_view element = name == "Successful"  ? entry_of(action_)
                                       : flat != kFlat.end() ? flat->element
                                                             : name;
      for (const json::value& one : *list) whole(element, one);
    } else if (const json::object* map = value.if_object(); map != nullptr && flat != kFlat.end()) {
      for (const auto& [key, one] : *map) {
        open(flat->element);
        element(flat->key, key);
        whole(flat->value, one);
        close(flat->element);
      }
    } else {
      whole(name, value);
    }
  }

  void whole(std::string_view name, const json::value& value) {
    open(name);
    if (const json::object* object = value.if_object()) {
      members(*object);
    } else if (const json::string* string = value.if_string()) {
      text(*string);
    } else {
      text(json::serialize(value));
    }
    close(name);
  }

  std::string_view action_;
  std::string out_ = "<?xml version=\"1.0\"?>";
};

}  // namespace

std::string xml_answer(std::string_view action, const json::object& fields,
                       std::string_view request_id) {
  XmlWriter out(action);
  const std::string response = std::string(action) + "Response";
  out.raw("<" + response + " xmlns=\"" + std::string(kNamespace) + "\">");
  if (!fields.empty()) {
    const std::string result = std::string(action) + "Result";
    out.open(result);
    out.members(fields);
    out.close(result);
  }
  out.open("ResponseMetadata");
  out.element("RequestId", request_id);
  out.close("ResponseMetadata");
  out.close(response);
  return out.take();
}

std::string xml_fault(const Fault& fault, std::string_view request_id) {
  XmlWriter out({});
  out.raw("<ErrorResponse xmlns=\"" + std::string(kNamespace) + "\">");
  out.open("Error");
  out.element("Type", fault.status() < 500 ? "Sender" : "Receiver");
  out.element("Code", fault.query_code());
  out.element("Message", fault.message);
  out.raw("<Detail/>");
  out.close("Error");
  out.element("RequestId", request_id);
  out.close("ErrorResponse");
  return out.take();
}

}  // namespace tarry::sqs
