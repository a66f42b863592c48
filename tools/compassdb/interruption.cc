// SPDX-License-Identifier: Apache-2.0
#include "interruption.h"

namespace compassdb_cli {
namespace {

volatile sig_atomic_t noted_signal = 0;

volatile sig_atomic_t helper = 0;

void Note(int signal) {
  noted_signal = signal;
  if (helper > 0) kill(helper, SIGTERM);
}

}  // namespace

Interruption::Interruption() {
  noted_signal = 0;
  struct sigaction action = {};
  action.sa_handler = Note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &pipe_before_);
}

Interruption::~Interruption() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  if (noted_signal != 0) raise(noted_signal);
}

int Interruption::noted() { return noted_signal; }

void Interruption::SetHelper(pid_t pid) {
  helper = pid;
  if (pid > 0 && noted_signal != 0) kill(pid, SIGTERM);
}

}  // namespace compassdb_cli
