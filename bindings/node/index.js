'use strict';
const native = require('./lib/native.js');
const { Cut } = require('./lib/cut.js');
const { OffcutTransform, Truncator, cut, cutSync, result } = require('./lib/truncator.js');
const { Store } = require('./lib/store.js');
const codingAgent = require('./lib/coding-agent.js');
const { Truncate, truncationPlugin } = require('./lib/opencode.js');

module.exports = {
  version: native.version(),
  Cut,
  OffcutTransform,
  Store,
  Truncator,
  cut,
  cutSync,
  result,
  Truncate,
  truncationPlugin,
  ...codingAgent,
};
