'use strict';

/** Returns what a tool threw with a message within the limits. Its type, cause and other properties stay. */
async function boundError(truncator, thrown, call) {
  const isError = thrown instanceof Error;
  if (!isError && typeof thrown !== 'string') return truncator.bound(thrown, call);
  const { content, truncated } = await truncator.cut(isError ? String(thrown.message) : thrown, call);
  if (!truncated) return thrown;
  // The error itself stays as it is for those who have it.
  const message = { value: content, writable: true, configurable: true };
  return isError ? Object.create(thrown, { message }) : content;
}

module.exports = { boundError };
