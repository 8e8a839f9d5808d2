#pragma once

#include <array>

#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

// The colours of Okabe and Ito (2008), which people with every kind of colour vision tell apart, in
// an order and pairing that keeps each readable on white and on near-black paper.
struct SeriesColor {
  const char* light;
  const char* dark;
};
inline constexpr std::array<SeriesColor, kSeriesColors> kSeriesPalette{{
    {"#0072B2", "#56B4E9"},  // blue, sky blue
    {"#D55E00", "#D55E00"},  // vermilion
    {"#009E73", "#009E73"},  // bluish green
    {"#CC79A7", "#CC79A7"},  // reddish purple
    {"#E69F00", "#F0E442"},  // orange, yellow
    {"#56B4E9", "#0072B2"},  // sky blue, blue
}};

// Heat maps go from the paper's lightness to the opposite one, in one hue.
struct Rgb {
  double red, green, blue;  // 0 to 255
};
struct HeatRamp {
  Rgb low, high;
};
inline constexpr HeatRamp kLightHeat{{231, 240, 249}, {8, 56, 110}};
inline constexpr HeatRamp kDarkHeat{{32, 46, 62}, {158, 214, 255}};

}  // namespace normlab
