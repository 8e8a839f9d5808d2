// Claim: where LayerNorm stands in a residual block decides the size of gradients at initialization
// (Xiong et al. 2020, Lemma 2 and Theorem 1). Run it without arguments for the published tables;
// docs/reproducing.md tells what each shows, and what would refute it.
#include "experiments/init_gradients/init_gradients.hpp"

int main(int argc, char** argv) { return normlab::init_gradients_main(argc, argv); }
