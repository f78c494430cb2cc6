// Builds the native library with cargo and copies it into the package.
'use strict';
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const here = path.join(__dirname, '..');
const manifest = path.join(here, 'Cargo.toml');
const target = path.join(here, 'offcut.node');
if (!fs.existsSync(manifest)) {
  // A published package has no sources; it contains the library.
  process.exit(fs.existsSync(target) ? 0 : 1);
}
const profile = process.env.OFFCUT_PROFILE ?? 'release';
execFileSync('cargo', ['build', '--profile', profile, '--manifest-path', manifest], { stdio: 'inherit' });
const metadata = execFileSync('cargo', ['metadata', '--no-deps', '--format-version', '1', '--manifest-path', manifest]);
const folder = path.join(JSON.parse(metadata).target_directory, profile === 'dev' ? 'debug' : profile);
const built = process.platform === 'darwin' ? 'liboffcut_node.dylib' : 'liboffcut_node.so';
// Another process may have loaded the old file, so it is replaced, not overwritten.
const fresh = `${target}.${process.pid}`;
fs.copyFileSync(path.join(folder, built), fresh);
fs.renameSync(fresh, target);
