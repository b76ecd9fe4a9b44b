// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

int main(int argc, char** argv) {
  milieu::cli::prepare_process();
  return milieu::cli::run_program({argv + 1, argv + argc}).code;
}
