// The style sheet of a page and the cross-hair of its charts. Both are written into the page unchanged.
//
// The colors are from Okabe and Ito; color-blind readers can distinguish these colors. Estimate, truth and start also differ in
// their strokes, so that a grayscale print is readable.
#ifndef OD_REPORT_STYLE_H
#define OD_REPORT_STYLE_H

static const char page_colors[] =
    ":root{color-scheme:light dark;--page:#fff;--ink:#1b232e;--soft:#5a6573;--line:#cfd5dd;--grid:#e7eaef;"
    "--panel:#f6f7f9;--estimate:#0072b2;--truth:#1b232e;--start:#d55e00;--measured:#8f99a6;--shade:.2;--link:#005a8f;"
    "--good:#00795a;--doubt:#a86a00;--bad:#b3261e}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e8ed;--soft:#9ba6b3;--line:#3b444f;"
    "--grid:#272e37;--panel:#1b2027;--estimate:#56b4e9;--truth:#f2f4f7;--start:#e69f00;--measured:#74808d;--shade:.33;"
    "--link:#7cc4ee;--good:#3fbf95;--doubt:#e0a63a;--bad:#f28b82}}\n";

static const char page_layout[] =
    "*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0 auto;max-width:1560px;padding:0 clamp(14px,3vw,44px) 48px;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    "a{color:var(--link)}p,li,.notice{max-width:78ch}code{font-size:.94em}\n"
    ".kind{margin:28px 0 0;color:var(--soft);font-size:14px}h1{margin:2px 0 14px;font-size:28px;line-height:1.2}\n"
    "h2{margin:44px 0 10px;font-size:21px;line-height:1.25;scroll-margin-top:52px}"
    "h3{margin:26px 0 6px;font-size:16px}\n"
    "nav{position:sticky;top:0;z-index:2;margin:18px 0 0;padding:9px 0;background:var(--page);"
    "border-bottom:1px solid var(--line);white-space:nowrap;overflow-x:auto;font-size:14px}\n"
    "nav a{margin-right:20px;text-decoration:none}nav a:hover{text-decoration:underline}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;margin:10px 0;font-size:14px}"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\n"
    ".notice{margin:14px 0;padding:10px 16px;border-left:5px solid var(--tone);background:var(--panel)}"
    ".notice b{color:var(--tone)}.good{--tone:var(--good)}.doubt{--tone:var(--doubt)}.bad{--tone:var(--bad)}\n"
    "ul{margin:10px 0;padding-left:20px}li{margin:5px 0}\n"
    ".wide{overflow-x:auto;margin:12px 0}table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}"
    "th,td{padding:4px 11px;border-bottom:1px solid var(--grid);text-align:right;white-space:nowrap}"
    "thead th{border-bottom:1px solid var(--line);color:var(--soft);font-weight:600;vertical-align:bottom}"
    "tbody th{font-weight:500;position:sticky;left:0;background:var(--page)}"
    "th:first-child,.words{text-align:left}th:first-child{padding-left:0}td.marked{color:var(--bad);font-weight:600}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:2px 20px;margin:10px 0 4px;padding:0;font-size:14px;color:var(--soft)}"
    ".legend svg{width:30px;height:12px;margin-right:7px;vertical-align:-1px}\n";

