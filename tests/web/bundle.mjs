// The committed bundle is the one that the sources give; types are strict; licenses and lock file are complete.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { check, finish, pathOf, source, work } from './support.mjs';

const web = join(source, 'web'), read = (...path) => readFileSync(join(...path), 'utf8');
try {
  execFileSync(process.execPath, [join(pathOf('typescript'), '../tsc.js'), '--noEmit', '-p', web], { stdio: 'pipe' });
} catch (error) {
  check(false, `types: ${error.stdout}`);
}
execFileSync(process.execPath, [join(web, 'build.mjs'), work], { stdio: 'pipe' });
for (const name of ['page.js', 'interactive.js', 'page.css']) {
  check(readFileSync(join(work, name)).equals(readFileSync(join(web, 'dist', name))), `web/dist/${name} differs from the rebuilt file; run npm run build in web/`);
}
const script = read(web, 'dist/page.js'), license = read(web, 'node_modules/uplot/LICENSE').trim();
check(Buffer.byteLength(script) <= 120000, `page.js has ${Buffer.byteLength(script)} bytes`);
check(script.includes(license), 'page.js lacks the license of uPlot');
check(read(source, 'NOTICE').includes(license), 'NOTICE lacks the license of uPlot');
check(!/https?:\/\/(?!www\.w3\.org\/)/.test(script.replace(license, '')), 'page.js contains an address');
for (const file of readdirSync(join(web, 'src')).filter(f => f.endsWith('.ts'))) check(!/(\bas|:|<)\s*any\b/.test(read(web, 'src', file).replace(/\/\/.*/g, '')), `web/src/${file} uses the type any`);

const lock = JSON.parse(read(web, 'package-lock.json')), { dependencies, devDependencies } = JSON.parse(read(web, 'package.json'));
check(!/"resolved"|https?:/.test(JSON.stringify(lock)), 'package-lock.json names a registry');
for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
  check(/^\d+\.\d+\.\d+$/.test(version), `${name} has no exact version`);
  check(lock.packages[`node_modules/${name}`]?.version === version, `${name} differs in the lock file`);
}
finish();
