#pragma once

namespace normlab {

// The program: 0; 2 for bad usage; 3 if the training diverged.
int train_translation_main(int argc, const char* const* argv);

}  // namespace normlab
