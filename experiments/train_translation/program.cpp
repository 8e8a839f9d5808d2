// Trains a transformer that reads one sentence and writes another, with progress and checkpoints.
#include "experiments/train_translation/train_translation.hpp"

int main(int argc, char** argv) { return normlab::train_translation_main(argc, argv); }
