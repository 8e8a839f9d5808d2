// gnuplot's SVG, made fit for a page: colours by class, ids that are the figure's own, alt text.
// Tested by tests/experiments/lab/report/figure_test.cpp.
#include "experiments/lab/report/figure_svg.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "experiments/lab/report/figure_colors.hpp"

namespace normlab {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// "#0072B2" as gnuplot writes it: "rgb(  0, 114, 178)".
std::string as_rgb(std::string_view hex) {
  int parts[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const char* first = hex.data() + 1 + 2 * i;
    std::from_chars(first, first + 2, parts[i], 16);
  }
  return fmt::format("rgb({:3}, {:3}, {:3})", parts[0], parts[1], parts[2]);
}

// A class overrides the colour that stands there, which stays for viewers without style sheets.
void add_color_class(std::string& tag) {
  for (std::size_t i = 0; i < kSeriesPalette.size(); ++i) {
    const std::string color = "'" + as_rgb(kSeriesPalette[i].light) + "'";
    const std::size_t at = tag.find(color);
    if (at == std::string::npos) continue;
    const std::string_view before = std::string_view(tag).substr(0, at);
    const char* what = before.ends_with("stroke=")  ? "line"
                       : before.ends_with("color=") ? "mark"
                                                    : "area";
    tag.insert(at + color.size(), fmt::format(" class='series{}-{}'", i + 1, what));
    return;
  }
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
  for (std::size_t i = 0; i < kSeriesPalette.size(); ++i) {
    const auto rules = [&](const char* color) {
      return fmt::format(
          ".series{0}-line{{stroke:{1}}}.series{0}-mark{{color:{1}}}.series{0}-area{{fill:{1}}}\n",
          i + 1, color);
    };
    light += rules(kSeriesPalette[i].light);
    dark += rules(kSeriesPalette[i].dark);
  }
  return light + "@media (prefers-color-scheme:dark){\n" + dark + "}\n";
}

DrawnFigure gnuplot_drawing(const std::string& script, const std::string& ids,
                            const Plotter& plotter) {
  const PlotterOutput output = run_gnuplot(plotter, script);
  if (!output.problem.empty()) return {"", output.problem};
  const std::string drawing = drawing_of(output.text, ids);
  return {drawing, drawing.empty() ? "gnuplot wrote no SVG" : ""};
}

std::string svg_element(const SvgParts& parts, SvgFor use) {
  const bool file = use == SvgFor::file;
  return fmt::format(
      "<svg{} class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-labelledby=\"{}-title {}-desc\">\n"
      "<title id=\"{}-title\">{}</title>\n<desc id=\"{}-desc\">{}</desc>\n{}{}</svg>",
      file ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", parts.size.width, parts.size.height,
      parts.name, parts.name, parts.name, escape_markup(parts.title), parts.name,
      escape_markup(parts.alt), file ? "<style>\n" + file_style(parts.style) + "</style>\n" : "",
      parts.drawing);
}

DrawnFigure draw(const Figure& figure, const Plotter& plotter, SvgFor use) {
  check_figure(figure);
  const std::string script = gnuplot_script(figure);
  if (script.empty()) return {"", "it has no finite number to draw"};
  const DrawnFigure drawing = gnuplot_drawing(script, figure.name, plotter);
  if (!drawing.problem.empty()) return drawing;
  return {svg_element(
              {figure.name, figure.title, figure.alt, size_of(figure), figure_style(), drawing.svg},
              use),
          ""};
}

std::string svg_of(const Figure& figure, const Plotter& plotter) {
  const DrawnFigure drawn = draw(figure, plotter, SvgFor::file);
  check_drawn(figure.name, drawn.problem);
  return drawn.svg + "\n";
}

}  // namespace normlab
