// gnuplot's SVG, made fit for a page: colours by class, ids that are the figure's own, alt text.
// Tested by tests/experiments/lab/report/figure_test.cpp.
#include "experiments/lab/report/figure_svg.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/report/figure_colors.hpp"

namespace normlab {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

using ColorKey = std::array<int, 3>;

ColorKey key_of(const Rgb& color) { return {color.red, color.green, color.blue}; }
ColorKey key_of(const std::string& hex) {
  return {std::stoi(hex.substr(1, 2), nullptr, 16), std::stoi(hex.substr(3, 2), nullptr, 16),
          std::stoi(hex.substr(5, 2), nullptr, 16)};
}

// The classes of the colours in a light drawing.
const std::map<ColorKey, std::string>& color_classes() {
  static const std::map<ColorKey, std::string> classes = [] {
    std::map<ColorKey, std::string> made;
    for (std::size_t i = 0; i < kSeriesPalette.size(); ++i) {
      made[key_of(std::string(kSeriesPalette[i].light))] = fmt::format("series{}", i + 1);
    }
    for (int step = 0; step < kHeatSteps; ++step) {
      const Rgb color = kLightHeat.at(step);
      made[key_of(color)] = fmt::format("heat{}", step + 1);
      made[key_of(text_color_on(color, step))] = fmt::format("heat{}-text", step + 1);
    }
    return made;
  }();
  return classes;
}

// A class overrides the colour that stands there, such as stroke='rgb(  0, 114, 178)', which stays
// for viewers without style sheets.
void add_color_class(std::string& tag) {
  const std::size_t at = tag.find("rgb(");
  ColorKey color;
  if (at == std::string::npos ||
      std::sscanf(tag.c_str() + at, "rgb(%d,%d,%d)", &color[0], &color[1], &color[2]) != 3) {
    return;
  }
  const auto found = color_classes().find(color);
  if (found == color_classes().end()) return;
  const std::string_view before = std::string_view(tag).substr(0, at - 1);
  const bool series = found->second.starts_with("series");
  const char* what = !series                       ? ""
                     : before.ends_with("stroke=") ? "-line"
                     : before.ends_with("color=")  ? "-mark"
                                                   : "-area";
  tag.insert(tag.find(')', at) + 2, fmt::format(" class='{}{}'", found->second, what));
}

std::string restyled(std::string tag, const std::string& name) {
  replace_all(tag, " id='", " id='" + name + "-");
  replace_all(tag, " id=\"", " id=\"" + name + "-");
  replace_all(tag, "xlink:href='#", "href='#" + name + "-");
  replace_all(tag, " shape-rendering='crispEdges'", "");
  replace_all(tag, "'black'", "'currentColor'");
  replace_all(tag, "\"black\"", "\"currentColor\"");
  replace_all(tag, "rgb(  0,   0,   0)", "currentColor");
  add_color_class(tag);
  return tag;
}

// The drawing without gnuplot's frame around it. Labels stand between tags, where nothing is
// replaced: gnuplot writes their < as &lt;. Left out are filters, which nothing uses, and the
// titles of plots ("gnuplot_plot_1"), which browsers would show when the mouse rests on a line.
std::string drawing_of(const std::string& svg, const std::string& name) {
  std::size_t at = svg.find("<g id=\"gnuplot_canvas\"");
  const std::size_t end = svg.rfind("</svg>");
  if (at == std::string::npos || end == std::string::npos || end < at) return "";
  std::string drawing;
  while (at < end) {
    if (svg[at] != '<') {
      const std::size_t next = std::min(svg.find('<', at), end);
      drawing.append(svg, at, next - at);
      at = next;
      continue;
    }
    const std::size_t after = svg.find('>', at) + 1;
    const std::string tag = svg.substr(at, after - at);
    const char* closing = tag.starts_with("<title")    ? "</title>"
                          : tag.starts_with("<filter") ? "</filter>"
                                                       : nullptr;
    if (closing != nullptr) {
      at = svg.find(closing, at) + std::string_view(closing).size();
    } else {
      drawing += restyled(tag, name);
      at = after;
    }
  }
  return drawing;
}

std::string file_style(const std::string& style) {
  return "svg{color:#1c2128;background:#fff}\n"
         "@media (prefers-color-scheme:dark){svg{color:#dfe3e8;background:#15181c}}\n" +
         style;
}

}  // namespace

