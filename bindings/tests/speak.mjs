// Runs one action in Node and prints its result as JSON, for tests in Python.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';

const module = process.env.OFFCUT_NODE_MODULE;
const offcut = createRequire(import.meta.url)(module);
const [action, directory, ...rest] = process.argv.slice(2);

const actions = {
  async cut() {
    const { text, profile, tool } = JSON.parse(readFileSync(0, 'utf8'));
    const truncator = new offcut.Truncator({ store: directory, reach: 'shell', profile });
    const { content, id, saved } = await truncator.cut(text, { tool });
    return { content, id, saved };
  },
  async cat(reference) {
    return (await new offcut.Store(directory).cat(reference)).toString('base64');
  },
  async list() {
    return new offcut.Store(directory).list();
  },
  async grep(pattern) {
    return new offcut.Store(directory).grep(pattern, 'all');
  },
  async workers(count) {
    const code = `
      const { parentPort, workerData } = require('node:worker_threads');
      const { Truncator } = require(workerData.module);
      new Truncator({ store: workerData.directory })
        .cut(('node ' + workerData.number + '\\n').repeat(5000), { tool: 'node' })
        .then((cut) => parentPort.postMessage(cut.id));`;
    const start = (_, number) => new Worker(code, { eval: true, workerData: { module, directory, number } });
    const workers = Array.from({ length: Number(count) }, start);
    return Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  },
};

console.log(JSON.stringify(await actions[action](...rest)));
