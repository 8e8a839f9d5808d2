#pragma once

#include <array>
#include <cmath>

#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

// Colours for light and for dark paper, each with a contrast of 3 at least: those of Okabe and Ito
// (2008), which people with every kind of colour vision tell apart, where they have that contrast.
struct SeriesColor {
  const char* light;
  const char* dark;
};
inline constexpr std::array<SeriesColor, kSeriesColors> kSeriesPalette{{
    {"#0072B2", "#56B4E9"},  // blue, sky blue
    {"#D55E00", "#D55E00"},  // vermilion
    {"#009E73", "#009E73"},  // bluish green
    {"#C063A0", "#CC79A7"},  // reddish purple
    {"#A06A00", "#F0E442"},  // brown, yellow
    {"#6A4FB0", "#B7A1F2"},  // violet
}};

// Heat maps go from the paper's lightness to the opposite one in steps of one hue.
struct Rgb {
  int red, green, blue;  // 0 to 255
};
struct HeatRamp {
  Rgb low, high;
  Rgb at(int step) const {
    const auto mix = [step](int from, int to) {
      return static_cast<int>(std::lround(from + (to - from) * step / (kHeatSteps - 1.0)));
    };
    return {mix(low.red, high.red), mix(low.green, high.green), mix(low.blue, high.blue)};
  }
};
inline constexpr HeatRamp kLightHeat{{231, 240, 249}, {8, 56, 110}};
inline constexpr HeatRamp kDarkHeat{{32, 46, 62}, {158, 214, 255}};

// White or black, whichever has more contrast on the paper, which is 4.5 at least: the limit of the
// Web Content Accessibility Guidelines 2.2 for text. `step` is added to or taken from the blue,
// which nobody sees, so that the text of every step is found in a drawing.
inline Rgb text_color_on(const Rgb& paper, int step) {
  const auto linear = [](int channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.05 + 0.2126 * linear(paper.red) + 0.7152 * linear(paper.green) +
                           0.0722 * linear(paper.blue);
  const bool white = 1.05 / luminance > luminance / 0.05;
  return white ? Rgb{255, 255, 254 - step} : Rgb{0, 0, 1 + step};
}

}  // namespace normlab
