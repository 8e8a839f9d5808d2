// Trains a vision transformer on the digits, with any norm and placement (docs/training.md).
#include "experiments/train_digits/train_digits.hpp"

int main(int argc, char** argv) { return normlab::train_digits_main(argc, argv); }
