// Claim: what a normalization layer does to values and gradients can be measured before its paper
// is read. docs/norms.md shows the cards of all layers.
#include "experiments/norm_card.hpp"

int main(int argc, char** argv) { return normlab::norm_card_main(argc, argv); }
