// Question: post-norm transformers are said to need a learning-rate warmup, and pre-norm ones not
// (Xiong et al. 2020). At which depth and rate is that so, and is it Adam's doing?
#include "experiments/warmup/warmup.hpp"

int main(int argc, char** argv) { return normlab::warmup_main(argc, argv); }
