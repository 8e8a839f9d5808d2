// The article's comparison of placements, for every norm: post-norm keeps its stream, pre-norm's
// grows, DiT's adaLN-Zero starts as the identity.
#include "experiments/compare_norms/compare_norms.hpp"

int main(int argc, char** argv) { return normlab::compare_norms_main(argc, argv); }
