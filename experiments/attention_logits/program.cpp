// Claim: without query-key normalization, growing query and key weights make attention one-hot, as
// ViT-22B met it at logits past 50,000 (Dehghani et al. 2023, section 3.1); with it they cannot.
#include "experiments/attention_logits/attention_logits.hpp"

int main(int argc, char** argv) { return normlab::attention_logits_main(argc, argv); }
