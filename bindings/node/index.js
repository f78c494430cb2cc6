'use strict';
// Exported one by one, so that `import { cut } from 'offcut'` finds the same names as `require`.
const codingAgent = require('./lib/coding-agent.js');
const opencode = require('./lib/opencode.js');
const truncator = require('./lib/truncator.js');

exports.version = require('./lib/native.js').version();
exports.Cut = require('./lib/cut.js').Cut;
exports.Store = require('./lib/store.js').Store;
exports.OffcutTransform = truncator.OffcutTransform;
exports.Truncator = truncator.Truncator;
exports.cut = truncator.cut;
exports.cutSync = truncator.cutSync;
exports.result = truncator.result;
exports.BaseTruncationStrategy = codingAgent.BaseTruncationStrategy;
exports.DEFAULT_TRUNCATION_CONFIG = codingAgent.DEFAULT_TRUNCATION_CONFIG;
exports.DefaultTruncationStrategy = codingAgent.DefaultTruncationStrategy;
exports.TOOL_TRUNCATION_CONFIGS = codingAgent.TOOL_TRUNCATION_CONFIGS;
exports.TruncationService = codingAgent.TruncationService;
exports.TruncationStorage = codingAgent.TruncationStorage;
exports.createTruncationMiddleware = codingAgent.createTruncationMiddleware;
exports.Truncate = opencode.Truncate;
exports.createTruncate = opencode.createTruncate;
exports.createTruncationPlugin = opencode.createTruncationPlugin;
exports.renderTruncationInfo = opencode.renderTruncationInfo;
exports.truncationPlugin = opencode.truncationPlugin;
