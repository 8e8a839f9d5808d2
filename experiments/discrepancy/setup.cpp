// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/setting.hpp"

#include <functional>

namespace normlab {

namespace {

constexpr std::int64_t kWords = 10'000;

// Xiong et al. (2020), supplementary material 1.1: translation, width 512, feed-forward width
// 1,024, 4 heads. Sentences of about 25 words; label smoothing and dropout as in Vaswani et al.
// (2017). Fewer sentences than a batch of theirs, to bound the time.
Setting paper_setting() {
  Setting paper;
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

class Ladder {
 public:
  using Change = std::function<void(Setting&)>;

  void start(const std::string& name, const std::string& words, const Setting& setting) {
    base_ = name;
    setting_ = setting;
    rungs_.push_back({name, "", words, setting});
  }
  void change(const std::string& name, const std::string& words, const Change& change) {
    Setting changed = setting_;
    change(changed);
    rungs_.push_back({name, base_, words, changed});
  }
  // A change that the next rungs start from.
  void climb(const std::string& name, const std::string& words, const Change& change_base) {
    change(name, words, change_base);
    base_ = name;
    setting_ = rungs_.back().setting;
  }
  std::vector<Rung> rungs() const { return rungs_; }

 private:
  std::vector<Rung> rungs_;
  std::string base_;
  Setting setting_;
};

void add_single_changes(Ladder& ladder) {
  ladder.change("token_labels", "a label per token, not per image",
                [](Setting& s) { s.labels = Labels::per_token; });
  ladder.change("word_labels", "labels per token with Zipf's frequencies",
                [](Setting& s) { s.labels = Labels::word_frequencies; });
  ladder.change("classes_100", "100 classes", [](Setting& s) { s.classes = 100; });
  ladder.change("classes_10k", "10,000 classes", [](Setting& s) { s.classes = kWords; });
  ladder.change("logits_1", "logits of deviation 1 (tied embeddings)",
                [](Setting& s) { s.logit_deviation = 1.0; });
  ladder.change("width_512", "width 512, feed-forward width 2,048",
                [](Setting& s) { s.width = 512; });
  ladder.change("ffn_2", "feed-forward width 2 d, not 4 d", [](Setting& s) { s.ffn_ratio = 2; });
  ladder.change("zero_qk", "zero query and key matrices",
                [](Setting& s) { s.zero_query_key = true; });
  ladder.change("gaussian", "independent Gaussian tokens",
                [](Setting& s) { s.source = TokenSource::gaussian; });
  ladder.change("words", "embedded words", [](Setting& s) { s.source = TokenSource::vocabulary; });
  ladder.change("tokens_64", "8 sequences of 64 tokens, not 32 of 16", [](Setting& s) {
    s.sequences = 8;
    s.tokens = 64;
  });
  ladder.change("mini_batches", "mean of the norms of 4 mini-batches",
                [](Setting& s) { s.mini_batches = 4; });
  ladder.change("smoothing", "label smoothing 0.1", [](Setting& s) { s.label_smoothing = 0.1; });
  ladder.change("dropout", "dropout 0.1", [](Setting& s) { s.dropout = 0.1; });
  ladder.change("embedding_norm", "LayerNorm on the embedding",
                [](Setting& s) { s.embedding_norm = true; });
  ladder.change("cross_attention", "every block reads an encoder, too",
                [](Setting& s) { s.cross_attention = true; });
}

// With logits this small every class is predicted alike, whatever the token.
constexpr double kNoOpinion = 1e-3;

void add_pairs(Ladder& ladder) {
  ladder.change("no_opinion", "logits of deviation 0.001",
                [](Setting& s) { s.logit_deviation = kNoOpinion; });
  ladder.change("no_opinion_token_labels", "logits of 0.001, and a label per token",
                [](Setting& s) {
                  s.logit_deviation = kNoOpinion;
                  s.labels = Labels::per_token;
                });
  ladder.change("classes_10k_token_labels", "10,000 classes and a label per token", [](Setting& s) {
    s.classes = kWords;
    s.labels = Labels::per_token;
  });
}

// The paper's setting at width 64 is one rung of the way back, and cheap: the others start from it.
void add_way_back(Ladder& ladder) {
  ladder.change("small_ffn_4", "feed-forward width 4 d, not 2 d",
                [](Setting& s) { s.ffn_ratio = 4; });
  ladder.change("small_no_cross", "no encoder to read",
                [](Setting& s) { s.cross_attention = false; });
  ladder.change("small_classes_10", "10 classes", [](Setting& s) { s.classes = 10; });
  ladder.change("small_even_labels", "all labels alike frequent",
                [](Setting& s) { s.labels = Labels::per_token; });
  ladder.change("small_sequence_labels", "a label per sentence",
                [](Setting& s) { s.labels = Labels::per_sequence; });
  ladder.change("small_xavier_logits", "Xavier's logits (deviation 0.11)",
                [](Setting& s) { s.logit_deviation = 0.0; });
  ladder.change("small_gaussian", "independent Gaussian tokens",
                [](Setting& s) { s.source = TokenSource::gaussian; });
  ladder.change("small_patches", "patches of digits, 16 of an image", [](Setting& s) {
    s.source = TokenSource::patches;
    s.tokens = 16;
  });
  ladder.change("small_no_smoothing", "no label smoothing",
                [](Setting& s) { s.label_smoothing = 0.0; });
  ladder.change("small_no_dropout", "no dropout", [](Setting& s) { s.dropout = 0.0; });
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

std::vector<Rung> ladder() {
  Ladder ladder;
  ladder.start("article", "the article's setting", Setting{});
  add_single_changes(ladder);
  add_pairs(ladder);
  ladder.start("paper", "the paper's setting", paper_setting());
  ladder.change("paper_no_cross", "no encoder to read",
                [](Setting& s) { s.cross_attention = false; });
  ladder.climb("small_paper", "width 64, feed-forward width 128", [](Setting& s) { s.width = 64; });
  add_way_back(ladder);
  return ladder.rungs();
}

bool is_large(const Setting& setting) { return setting.width >= 256; }

}  // namespace normlab
