// Writes dist/page.js, dist/interactive.js and dist/page.css. `node build.mjs FOLDER` writes into another folder, for the test that compares.
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
const own = /^(isConcerned|showSelection|hoverAll|isShown|poses|toward|faint|onArrow|pieces|reach|camera|project|ofPart|hits|outline|edges|ghost|faces|rest|nearest|extremes|orbit|ofLines|include|volume|terms|_[a-zA-Z]+)$/;
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
const bundle = await build({
  entryPoints: [join(here, 'src/main.ts')], bundle: true, minify: true, format: 'iife', target: ['es2020', 'chrome100', 'firefox113', 'safari16.4'],
  write: false, legalComments: 'none', banner: { js: banner }, absWorkingDir: here, charset: 'utf8', mangleProps: own, plugins: [lean],
});
const script = bundle.outputFiles[0].text;
// The script stands in a page that is also XML.
for (const bad of [']]>', '</script', '<!--']) if (script.includes(bad)) throw new Error(`the script contains ${bad}`);
const size = Buffer.byteLength(script);
if (size > 120000) throw new Error(`the script has ${size} bytes; at most 120000 are allowed`);

// The style: "@dark { ... }" stands for both ways to the dark theme, the choice of the reader and the setting of the system.
const source = readFileSync(join(here, 'src/page.css'), 'utf8').replace(/@dark \{([^}]*)\}/, (_, variables) =>
  `:root[data-theme=dark]{${variables}}@media screen and (prefers-color-scheme:dark){:root:not([data-theme]){${variables}}}`);
const uplot = readFileSync(join(here, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8');
const style = await build({ stdin: { contents: uplot + source, loader: 'css' }, minify: true, write: false, target: ['chrome100', 'firefox113', 'safari16.4'], charset: 'utf8' });
const css = style.outputFiles[0].text;
for (const bad of [']]>', '</style', '<!--']) if (css.includes(bad)) throw new Error(`the style contains ${bad}`);

// The script of pages that compute, with the script of its worker as a text.
const settings = { bundle: true, minify: true, format: 'iife', target: ['es2020', 'chrome100', 'firefox113', 'safari16.4'], write: false, legalComments: 'none', absWorkingDir: here, charset: 'utf8' };
const worker = (await build({ ...settings, entryPoints: [join(here, 'src/engine_worker.ts')] })).outputFiles[0].text;
const interactive = (await build({ ...settings, entryPoints: [join(here, 'src/interactive.ts')], loader: { '.css': 'text' }, define: { WORKER_SCRIPT: JSON.stringify(worker) },
  banner: { js: '/*! oleodyn: script of pages that compute, Apache-2.0 */' } })).outputFiles[0].text;
for (const bad of [']]>', '</script', '<!--']) if (interactive.includes(bad)) throw new Error(`the script of pages that compute contains ${bad}`);

writeFileSync(join(to, 'page.js'), script);
writeFileSync(join(to, 'interactive.js'), interactive);
writeFileSync(join(to, 'page.css'), css);
console.log(`page.js ${size} bytes, interactive.js ${interactive.length} bytes, page.css ${css.length} bytes`);
