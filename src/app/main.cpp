#include "app/app.h"

int main(int argc, char** argv) {
  return static_cast<int>(tarry::app::run({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
