'use strict';
const native = require('./native.js');
const { checkName } = require('./values.js');

const camel = (object) =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
  );

/** The name of an output. */
function entry(reference) {
  if (reference == null) throw new TypeError('name an output');
  return checkName('an output', reference);
}

/** The outputs in a directory; without one, those of the command line's own store. */
class Store {
  #archive;

  constructor(directory) {
    this.#archive = new native.Archive(checkName('directory', directory));
  }

  get directory() {
    return this.#archive.directory;
  }

  /** One bounded page: `{lines: '100:200'}`, `{bytes: '0:4096'}` or `{around: 1234}`. */
  async read(reference = 'last', options = {}) {
    const { content, report } = await this.#archive.read(entry(reference), JSON.stringify(options));
    return { content: content.toString(), ...camel(JSON.parse(report)) };
  }

  /** All of an output, byte for byte. */
  async cat(reference = 'last') {
    return this.#archive.cat(entry(reference));
  }

  /** Searches one output, or with `all` every one, for a regular expression. */
  async grep(pattern, reference = 'last', options = {}) {
    const asked = pattern instanceof RegExp ? { pattern: pattern.source, ignoreCase: pattern.ignoreCase } : { pattern };
    const query = JSON.stringify({ ...asked, ...options });
    const { hits, ...found } = JSON.parse(await this.#archive.grep(entry(reference), query));
    return { ...found, hits: hits.map(camel) };
  }

  /** Every output, the newest first. */
  async list() {
    return JSON.parse(await this.#archive.list()).map(camel);
  }

  async get(reference = 'last') {
    return camel(JSON.parse(await this.#archive.get(entry(reference))));
  }

  async pin(reference) {
    return this.#archive.pin(entry(reference), true);
  }

  async unpin(reference) {
    return this.#archive.pin(entry(reference), false);
  }

  async remove(reference) {
    return this.#archive.remove(entry(reference));
  }

  /** Removes what is older than so many days, of one profile or of all; says how many outputs went. */
  async clean(days, profile) {
    return this.#archive.clean(days, profile);
  }
}

module.exports = { Store };
