// The XML answers of the query protocol, written from the same fields as the JSON protocol's.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "server/sqs/protocol/fault.h"

namespace tarry::sqs {

[[nodiscard]] std::string xml_answer(std::string_view action, const boost::json::object& fields,
                                     std::string_view request_id);
[[nodiscard]] std::string xml_fault(const Fault& fault, std::string_view request_id);

}  // namespace tarry::sqs
