'use strict';
const { Transform } = require('node:stream');
const { Cut } = require('./cut.js');
const { ask, runLater, runNow, work } = require('./flow.js');
const native = require('./native.js');
const { Store } = require('./store.js');
const { checkOutput, describe, nativeCall, reason } = require('./values.js');

// Texts are encoded in slices, into one buffer that stays in the processor's cache: several times faster than at once.
const SLICE = 256 * 1024;
const scratch = Buffer.allocUnsafeSlow(3 * SLICE);

/** What a store of the caller's own is given beside the usual context. */
const CONTEXT = Symbol('context');

/** Encodes a text slice by slice; each is taken before the next is made. */
function encode(text, take) {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + SLICE, text.length);
    // Both halves of a character stay together.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
    take(scratch, scratch.utf8Write(text.slice(at, end), 0));
    at = end;
  }
}

function storeName(store) {
  if (store === undefined) return undefined;
  if (store === null) return 'none';
  if (store instanceof Store) return store.directory;
  if (typeof store === 'string') return store;
  throw new TypeError('a store is a path, a Store, null or has a method save');
}

/** Bounds tool outputs. */
class Truncator {
  #engine;
  #store;
  #strategy;
  #decide;
  #onEvent;
  #plain;

  constructor(options) {
    if (options != null && typeof options !== 'object') throw new TypeError(`options are an object, not ${typeof options}`);
    const { store, strategy, decide, onEvent, ...rest } = options ?? {};
    this.#store = typeof store?.save === 'function' ? store : undefined;
    this.#strategy = typeof strategy === 'function' ? strategy : undefined;
    this.#decide = decide;
    this.#onEvent = onEvent;
    this.#plain = !this.#store && !this.#strategy && !onEvent && !decide;
    const described = {
      ...rest,
      store: this.#store ? undefined : storeName(store),
      strategy: this.#strategy ? undefined : strategy,
      foreign_store: this.#store !== undefined,
      foreign_strategy: this.#strategy !== undefined,
      events: onEvent !== undefined,
    };
    this.#engine = new native.Engine(describe(described));
  }

  get profile() {
    return this.#engine.profile;
  }

