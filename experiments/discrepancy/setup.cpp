// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/setup.hpp"

#include <algorithm>
#include <functional>

namespace normlab::discrepancy {

namespace {

constexpr std::int64_t kWords = 10'000;

// Xiong et al. (2020), supplementary material 1.1: translation, width 512, feed-forward width
// 1,024, 4 heads. Sentences of about 25 words; label smoothing and dropout as in Vaswani et al.
// (2017). Fewer sentences than a batch of theirs, to bound the time.
Setup paper_setup() {
  Setup paper;
  paper.source = TokenSource::vocabulary;
  paper.labels = Labels::word_frequencies;
  paper.sequences = 8;
  paper.tokens = 25;
  paper.classes = kWords;
  paper.width = 512;
  paper.ffn_ratio = 2;
  paper.logit_deviation = 1.0;
  paper.label_smoothing = 0.1;
  paper.dropout = 0.1;
  paper.cross_attention = true;
  return paper;
}

class Ablations {
 public:
  using Change = std::function<void(Setup&)>;

  void start(const std::string& name, const std::string& words, const Setup& setup) {
    base_ = name;
    setup_ = setup;
    ablations_.push_back({name, "", words, setup});
  }
  void change(const std::string& name, const std::string& words, const Change& change) {
    Setup changed = setup_;
    change(changed);
    ablations_.push_back({name, base_, words, changed});
  }
  // A change that the next ablations start from.
  void change_base(const std::string& name, const std::string& words, const Change& made) {
    change(name, words, made);
    base_ = name;
    setup_ = ablations_.back().setup;
  }
  const std::vector<Ablation>& list() const { return ablations_; }

 private:
  std::vector<Ablation> ablations_;
  std::string base_;
  Setup setup_;
};

void add_single_changes(Ablations& all) {
  all.change("token_labels", "a label per token, not per image",
             [](Setup& s) { s.labels = Labels::per_token; });
  all.change("word_labels", "labels per token with Zipf's frequencies",
             [](Setup& s) { s.labels = Labels::word_frequencies; });
  all.change("classes_100", "100 classes", [](Setup& s) { s.classes = 100; });
  all.change("classes_10k", "10,000 classes", [](Setup& s) { s.classes = kWords; });
  all.change("logits_1", "logits of deviation 1 (tied embeddings)",
             [](Setup& s) { s.logit_deviation = 1.0; });
  all.change("width_512", "width 512, feed-forward width 2,048", [](Setup& s) { s.width = 512; });
  all.change("ffn_2", "feed-forward width 2 d, not 4 d", [](Setup& s) { s.ffn_ratio = 2; });
  all.change("zero_qk", "zero query and key matrices", [](Setup& s) { s.zero_query_key = true; });
  all.change("gaussian", "independent Gaussian tokens",
             [](Setup& s) { s.source = TokenSource::gaussian; });
  all.change("words", "embedded words", [](Setup& s) { s.source = TokenSource::vocabulary; });
  all.change("tokens_64", "8 sequences of 64 tokens, not 32 of 16", [](Setup& s) {
    s.sequences = 8;
    s.tokens = 64;
  });
  all.change("mini_batches", "mean of the norms of 4 mini-batches",
             [](Setup& s) { s.mini_batches = 4; });
  all.change("smoothing", "label smoothing 0.1", [](Setup& s) { s.label_smoothing = 0.1; });
  all.change("dropout", "dropout 0.1", [](Setup& s) { s.dropout = 0.1; });
  all.change("embedding_norm", "LayerNorm on the embedding",
             [](Setup& s) { s.embedding_norm = true; });
  all.change("cross_attention", "every block also reads an encoder",
             [](Setup& s) { s.cross_attention = true; });
}

// With logits this small every class is predicted alike, whatever the token.
constexpr double kNoOpinion = 1e-3;

void add_pairs(Ablations& all) {
  all.change("no_opinion", "logits of deviation 0.001",
             [](Setup& s) { s.logit_deviation = kNoOpinion; });
  all.change("no_opinion_token_labels", "logits of 0.001, and a label per token", [](Setup& s) {
    s.logit_deviation = kNoOpinion;
    s.labels = Labels::per_token;
  });
  all.change("classes_10k_token_labels", "10,000 classes and a label per token", [](Setup& s) {
    s.classes = kWords;
    s.labels = Labels::per_token;
  });
}

// The paper's setup at width 64 is one ablation of the way back, and cheap: the others start from
// it.
void add_way_back(Ablations& all) {
  all.change("small_ffn_4", "feed-forward width 4 d, not 2 d", [](Setup& s) { s.ffn_ratio = 4; });
  all.change("small_no_cross", "no encoder to read", [](Setup& s) { s.cross_attention = false; });
  all.change("small_classes_10", "10 classes", [](Setup& s) { s.classes = 10; });
  all.change("small_even_labels", "all labels equally frequent",
             [](Setup& s) { s.labels = Labels::per_token; });
  all.change("small_sequence_labels", "a label per sentence",
             [](Setup& s) { s.labels = Labels::per_sequence; });
  all.change("small_xavier_logits", "Xavier's logits (deviation 0.11)",
             [](Setup& s) { s.logit_deviation = 0.0; });
  all.change("small_gaussian", "independent Gaussian tokens",
             [](Setup& s) { s.source = TokenSource::gaussian; });
  all.change("small_patches", "patches of digits, 16 of an image", [](Setup& s) {
    s.source = TokenSource::patches;
    s.tokens = 16;
  });
  all.change("small_no_smoothing", "no label smoothing", [](Setup& s) { s.label_smoothing = 0.0; });
  all.change("small_no_dropout", "no dropout", [](Setup& s) { s.dropout = 0.0; });
}

}  // namespace

std::string name(TokenSource source) {
  switch (source) {
    case TokenSource::patches:
      return "patches";
    case TokenSource::gaussian:
      return "gaussian";
    case TokenSource::vocabulary:
      return "vocabulary";
  }
  return "";
}

std::string name(Labels labels) {
  switch (labels) {
    case Labels::per_sequence:
      return "per_sequence";
    case Labels::per_token:
      return "per_token";
    case Labels::word_frequencies:
      return "word_frequencies";
  }
  return "";
}

std::vector<Ablation> all_ablations() {
  Ablations all;
  all.start("article", "the article's setting", Setup{});
  add_single_changes(all);
  add_pairs(all);
  all.start("paper", "the paper's setting", paper_setup());
  all.change("paper_no_cross", "no encoder to read", [](Setup& s) { s.cross_attention = false; });
  all.change_base("small_paper", "width 64, feed-forward width 128",
                  [](Setup& s) { s.width = 64; });
  add_way_back(all);
  return all.list();
}

std::vector<std::string> ablation_names() {
  std::vector<std::string> names;
  for (const Ablation& ablation : all_ablations()) names.push_back(ablation.name);
  return names;
}

std::vector<Ablation> ablations_named(const std::vector<std::string>& names) {
  const std::vector<Ablation> all = all_ablations();
  std::vector<Ablation> chosen;
  for (const std::string& name : names) {
    chosen.push_back(*std::find_if(
        all.begin(), all.end(), [&](const Ablation& ablation) { return ablation.name == name; }));
  }
  return chosen;
}

bool is_large(const Setup& setup) { return setup.width >= 256; }

}  // namespace normlab::discrepancy
