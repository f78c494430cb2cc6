'use strict';
const native = require('./native.js');

const camel = (object) =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
  );

/** The outputs in a directory; without one, those of the command line's own store. */
class Store {
  #archive;

  constructor(directory) {
    this.#archive = new native.Archive(directory);
  }

  get directory() {
    return this.#archive.directory;
  }

  /** One bounded page: `{lines: '100:200'}`, `{bytes: '0:4096'}` or `{around: 1234}`. */
  async read(reference = 'last', options = {}) {
    const { content, report } = await this.#archive.read(reference, JSON.stringify(options));
    return { content: content.toString(), ...camel(JSON.parse(report)) };
  }

  /** All of an output, byte for byte. */
  async cat(reference = 'last') {
    return this.#archive.cat(reference);
  }

  /** Searches one output, or with `all` every one, for a regular expression. */
  async grep(pattern, reference = 'last', options = {}) {
    const query = JSON.stringify({ ...options, pattern: pattern instanceof RegExp ? pattern.source : pattern });
    const { hits, ...found } = JSON.parse(await this.#archive.grep(reference, query));
    return { ...found, hits: hits.map(camel) };
  }

  /** Every output, the newest first. */
  async list() {
    return JSON.parse(await this.#archive.list()).map(camel);
  }

  async get(reference = 'last') {
    return camel(JSON.parse(await this.#archive.get(reference)));
  }

  async pin(reference) {
    return this.#archive.pin(reference, true);
  }

  async unpin(reference) {
    return this.#archive.pin(reference, false);
  }

  async remove(reference) {
    return this.#archive.remove(reference);
  }

  /** Removes what is older than so many days, of one profile or of all; says how many outputs went. */
  async clean(days, profile) {
    return this.#archive.clean(days, profile);
  }
}

module.exports = { Store };
