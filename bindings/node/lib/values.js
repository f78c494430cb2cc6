'use strict';
// Checks values before they go to the native library, so that errors are those of JavaScript.

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

/** Options as JSON. Infinity means no limit; NaN must not disappear silently. */
function describe(options) {
  return JSON.stringify(options, (_, value) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    return value === Infinity ? Number.MAX_SAFE_INTEGER : String(value);
  });
}

/** A call in the form that the native library expects. */
function nativeCall(call, given) {
  if (call === undefined && given === undefined) return undefined;
  const { tool, callId, session, messageId, ...options } = call ?? {};
  const context = { tool, callId, session, messageId };
  for (const name in context) checkName(name, context[name]);
  for (const name in given) options[name] = given[name];
  for (const name in options) return { ...context, options: describe(options) };
  return context;
}

/** The message of a thrown value, which can be anything. */
function reason(thrown) {
  try {
    return String(thrown?.message ?? thrown);
  } catch {
    return 'an error without a message';
  }
}

module.exports = { checkName, checkOutput, describe, nativeCall, reason };
