// The file of secrets that are kept, for clients that sign requests instead of sending a token.
// Each line has the name of a token of the tokens file, and that token itself:
//
//     shop  Yk2rVn...
//
// Blank lines, and those that begin with #, are left out.
//
// Thread safety: pure, except for read_keys_file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "server/identity/identity.h"

namespace tarry::identity {

struct KeptSecret {
  std::string name;
  std::string secret;
};

/// Each line that is wrong becomes a line of `problems`; none of them shows a secret. The known
/// token with the name of the line must have the hash of the line's secret.
[[nodiscard]] std::vector<KeptSecret> parse_keys(std::string_view text, std::string_view file,
                                                 const std::vector<Identity>& known,
                                                 std::vector<std::string>& problems);

/// Error: `invalid_argument`, also if users other than the owner and its group may read the file.
[[nodiscard]] Result<std::string> read_keys_file(const std::string& path);

}  // namespace tarry::identity
