'use strict';

const WHOLE = Object.freeze({ truncated: false, gaps: [] });

/** What the model gets, and what is known about the rest. */
class Cut {
  #json;
  #report;

  constructor(content, report) {
    this.content = content;
    this.#json = report;
  }

  /** The complete report, as plain data. */
  get report() {
    this.#report ??= this.#json ? JSON.parse(this.#json) : WHOLE;
    return this.#report;
  }

  get truncated() {
    return this.#json !== undefined && this.report.truncated;
  }

  get saved() {
    return this.report.saved;
  }

  get id() {
    return this.report.id;
  }

  get error() {
    return this.report.error;
  }

  get original() {
    return this.report.original;
  }

  get shown() {
    return this.report.shown;
  }

  get removed() {
    return this.report.removed;
  }

  get limitedBy() {
    return this.report.limited_by;
  }

  get gaps() {
    return this.report.gaps.map(({ start, end, first_line: firstLine, last_line: lastLine, why }) => {
      return { start, end, firstLine, lastLine, why };
    });
  }

  toString() {
    return String(this.content);
  }

  toJSON() {
    const { truncated, saved, id, error, original, shown, removed, limitedBy, gaps } = this;
    return { content: String(this), truncated, saved, id, error, original, shown, removed, limitedBy, gaps };
  }
}

module.exports = { Cut };
