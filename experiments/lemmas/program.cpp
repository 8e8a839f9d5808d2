// Claims: Lemmas 1 to 3 and Theorem 1 of Xiong et al. (2020, section 3), each measured in the
// setting it is proved in, with a verdict. docs/theory.md says what follows from them.
#include "experiments/lemmas/lemmas.hpp"

int main(int argc, char** argv) { return normlab::lemmas_main(argc, argv); }
