#include <csignal>

#include "app/app.h"

int main(int argc, char** argv) {
  // Whoever started us may have it ignored, and then nobody learns how a command ends.
  std::signal(SIGCHLD, SIG_DFL);
  return static_cast<int>(tarry::app::run({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
