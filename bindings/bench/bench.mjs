// Cuts 100 MB from Node, compared with the source documents' algorithm in plain JavaScript. Prints rows of a table.
import { createRequire } from 'node:module';

const { Truncator } = createRequire(import.meta.url)('../node/index.js');

function log(size) {
  const two = (number) => String(number % 60).padStart(2, '0');
  const lines = Array.from({ length: 100_000 }, (_, number) =>
    `2026-01-01T00:00:${two(number)}.000Z INFO  worker-${number % 8} handled request ${String(number).padStart(7, '0')} in 12 ms, 200 OK, 5120 bytes sent\n`);
  const block = lines.join('');
  // Through a Buffer, so that the string is flat, like one that came from a process.
  return Buffer.from(block.repeat(Math.ceil(size / block.length)).slice(0, size)).toString('latin1');
}

// The algorithm of opencode (seed 001) and the coding agent (seed 000).
function plain(text, maxLines = 2000, maxBytes = 51_200) {
  const lines = text.split('\n');
  const total = Buffer.byteLength(text, 'utf-8');
  if (lines.length <= maxLines && total <= maxBytes) return text;
  const kept = [];
  let size = 0;
  let hit = false;
  for (let at = 0; at < lines.length && at < maxLines; at += 1) {
    const cost = Buffer.byteLength(lines[at], 'utf-8') + (at > 0 ? 1 : 0);
    if (size + cost > maxBytes) {
      hit = true;
      break;
    }
    kept.push(lines[at]);
    size += cost;
  }
  const removed = hit ? total - size : lines.length - kept.length;
  return `${kept.join('\n')}\n\n...${removed} ${hit ? 'bytes' : 'lines'} truncated...`;
}

async function best(run, times) {
  let least = Infinity;
  for (let count = 0; count < times; count += 1) {
    const start = performance.now();
    await run();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

const text = log(100_000_000);
const data = Buffer.from(text);
const truncator = new Truncator({ profile: 'opencode', store: null });
let fine = true;
const rows = [];
for (const [name, theirs, ours, least] of [
  ['opencode, `Buffer`', () => plain(data.toString('utf8')), () => truncator.cutSync(data), 20],
  ['opencode, `Buffer`, promise', () => plain(data.toString('utf8')), () => truncator.cut(data), 0],
  ['opencode, `string`', () => plain(text), () => truncator.cutSync(text), 5],
]) {
  // Alternate, so that both run under the same load.
  let [before, after] = [Infinity, Infinity];
  for (let round = 0; round < 8; round += 1) {
    before = Math.min(before, await best(theirs, 1));
    after = Math.min(after, await best(ours, 4));
  }
  rows.push(`| Node | ${name} | ${before.toFixed(0)} ms | ${after.toFixed(1)} ms | ${(before / after).toFixed(1)}× | ${least ? `${least}×` : 'none'} |`);
  fine &&= before / after >= least;
}
const smallRows = [];
const native = new Truncator({ store: null });
for (const [name, output, empty] of [['4 KB `string`', log(4096), ''], ['4 KB `Buffer`', Buffer.from(log(4096)), Buffer.alloc(0)]]) {
  const each = async (value) => (await best(() => {
    for (let count = 0; count < 20_000; count += 1) native.cutSync(value, { tool: 'bash' });
  }, 7)) / 20_000 * 1e3;
  await each(empty);
  const [call, all] = [await each(empty), await each(output)];
  smallRows.push(`| Node | ${name} | ${call.toFixed(2)} µs | ${all.toFixed(2)} µs | ${Math.max(all - call, 0).toFixed(2)} µs | 2 µs |`);
  fine &&= all - call < 2;
}
const wanted = { large: rows, small: smallRows }[process.argv[2]] ?? [...rows, ...smallRows];
console.log(wanted.join('\n'));
process.exitCode = fine ? 0 : 1;
