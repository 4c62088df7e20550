// Checks that count, and modules of the page for Node.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const [source, program, work] = process.argv.slice(2);
const require = createRequire(join(source, 'web/package.json'));
export const fromPackage = name => require(name);
export const pathOf = name => require.resolve(name);

let wrong = 0, checked = 0;
export function check(good, text) {
  checked++;
  if (good) return;
  wrong++;
  console.error(`wrong: ${text}`);
}
export function near(value, expected, tolerance, text) {
  check(Math.abs(value - expected) <= tolerance, `${text}: ${value}, expected ${expected} within ${tolerance}`);
}
export function finish() {
  console.log(`${checked} checks, ${wrong} wrong`);
  process.exit(wrong ? 1 : 0);
}
// Exports of files of web/src, bundled for Node.
export async function modules(...files) {
  const contents = files.map(f => `export * from ${JSON.stringify('./' + f)};`).join('\n'), outfile = join(work, files.join('-').replace(/\W+/g, '-') + '.mjs');
  await fromPackage('esbuild').build({ stdin: { contents, resolveDir: join(source, 'web/src'), loader: 'ts' }, define: { LIVE: 'false' }, bundle: true, format: 'esm', outfile, logLevel: 'error' });
  return import(pathToFileURL(outfile));
}