  /** Bounds an output, on another thread. A Buffer must not be changed or transferred meanwhile. */
  async cut(output, call) {
    return runLater(this.#cutting(checkOutput(output), call));
  }

  /** Bounds an output here and now. */
  cutSync(output, call) {
    output = checkOutput(output);
    if (this.#plain) {
      const reply = this.#cutNow(output, nativeCall(call));
      return reply ? new Cut(reply.content, reply.report) : new Cut(output);
    }
    return runNow(this.#cutting(output, call));
  }

  /** Bounds the text in a tool result of any known shape; what does not change is the same object. */
  async result(value, call) {
    return (await runLater(this.#judging(value, call))).value;
  }

  resultSync(value, call) {
    return runNow(this.#judging(value, call)).value;
  }

  /** Bounds a tool result and tells what became of it. */
  async judge(value, call) {
    return runLater(this.#judging(value, call));
  }

  /** Bounds whatever a tool returned: text is cut, results are bounded, other objects are cut as JSON if that is too long. */
  async bound(value, call) {
    if (typeof value === 'string' || value instanceof Uint8Array) return (await this.cut(value, call)).content;
    if (value === null || typeof value !== 'object') return value;
    let json;
    try {
      json = JSON.stringify(value);
    } catch {
      // The tool has done its work: what JSON cannot say must not cost its result.
    }
    if (json === undefined) return value;
    const decided = this.#decided(value, call);
    const judged = await runLater(this.#judgingJson(value, json, decided));
    if (judged.results.length > 0) return judged.value;
    const cut = await runLater(this.#cuttingText(json, decided));
    return cut.truncated ? cut.content : value;
  }

  /** A tool function whose result is bounded. */
  tool(execute, call = {}) {
    const truncator = this;
    const named = { tool: execute.name || undefined, ...call };
    return async function bounded(...inputs) {
      return truncator.bound(await execute.apply(this, inputs), named);
    };
  }

  /** A stream that takes an output in and gives its preview out. */
  transform(call) {
    return new OffcutTransform(this, call);
  }

  #cutNow(output, call) {
    if (typeof output !== 'string') return this.#engine.cutSync(output, call);
    if (output.length <= SLICE) return this.#engine.cutSync(scratch, call, scratch.utf8Write(output, 0));
    const spool = this.#engine.spool(call);
    encode(output, (bytes, length) => spool.write(bytes, length));
    return spool.finishSync({ text: true });
  }

  #cutLater(output, call) {
    // Memory that can be taken away, or is somebody else's too, must not be read on another thread.
    const isFixed = typeof output !== 'string' && output.buffer instanceof ArrayBuffer && !output.buffer.resizable;
    if (typeof output !== 'string') return this.#engine.cut(isFixed ? output : Buffer.from(output), call);
    const text = new native.Text(output.length);
    encode(output, (bytes, length) => text.push(bytes, length));
    return this.#engine.cut(text, call);
  }

  #cutting(output, call) {
    return this.#cuttingText(output, this.#decided(output, call));
  }

  *#cuttingText(output, call) {
    const round = (given) => {
      const described = nativeCall(call, given);
      return work(
        () => this.#cutNow(output, described),
        () => this.#cutLater(output, described),
      );
    };
    let reply = yield round();
    if (reply?.saves) {
      reply = yield round(yield* this.asking(reply.saves.length ? [output] : [], reply.report, call));
    }
    return this.told(reply, output);
  }

  #judging(value, call) {
    const json = typeof value === 'string' ? value : JSON.stringify(value);
    if (json === undefined) throw new TypeError(`a result is an object, an array or JSON text, not ${typeof value}`);
    return this.#judgingJson(value, json, this.#decided(value, call));
  }

  *#judgingJson(value, json, call) {
    const round = (given) => {
      const described = nativeCall(call, given);
      return work(() => this.#engine.resultSync(json, described), () => this.#engine.result(json, described));
    };
    let reply = yield round();
    if (reply.saves) {
      const texts = reply.saves.map((save) => save.toString());
      reply = yield round(yield* this.asking(texts, reply.report, call));
    }
    this.tell(reply.report);
    const changed = typeof reply.json === 'string';
    return {
      value: changed ? (typeof value === 'string' ? reply.json : JSON.parse(reply.json)) : value,
      results: JSON.parse(reply.results),
    };
  }

  /** Asks the caller's own store and strategy; the store first, so that nothing is lost if the other fails. */
  *asking(saves, report, call) {
    const given = yield* this.keeping(saves, call);
    return { ...given, ...(yield* this.making(report)) };
  }

  *keeping(saves, call) {
    if (!this.#store) return {};
    const { tool, callId, session } = call ?? {};
    const context = call?.[CONTEXT] ?? { tool, callId, session };
    const saved = [];
    for (const content of saves) {
      try {
        const place = yield ask(() => this.#store.save(content, context));
        saved.push(place == null ? { error: 'the store returned no path' } : { path: String(place) });
      } catch (error) {
        // A store that fails costs nobody the output: the notice says so.
        saved.push({ error: reason(error) });
      }
    }
    return { saved };
  }

  *making(report) {
    if (!this.#strategy) return {};
    const made = [];
    for (const { text, limits } of JSON.parse(report).wanted ?? []) {
      const shown = yield ask(() => this.#strategy(text, limits));
      if (typeof shown !== 'string') throw new TypeError(`the strategy must return a string, not ${typeof shown}`);
      made.push(shown);
    }
    return { made };
  }

  told(reply, output) {
    if (!reply) return new Cut(output);
    this.tell(reply.report);
    return reply.content == null ? new Cut(output) : new Cut(reply.content, reply.report);
  }

  tell(report) {
    if (this.#onEvent && report) for (const event of JSON.parse(report).events) this.#onEvent(event);
  }

  spool(call) {
    return this.#engine.spool(nativeCall(call));
  }

  /** The end of a spool, with the questions there are. */
  *finishing(spool, call, ending) {
    const finish = (given) => {
      const options = given && describe(given);
      return work(undefined, () => spool.finish({ ...ending, whole: true, options }));
    };
    let reply = yield finish();
    let failed;
    if (reply?.saves) {
      const given = yield* this.keeping(ending.text ? reply.saves.map(String) : reply.saves, call);
      try {
        Object.assign(given, yield* this.making(reply.report));
      } catch (error) {
        // With the exception the output would be lost, so it is kept first, and cut without the strategy.
        failed = { error };
        given.made = JSON.parse(reply.report).wanted.map(() => '');
      }
      const { tool, callId, session, ...options } = call ?? {};
      reply = yield finish({ ...options, ...given });
    }
    if (reply.report) this.tell(reply.report);
    if (failed) throw failed.error;
    return new Cut(reply.content, reply.report ?? undefined);
  }

  #decided(value, call) {
    if (!this.#decide) return call;
    const decision = this.#decide(call?.tool, value);
    if (decision !== null && typeof decision === 'object') return { ...call, ...decision };
    return decision ? call : { ...call, skip: true };
  }
}

/**
 * A stream that takes an output in and gives its preview out; `cut` tells of it from the event `cut` on. What came until it
 * was destroyed is kept, too.
 */
class OffcutTransform extends Transform {
  #truncator;
  #call;
  #spool;
  #end;
  /** Set these before the stream ends. */
  exitCode;
  remark;
  cut;

  constructor(truncator, call) {
    super();
    this.#truncator = asTruncator(truncator);
    this.#call = call;
    this.#spool = this.#truncator.spool(call);
  }

  _transform(chunk, encoding, done) {
    try {
      this.#spool.write(chunk);
    } catch (error) {
      return done(error);
    }
    done();
  }

  _flush(done) {
    const shown = this.#finish().then((cut) => {
      this.emit('cut', cut);
      return cut.content;
    });
    // What listeners throw from here on is theirs, not this promise's.
    const next = (...told) => process.nextTick(done, ...told);
    shown.then((content) => next(null, content), next);
  }

  _destroy(error, done) {
    const end = () => done(error);
    this.#finish().then(end, end);
  }

  /** Once, whether the stream ends or is destroyed. */
  #finish() {
    this.#end ??= this.#finishing();
    return this.#end;
  }

  async #finishing() {
    // A process that a signal ended has no exit code.
    const exitCode = Number.isInteger(this.exitCode) ? this.exitCode : undefined;
    const remark = this.remark == null ? undefined : String(this.remark);
    this.cut = await runLater(this.#truncator.finishing(this.#spool, this.#call, { exitCode, remark }));
    return this.cut;
  }
}

/** A truncator, or the options of one. */
const asTruncator = (chosen) => (chosen instanceof Truncator ? chosen : new Truncator(chosen));

let shared;
function own() {
  shared ??= new Truncator();
  return shared;
}

function split(options) {
  if (!options || (options.profile === undefined && options.store === undefined)) return [own(), options];
  const { profile, store, ...call } = options;
  return [new Truncator({ profile, store }), call];
}

/** Bounds an output, on another thread. */
async function cut(output, options) {
  const [truncator, call] = split(options);
  return truncator.cut(output, call);
}

/** Bounds an output here and now. */
function cutSync(output, options) {
  const [truncator, call] = split(options);
  return truncator.cutSync(output, call);
}

/** Bounds the text in a tool result of any known shape. */
async function result(value, options) {
  const [truncator, call] = split(options);
  return truncator.result(value, call);
}

module.exports = { CONTEXT, OffcutTransform, Truncator, asTruncator, cut, cutSync, result };
