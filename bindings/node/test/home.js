'use strict';
// A separate store for every test file.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'offcut-node-'));
fs.mkdirSync(path.join(home, 'data'), { mode: 0o700 });
process.env.XDG_DATA_HOME = path.join(home, 'data');
process.on('exit', () => fs.rmSync(home, { recursive: true, force: true }));

const log = Array.from({ length: 20_000 }, (_, number) => `line ${number}\n`).join('');
let count = 0;
/** Returns the path of a directory that does not exist yet. */
const fresh = () => path.join(home, `fresh-${(count += 1)}`);

module.exports = { fresh, home, log };
