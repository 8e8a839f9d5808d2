// Question: Xiong et al. (2020, Figure 3) measure a last-layer gradient that does not depend on the
// depth of a post-norm transformer and that grows from layer to layer; on digits it grows with
// depth and is level over layers. Which of the many differences between the two experiments is the
// reason? docs/discrepancy.md tells what the default run answers; it takes some minutes.
#include "experiments/discrepancy/discrepancy.hpp"

int main(int argc, char** argv) { return normlab::discrepancy_main(argc, argv); }
