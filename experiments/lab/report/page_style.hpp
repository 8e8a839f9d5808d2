#pragma once

namespace normlab {

// The page's style sheet, without that of the figures. Widths are in rem and %, so that it holds on
// a phone; wide tables and commands scroll inside their own box.
inline constexpr const char* kPageStyle = R"(:root{color-scheme:light dark;
--paper:#fff;--ink:#1c2128;--soft:#57606a;--line:#d5dae0;--box:#f5f7f9}
@media (prefers-color-scheme:dark){:root{
--paper:#15181c;--ink:#dfe3e8;--soft:#9aa4ae;--line:#363d45;--box:#1e2328}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:78rem;padding:1.5rem 1rem 3rem;background:var(--paper);
color:var(--ink);font:1rem/1.55 system-ui,sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1.2rem;margin:2.2rem 0 .6rem}
h3{font-size:1rem;margin:0 0 .5rem}
p,li{max-width:48rem}
.scroll{overflow-x:auto}
pre{margin:0;padding:.7rem .9rem;background:var(--box);border:1px solid var(--line);
border-radius:6px;font-size:.9rem}
.notice{padding:.7rem .9rem;border-left:4px solid #D55E00;background:var(--box)}
.figures{display:grid;gap:1.2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}
figure{margin:0;padding:1rem;border:1px solid var(--line);border-radius:8px;min-width:0;
max-width:44rem}
figcaption{color:var(--soft);font-size:.92rem;margin-top:.6rem}
.wide{grid-column:1/-1;max-width:none}
.plot{display:block;width:100%;height:auto}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:0 0 .4rem;white-space:nowrap}
th,td{padding:.28rem .9rem .28rem 0;border-bottom:1px solid var(--line);text-align:left;
white-space:nowrap}
.long{white-space:normal;min-width:12rem}
thead th{color:var(--soft);font-weight:600}
tbody th{font-weight:400}
.table{margin:1.2rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem;margin:0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
@media (max-width:40rem){body{padding:1rem .7rem 2rem}figure{padding:.8rem .5rem}ul{padding-left:1.2rem}}
@media print{
:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--box:#fff}
body{max-width:none;padding:0;font-size:.85rem}
.scroll{overflow:visible}
.figures{grid-template-columns:1fr 1fr;gap:.6rem}
pre{white-space:pre-wrap}
h2,h3,h4,caption{break-after:avoid}
figure,tr,.notice{break-inside:avoid}
.scroll>div{min-width:0!important}
table{font-size:.7rem}
th,td{white-space:normal;padding-right:.5rem}
.long{min-width:0}
thead{display:table-header-group}
}
)";

}  // namespace normlab
