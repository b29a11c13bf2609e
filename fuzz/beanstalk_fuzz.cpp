// The reader of beanstalkd's commands: the bytes give the same commands in one piece and in many,
// and nothing is read after a job of the wrong length.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "server/beanstalk/command_reader.h"

namespace {

using tarry::beanstalk::Command;
using tarry::beanstalk::CommandReader;

std::vector<std::string> read_in(std::string_view bytes, std::size_t piece) {
  CommandReader reader(1000);
  std::vector<std::string> read;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.append(bytes.substr(at, piece));
    while (const auto command = reader.next()) {
      if (reader.is_lost() && reader.next()) std::abort();
      read.push_back(std::string(to_string(command->verb)) + " " +
                     std::to_string(static_cast<int>(command->fault)) + " " +
                     std::to_string(command->id) + " " + std::string(command->name) + " " +
                     std::string(command->body));
    }
  }
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (read_in(bytes, bytes.size() + 1) != read_in(bytes, 1 + data[0] % 32u)) std::abort();
  return 0;
}
