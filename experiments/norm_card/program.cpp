// Claim: what a normalization layer does to values and gradients can be measured before its paper
// is read. Without arguments a table of all registered layers, with --norm the card of one.
#include "experiments/norm_card/norm_card.hpp"

int main(int argc, char** argv) { return normlab::norm_card_main(argc, argv); }
