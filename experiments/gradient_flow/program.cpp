// Question: what does a warmup change inside the layers? Gradients, relative updates and the stream
// over the first some hundred steps.
#include "experiments/gradient_flow/gradient_flow.hpp"

int main(int argc, char** argv) { return normlab::gradient_flow_main(argc, argv); }
