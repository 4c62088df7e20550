// Writes the scripts and styles of report pages (dist/page.js, interactive.js, page.css) and of the twin's page (twin.html, twin.js, twin.css). `node build.mjs FOLDER` writes into another folder, for the test that compares.
import { build } from 'esbuild';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const to = process.argv[2] ?? join(here, 'dist');
mkdirSync(to, { recursive: true });

// The license of uPlot, which the bundle contains.
const license = readFileSync(join(here, 'node_modules/uplot/LICENSE'), 'utf8').trim();
const banner = `/*! oleodyn: script of report pages, Apache-2.0. Contains uPlot:\n${license}\n*/`;
// Properties of objects that only this script uses get short names, and so do the private ones of uPlot, which begin with "_". Names of the
// page's data, of the browser and of uPlot's options are not in the list.
const own = /^(isConcerned|showSelection|hoverAll|isShown|poses|toward|faint|onArrow|pieces|reach|camera|project|ofPart|hits|outline|edges|ghost|faces|rest|nearest|extremes|orbit|ofLines|include|travel|most|terms|changed|refresh|units|extra|_[a-zA-Z]+)$/;
// uPlot without dates, stepped curves, splines and functions for plugins, which charts do not use.
const unused = [/const FEAT_TIME *= true;/, /\(paths\.stepped *= stepped\);/, /\(paths\.spline *= monotoneCubic\);/, /uPlot\.fmtDate *= fmtDate;/, /uPlot\.tzDate *= tzDate;/,
  ...['assign', 'fmtNum', 'rangeLog', 'rangeAsinh', 'orient', 'sync', 'addGap', 'clipGaps'].map(name => RegExp(`uPlot\\.${name} *= *_?${name};`))];
const lean = { name: 'lean', setup: ({ onLoad }) => onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => {
  let contents = readFileSync(path, 'utf8');
  for (const [i, line] of unused.entries()) {
    if (!line.test(contents)) throw new Error(`uPlot has no ${line}`);
    contents = contents.replace(line, i ? '' : 'const FEAT_TIME = false;');
  }
  return { contents };
}) };
const common = { bundle: true, minify: true, format: 'iife', target: ['es2020', 'chrome100', 'firefox113', 'safari16.4'], write: false, legalComments: 'none', absWorkingDir: here, charset: 'utf8' };
const settings = { ...common, define: { LIVE: 'false' } };
const scriptOf = async options => (await build(options)).outputFiles[0].text;
const script = await scriptOf({ ...settings, entryPoints: [join(here, 'src/main.ts')], banner: { js: banner }, mangleProps: own, plugins: [lean] });
// The script stands in a page that is also XML.
for (const bad of [']]>', '</script', '<!--']) if (script.includes(bad)) throw new Error(`the script contains ${bad}`);
const size = Buffer.byteLength(script);
if (size > 120000) throw new Error(`the script has ${size} bytes; at most 120000 are allowed`);

// The style: "@dark { ... }" stands for both ways to the dark theme, the choice of the reader and the setting of the system.
const sourceOf = name => readFileSync(join(here, 'src', name), 'utf8').replace(/@dark \{([^}]*)\}/, (_, variables) =>
  `:root[data-theme=dark]{${variables}}@media screen and (prefers-color-scheme:dark){:root:not([data-theme]){${variables}}}`);
const uplot = readFileSync(join(here, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8');
const styleOf = async contents => (await build({ stdin: { contents, loader: 'css' }, minify: true, write: false, target: ['chrome100', 'firefox113', 'safari16.4'], charset: 'utf8' })).outputFiles[0].text;
const css = await styleOf(uplot + sourceOf('page.css'));
for (const bad of [']]>', '</style', '<!--']) if (css.includes(bad)) throw new Error(`the style contains ${bad}`);

// The script of pages that compute, with the script of its worker as a text.
const worker = await scriptOf({ ...settings, entryPoints: [join(here, 'src/engine_worker.ts')] });
const interactive = await scriptOf({ ...settings, entryPoints: [join(here, 'src/interactive.ts')], loader: { '.css': 'text' }, define: { ...settings.define, WORKER_SCRIPT: JSON.stringify(worker) },
  banner: { js: '/*! oleodyn: script of pages that compute, Apache-2.0 */' } });
for (const bad of [']]>', '</script', '<!--']) if (interactive.includes(bad)) throw new Error(`the script of pages that compute contains ${bad}`);

// The page of the twin. Its server allows no images in styles, so the signs of report pages are left out.
const twin = await scriptOf({ ...common, define: { LIVE: 'true' }, entryPoints: [join(here, 'src/twin/main.ts')], banner: { js: banner.replace('report pages', 'the twin') }, plugins: [lean] });
const twinCss = await styleOf(uplot + sourceOf('page.css').replace(/--(logo|sign):\s*url\("data:[^"]*"\);?/g, '') + sourceOf('twin/twin.css'));
const twinSize = Buffer.byteLength(twin);
if (twinSize > 200000) throw new Error(`the script of the twin has ${twinSize} bytes; at most 200000 are allowed`);
if (twinCss.includes('data:')) throw new Error('the style of the twin contains an image');

writeFileSync(join(to, 'twin.js'), twin);
writeFileSync(join(to, 'twin.css'), twinCss);
writeFileSync(join(to, 'twin.html'), readFileSync(join(here, 'src/twin/twin.html')));
writeFileSync(join(to, 'page.js'), script);
writeFileSync(join(to, 'interactive.js'), interactive);
writeFileSync(join(to, 'page.css'), css);
console.log(`page.js ${size} bytes, interactive.js ${interactive.length} bytes, page.css ${css.length} bytes, twin.js ${twinSize} bytes, twin.css ${twinCss.length} bytes`);