static const char page_charts[] =
    ".figures{display:grid;gap:18px 26px;margin:10px 0;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr))}"
    ".figures.small{gap:14px 20px;grid-template-columns:repeat(auto-fill,minmax(min(100%,260px),1fr))}\n"
    "figure{margin:0;break-inside:avoid;min-width:0}figcaption{font-size:14px;font-weight:600;overflow-wrap:anywhere}"
    "figcaption span{color:var(--soft);font-weight:400}\n"
    ".chart{display:block;width:100%;height:auto;overflow:visible;touch-action:pan-y}"
    ".chart text{font-size:12px;fill:var(--soft)}.frame{fill:none;stroke:var(--line)}.grid{stroke:var(--grid)}"
    ".zero{stroke:var(--line)}path{fill:none;stroke-linejoin:round}\n"
    ".estimate{stroke:var(--estimate);stroke-width:1.7}.band{fill:var(--estimate);fill-opacity:var(--shade)}"
    ".truth{stroke:var(--truth);stroke-width:1.4;stroke-dasharray:5 3.5}"
    ".start{stroke:var(--start);stroke-width:1.4;stroke-dasharray:1.5 3;stroke-linecap:round}"
    ".measured{stroke:var(--measured);stroke-width:1.8;stroke-linecap:round;stroke-opacity:.6}"
    ".few{stroke-width:5;stroke-opacity:.9}"
    ".limit{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3}"
    ".series{stroke-width:1.6}.s0{stroke:var(--estimate)}.s1{stroke:var(--start);stroke-dasharray:6 3}"
    ".s2{stroke:#009e73}.s3{stroke:#cc79a7;stroke-dasharray:2 3}.s4{stroke:var(--truth);stroke-dasharray:9 3 2 3}"
    ".s5{stroke:var(--measured)}"
    ".point{fill:var(--page);stroke-width:1.7}\n"
    ".plot{position:relative}.hair{stroke:var(--soft);stroke-width:1}.readout{position:absolute;top:3px;right:4%;"
    "padding:1px 7px;border:1px solid var(--line);border-radius:4px;background:var(--page);font-size:12.5px;"
    "font-variant-numeric:tabular-nums;white-space:pre-wrap;pointer-events:none}.readout:empty{display:none}\n"
    "footer{margin-top:48px;padding-top:10px;border-top:1px solid var(--line);color:var(--soft);font-size:13px}\n"
    "@media(max-width:640px){body{font-size:15px}h1{font-size:23px}h2{font-size:19px}.chart text{font-size:14px}"
    ".small .chart text{font-size:11px}"
    "th,td{padding:4px 8px}}\n"
    "@media print{nav,.readout{display:none}body{max-width:none;padding:0;font-size:11pt}h2,h3,.legend{break-after:avoid}"
    ".figures{grid-template-columns:repeat(2,1fr)}.figures.small{grid-template-columns:repeat(3,1fr)}"
    ".wide{overflow:visible}table{font-size:8.5pt}th,td{padding:2px 5px}a{color:inherit}}\n";

// The script shows the values of a chart at the pointer. The script reads these values from the paths. The attribute data-frame
// contains the frame and the scales: x, y, width, height, then low and high of both axes. For a band, the values are the
// intersections of the band with a vertical line.
static const char page_script[] =
    "document.querySelectorAll('figure').forEach(function(figure){\n"
    "  var chart=figure.querySelector('.chart'),out=figure.querySelector('.readout'),hair=null;\n"
    "  var f=chart.dataset.frame.split(' ').map(Number),units=[chart.dataset.x,chart.dataset.y];\n"
    "  var paths=Array.from(chart.querySelectorAll('path[data-name]')).map(function(p){\n"
    "    return{name:p.dataset.name,band:p.classList.contains('band'),pieces:p.getAttribute('d').split('M').slice(1)"
    ".map(function(d){return d.replace('Z','').split('L').map(function(q){return q.split(' ').map(Number)})})}});\n"
    "  function cuts(path,x){var ys=[];path.pieces.forEach(function(q){for(var i=1;i<q.length;i++){"
    "var a=q[i-1],b=q[i];if(a[0]!==b[0]&&(a[0]-x)*(b[0]-x)<=0)ys.push(a[1]+(b[1]-a[1])*(x-a[0])/(b[0]-a[0]))}});"
    "return ys}\n"
    "  function value(y){return f[7]-(y-f[1])/f[3]*(f[7]-f[6])}\n"
    "  function text(v,span){var d=Math.max(0,Math.min(9,2-Math.floor(Math.log10(span))));"
    "return v.toFixed(d).replace('-','\\u2212')}\n"
    "  chart.addEventListener('pointermove',function(e){\n"
    "    var box=chart.getBoundingClientRect(),x=(e.clientX-box.left)/box.width*chart.viewBox.baseVal.width;\n"
    "    if(x<f[0]||x>f[0]+f[2])return;\n"
    "    if(!hair){hair=document.createElementNS('http://www.w3.org/2000/svg','path');"
    "hair.setAttribute('class','hair');chart.appendChild(hair)}\n"
    "    hair.setAttribute('d','M'+x+' '+f[1]+'v'+f[3]);\n"
    "    var half='',parts=[text(f[4]+(x-f[0])/f[2]*(f[5]-f[4]),(f[5]-f[4])/10)+units[0]];\n"
    "    paths.forEach(function(p){var ys=cuts(p,x),s=f[7]-f[6];if(!ys.length)return;\n"
    "      if(p.band){half=' \\u00b1 '+text((Math.max.apply(0,ys)-Math.min.apply(0,ys))/2/f[3]*s,s);return}\n"
    "      parts.push(p.name+' '+text(value(ys[0]),s)+(p.name==='estimate'?half:'')+units[1])});\n"
    "    out.textContent=parts.join('   ')});\n"
    "  chart.addEventListener('pointerleave',function(){if(hair)hair.remove();hair=null;out.textContent=''});\n"
    "});\n";

#endif
