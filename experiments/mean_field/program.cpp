// Claim: in a wide network every moment of the stream and the size of every gradient follow from a
// recursion over the layers. Xiong et al. (2020) bound some of them; here all are computed, and
// simulated beside. docs/theory.md derives the recursion.
#include "experiments/mean_field/mean_field.hpp"

int main(int argc, char** argv) { return normlab::mean_field_main(argc, argv); }
