'use strict';
// Values on their way to the library: what it cannot be given is told here, in the language's own terms.

function checkOutput(output) {
  if (typeof output !== 'string' && !(output instanceof Uint8Array)) {
    const kind = output === null ? 'null' : typeof output;
    throw new TypeError(`the output must be a string or a Buffer, not ${kind}`);
  }
  return typeof output === 'string' || Buffer.isBuffer(output)
    ? output
    : Buffer.from(output.buffer, output.byteOffset, output.byteLength);
}

function checkName(name, value) {
  if (value != null && typeof value !== 'string') throw new TypeError(`${name} must be a string, not ${typeof value}`);
  return value;
}

/** Options as JSON. A limit that is not finite is none; what is no number at all must not vanish. */
function describe(options) {
  return JSON.stringify(options, (_, value) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    return value === Infinity ? Number.MAX_SAFE_INTEGER : String(value);
  });
}

/** A call as the library takes it. */
function nativeCall(call, given) {
  if (call === undefined && given === undefined) return undefined;
  const { tool, callId, session, ...options } = call ?? {};
  checkName('tool', tool);
  checkName('callId', callId);
  checkName('session', session);
  for (const name in given) options[name] = given[name];
  for (const name in options) return { tool, callId, session, options: describe(options) };
  return { tool, callId, session };
}

/** What somebody threw, in words: anything can be thrown. */
function reason(thrown) {
  try {
    return String(thrown?.message ?? thrown);
  } catch {
    return 'something that has no words';
  }
}

module.exports = { checkName, checkOutput, describe, nativeCall, reason };
