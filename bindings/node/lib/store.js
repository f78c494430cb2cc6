'use strict';
const native = require('./native.js');
const { checkName } = require('./values.js');

const camel = (object) =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
  );

/** Checks a reference to an output. */
function entry(reference) {
  if (reference == null) throw new TypeError('a reference to an output is required');
  return checkName('the reference', reference);
}

/** The outputs in a directory; without a directory, those in the command line's store. */
class Store {
  #archive;

  constructor(directory) {
    this.#archive = new native.Archive(checkName('directory', directory));
  }

  get directory() {
    return this.#archive.directory;
  }

  /** Returns one bounded page: `{lines: '100:200'}`, `{bytes: '0:4096'}` or `{around: 1234}`. */
  async read(reference = 'last', options = {}) {
    const { content, report } = await this.#archive.read(entry(reference), JSON.stringify(options));
    return { content: content.toString(), ...camel(JSON.parse(report)) };
  }

  /** Returns all of an output, byte for byte. */
  async cat(reference = 'last') {
    return this.#archive.cat(entry(reference));
  }

  /** Searches one output, or every output with `all`, for a regular expression. */
  async grep(pattern, reference = 'last', options = {}) {
    const asked = pattern instanceof RegExp ? { pattern: pattern.source, ignoreCase: pattern.ignoreCase } : { pattern };
    const query = JSON.stringify({ ...asked, ...options });
    const { hits, ...found } = JSON.parse(await this.#archive.grep(entry(reference), query));
    return { ...found, hits: hits.map(camel) };
  }

  /** Returns every output, the newest first. */
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

  /** Removes outputs older than this many days, of one profile or of all; returns how many were removed. */
  async clean(days, profile) {
    return this.#archive.clean(days, profile);
  }
}

module.exports = { Store };