std::string escape_markup(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default: {
        // XML forbids control characters, even escaped.
        const bool forbidden = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
        escaped += forbidden ? ' ' : c;
      }
    }
  }
  return escaped;
}

std::string figure_style() {
  std::string light, dark;
  const auto series = [](std::size_t i, const char* color) {
    return fmt::format(
        ".series{0}-line{{stroke:{1}}}.series{0}-mark{{color:{1}}}.series{0}-area{{fill:{1}}}\n",
        i + 1, color);
  };
  const auto css = [](const Rgb& color) {
    return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
  };
  const auto heat = [&](int step, const HeatRamp& ramp) {
    const Rgb color = ramp.at(step);
    return fmt::format(".heat{0}{{fill:{1}}}.heat{0}-text{{fill:{2}}}\n", step + 1, css(color),
                       css(text_color_on(color, step)));
  };
  for (std::size_t i = 0; i < kSeriesPalette.size(); ++i) {
    light += series(i, kSeriesPalette[i].light);
    dark += series(i, kSeriesPalette[i].dark);
  }
  for (int step = 0; step < kHeatSteps; ++step) {
    light += heat(step, kLightHeat);
    dark += heat(step, kDarkHeat);
  }
  return light + "@media (prefers-color-scheme:dark){\n" + dark + "}\n";
}

namespace {

template <typename AnyFigure>
std::string svg_element(const AnyFigure& figure, const std::string& drawing, SvgFor use) {
  const bool file = use == SvgFor::file;
  const FigureSize size = size_of(figure);
  return fmt::format(
      "<svg{} class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-labelledby=\"{}-title {}-desc\">\n"
      "<title id=\"{}-title\">{}</title>\n<desc id=\"{}-desc\">{}</desc>\n{}{}</svg>",
      file ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", size.width, size.height, figure.name,
      figure.name, figure.name, escape_markup(figure.title), figure.name, escape_markup(figure.alt),
      file ? "<style>\n" + file_style(figure_style()) + "</style>\n" : "", drawing);
}

template <typename AnyFigure>
DrawnFigure drawn(const AnyFigure& figure, const Plotter& plotter, SvgFor use) {
  check_figure(figure);
  const std::string script = gnuplot_script(figure);
  if (script.empty()) return {"", "it has no finite number to draw"};
  const PlotterOutput output = run_gnuplot(plotter, script);
  if (!output.problem.empty()) return {"", output.problem};
  const std::string drawing = drawing_of(output.text, figure.name);
  if (drawing.empty()) return {"", "gnuplot wrote no SVG"};
  return {svg_element(figure, drawing, use), ""};
}

template <typename AnyFigure>
std::string file_of(const AnyFigure& figure, const Plotter& plotter) {
  const DrawnFigure result = drawn(figure, plotter, SvgFor::file);
  if (!result.problem.empty()) {
    fail_file("report", "figure " + figure.name, "cannot be drawn: " + result.problem,
              "apt-get install gnuplot-nox");
  }
  return result.svg + "\n";
}

}  // namespace

DrawnFigure draw(const Figure& figure, const Plotter& plotter, SvgFor use) {
  return drawn(figure, plotter, use);
}
DrawnFigure draw(const Panel& panel, const Plotter& plotter, SvgFor use) {
  return drawn(panel, plotter, use);
}
DrawnFigure draw(const HeatMap& map, const Plotter& plotter, SvgFor use) {
  return drawn(map, plotter, use);
}
std::string svg_of(const Figure& figure, const Plotter& plotter) {
  return file_of(figure, plotter);
}
std::string svg_of(const Panel& panel, const Plotter& plotter) { return file_of(panel, plotter); }
std::string svg_of(const HeatMap& map, const Plotter& plotter) { return file_of(map, plotter); }

}  // namespace normlab
