'use strict';
// One implementation for synchronous and asynchronous callers: a flow is a generator of steps. `work` runs in the engine;
// `ask` calls the caller's own store or strategy, which may return a promise.

const work = (now, later) => ({ now, later });
const ask = (question) => ({ question });

function isPromise(value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function';
}

function runNow(flow) {
  let step = flow.next();
  while (!step.done) {
    let answer;
    try {
      const { now, question } = step.value;
      answer = now ? now() : question();
      if (isPromise(answer)) {
        answer.then(undefined, () => {});
        throw new TypeError('the store or strategy is asynchronous: call the asynchronous method instead');
      }
    } catch (error) {
      step = flow.throw(error);
      continue;
    }
    step = flow.next(answer);
  }
  return step.value;
}

async function runLater(flow) {
  let step = flow.next();
  while (!step.done) {
    let answer;
    try {
      const { later, question } = step.value;
      answer = await (later ? later() : question());
    } catch (error) {
      step = flow.throw(error);
      continue;
    }
    step = flow.next(answer);
  }
  return step.value;
}

module.exports = { ask, runLater, runNow, work };
