'use strict';
const { Transform } = require('node:stream');
const { Cut } = require('./cut.js');
const { boundError } = require('./errors.js');
const { ask, runLater, runNow, work } = require('./flow.js');
const native = require('./native.js');
const { Store } = require('./store.js');
const { checkOutput, describe, nativeCall, reason } = require('./values.js');

// Texts are encoded in slices, into one buffer that stays in the processor's cache: several times faster than all at once.
const SLICE = 256 * 1024;
const scratch = Buffer.allocUnsafeSlow(3 * SLICE);

/** The key of the context that a custom store gets instead of the usual one. */
const CONTEXT = Symbol('context');

/** The key of a strategy that gets every text and its settings: it returns what to show, or null for a text that passes. */
const DECIDE_AND_CUT = Symbol('decideAndCut');

/** Encodes a text slice by slice; `take` consumes each slice before the next is encoded. */
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
  #decideAndCut;
  #decide;
  #onEvent;
  #plain;

  constructor(options) {
    if (options != null && typeof options !== 'object') throw new TypeError(`options are an object, not ${typeof options}`);
    const { store, strategy, decide, onEvent, [DECIDE_AND_CUT]: decideAndCut, ...rest } = options ?? {};
    this.#store = typeof store?.save === 'function' ? store : undefined;
    this.#strategy = typeof strategy === 'function' ? strategy : undefined;
    this.#decideAndCut = decideAndCut;
    this.#decide = decide;
    this.#onEvent = onEvent;
    this.#plain = !this.#store && !this.#strategy && !decideAndCut && !onEvent && !decide;
    const described = {
      ...rest,
      store: this.#store ? undefined : storeName(store),
      strategy: this.#strategy ? undefined : strategy,
      foreign_store: this.#store !== undefined,
      foreign_strategy: decideAndCut ? 'decision' : this.#strategy && 'text',
      events: onEvent !== undefined,
    };
    this.#engine = new native.Engine(describe(described));
  }

  get profile() {
    return this.#engine.profile;
  }

  /** Bounds an output on another thread. Do not change or transfer a Buffer until the promise settles. */
  async cut(output, call) {
    return runLater(this.#cutSteps(checkOutput(output), call));
  }

  /** Bounds an output synchronously. */
  cutSync(output, call) {
    output = checkOutput(output);
    if (this.#plain) {
      const reply = this.#cutNow(output, nativeCall(call));
      return reply ? new Cut(reply.content, reply.report) : new Cut(output);
    }
    return runNow(this.#cutSteps(output, call));
  }

  /** Bounds the text in a tool result of any known shape; a result that does not change is the same object. */
  async result(value, call) {
    return (await runLater(this.#resultSteps(value, call))).value;
  }

  resultSync(value, call) {
    return runNow(this.#resultSteps(value, call)).value;
  }

  /** Bounds a tool result and reports what was done. */
  async judge(value, call) {
    return runLater(this.#resultSteps(value, call));
  }

  /** Bounds what a tool returned: text is cut, results are bounded, other objects are cut as text if too long as JSON. */
  async bound(value, call) {
    if (typeof value === 'string' || value instanceof Uint8Array) return (await this.cut(value, call)).content;
    if (value === null || typeof value !== 'object') return value;
    let json;
    try {
      json = JSON.stringify(value);
    } catch {
      // The tool has done its work: a value that JSON cannot represent must not lose its result.
    }
    if (json === undefined) return value;
    const decided = this.#withDecision(value, call);
    const judged = await runLater(this.#resultJsonSteps(value, json, decided));
    if (judged.results.length > 0) return judged.value;
    const cut = await runLater(this.#cutTextSteps(json, decided));
    return cut.truncated ? cut.content : value;
  }

  /** Returns a tool function whose result is bounded. */
  tool(execute, call = {}) {
    const truncator = this;
    const named = { tool: execute.name || undefined, ...call };
    return async function bounded(...inputs) {
      let output;
      try {
        output = await execute.apply(this, inputs);
      } catch (error) {
        throw await boundError(truncator, error, named);
      }
      return truncator.bound(output, named);
    };
  }

  /** Removes the stored outputs whose retention has ended, and returns how many. */
  async cleanup() {
    return this.#engine.cleanup();
  }

  /** Returns a stream: an output in, its preview out. */
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
    // Memory that is resizable or shared must not be read on another thread.
    const isFixed = typeof output !== 'string' && output.buffer instanceof ArrayBuffer && !output.buffer.resizable;
    if (typeof output !== 'string') return this.#engine.cut(isFixed ? output : Buffer.from(output), call);
    const text = new native.Text(output.length);
    encode(output, (bytes, length) => text.push(bytes, length));
    return this.#engine.cut(text, call);
  }

  #cutSteps(output, call) {
    return this.#cutTextSteps(output, this.#withDecision(output, call));
  }

  *#cutTextSteps(output, call) {
    const round = (given) => {
      const described = nativeCall(call, given);
      return work(
        () => this.#cutNow(output, described),
        () => this.#cutLater(output, described),
      );
    };
    let reply = yield round();
    if (reply?.saves) {
      reply = yield round(yield* this.askCaller(reply.saves.length ? [output] : [], reply.report, call));
    }
    return this.asCut(reply, output);
  }

  #resultSteps(value, call) {
    const json = typeof value === 'string' ? value : JSON.stringify(value);
    if (json === undefined) throw new TypeError(`a result is an object, an array or JSON text, not ${typeof value}`);
    return this.#resultJsonSteps(value, json, this.#withDecision(value, call));
  }

  *#resultJsonSteps(value, json, call) {
    const run = (described) => work(() => this.#engine.resultSync(json, described), () => this.#engine.result(json, described));
    const reply = yield* this.#replySteps(run, call);
    const changed = typeof reply.json === 'string';
    return {
      value: changed ? (typeof value === 'string' ? reply.json : JSON.parse(reply.json)) : value,
      results: JSON.parse(reply.results),
    };
  }

  /** Shortens data so that it still matches its JSON schema, and reports where all of it is. */
  async shortenData(value, schema, call) {
    const [json, described] = [JSON.stringify(value), schema && JSON.stringify(schema)];
    const run = (used) => work(undefined, () => this.#engine.value(json, described, used));
    const reply = await runLater(this.#replySteps(run, this.#withDecision(value, call)));
    const changed = typeof reply.json === 'string';
    return { value: changed ? JSON.parse(reply.json) : value, report: JSON.parse(reply.report) };
  }

  /** Runs the engine, and again after the caller's own store or strategy has acted. */
  *#replySteps(run, call) {
    let reply = yield run(nativeCall(call));
    if (reply.saves) {
      const texts = reply.saves.map((save) => save.toString());
      reply = yield run(nativeCall(call, yield* this.askCaller(texts, reply.report, call)));
    }
    this.emitEvents(reply.report);
    return reply;
  }

  /** Calls the caller's own store and strategy; the store first, so that nothing is lost if the strategy fails. */
  *askCaller(saves, report, call) {
    if (this.#decideAndCut) return yield* this.#decideAndSave(saves, report, call);
    const given = yield* this.saveOutputs(saves, call);
    return { ...given, ...(yield* this.runStrategy(report)) };
  }

  /** This strategy handles its own errors. What it lets pass is not saved. */
  *#decideAndSave(saves, report, call) {
    const made = [];
    for (const { text, config } of JSON.parse(report).wanted) {
      made.push(yield ask(() => this.#decideAndCut(text, config, call)));
    }
    const cut = saves.filter((_, index) => made[index] !== null);
    return { made, ...(yield* this.saveOutputs(cut, call)) };
  }

  *saveOutputs(saves, call) {
    if (!this.#store) return {};
    const { tool, callId, session, messageId } = call ?? {};
    const context = call?.[CONTEXT] ?? { tool, callId, session, messageId };
    const saved = [];
    for (const content of saves) {
      try {
        const place = yield ask(() => this.#store.save(content, context));
        saved.push(place == null ? { error: 'the store returned no path' } : { path: String(place) });
      } catch (error) {
        // A failing store never loses the preview: the notice reports the error.
        saved.push({ error: reason(error) });
      }
    }
    return { saved };
  }

  *runStrategy(report) {
    if (!this.#strategy) return {};
    const made = [];
    for (const { text, limits } of JSON.parse(report).wanted) {
      const shown = yield ask(() => this.#strategy(text, limits));
      if (typeof shown !== 'string') throw new TypeError(`the strategy must return a string, not ${typeof shown}`);
      made.push(shown);
    }
    return { made };
  }

  asCut(reply, output) {
    if (!reply) return new Cut(output);
    this.emitEvents(reply.report);
    return reply.content == null ? new Cut(output) : new Cut(reply.content, reply.report);
  }

  emitEvents(report) {
    if (this.#onEvent && report) for (const event of JSON.parse(report).events) this.#onEvent(event);
  }

  spool(call) {
    return this.#engine.spool(nativeCall(call));
  }

  /** Finishes a spool, calling the caller's own store and strategy if there are any. */
  *finishSteps(spool, call, ending) {
    const finish = (given) => {
      const options = given && describe(given);
      return work(undefined, () => spool.finish({ ...ending, whole: true, options }));
    };
    let reply = yield finish();
    let failed;
    if (reply?.saves) {
      const given = yield* this.saveOutputs(ending.text ? reply.saves.map(String) : reply.saves, call);
      try {
        Object.assign(given, yield* this.runStrategy(reply.report));
      } catch (error) {
        // The exception would lose the output, so it is stored first and cut without the strategy.
        failed = { error };
        given.made = JSON.parse(reply.report).wanted.map(() => '');
      }
      const { tool, callId, session, messageId, ...options } = call ?? {};
      reply = yield finish({ ...options, ...given });
    }
    if (reply.report) this.emitEvents(reply.report);
    if (failed) throw failed.error;
    return new Cut(reply.content, reply.report ?? undefined);
  }

  #withDecision(value, call) {
    if (!this.#decide) return call;
    const decision = this.#decide(call?.tool, value);
    if (decision !== null && typeof decision === 'object') return { ...call, ...decision };
    return decision ? call : { ...call, skip: true };
  }
}

/**
 * A stream: an output in, its preview out. `cut` is set from the event `cut` on. If the stream is destroyed, what came until
 * then is stored.
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
    // An exception in a listener must not reject this promise.
    const next = (...results) => process.nextTick(done, ...results);
    shown.then((content) => next(null, content), next);
  }

  _destroy(error, done) {
    const end = () => done(error);
    this.#finish().then(end, end);
  }

  /** Finishes once, whether the stream ends or is destroyed. */
  #finish() {
    this.#end ??= this.#finishSpool();
    return this.#end;
  }

  async #finishSpool() {
    // A process that was ended by a signal has no exit code.
    const exitCode = Number.isInteger(this.exitCode) ? this.exitCode : undefined;
    const remark = this.remark == null ? undefined : String(this.remark);
    this.cut = await runLater(this.#truncator.finishSteps(this.#spool, this.#call, { exitCode, remark }));
    return this.cut;
  }
}

/** Returns a truncator, made from options if necessary. */
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

/** Bounds an output on another thread. */
async function cut(output, options) {
  const [truncator, call] = split(options);
  return truncator.cut(output, call);
}

/** Bounds an output synchronously. */
function cutSync(output, options) {
  const [truncator, call] = split(options);
  return truncator.cutSync(output, call);
}

/** Bounds the text in a tool result of any known shape. */
async function result(value, options) {
  const [truncator, call] = split(options);
  return truncator.result(value, call);
}

module.exports = { CONTEXT, DECIDE_AND_CUT, OffcutTransform, Truncator, asTruncator, cut, cutSync, result };
