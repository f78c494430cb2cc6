'use strict';
try {
  module.exports = require('../offcut.node');
} catch (error) {
  error.message = `cannot load offcut's native library: run \`npm run build\` in the folder of the package offcut. ${error.message}`;
  throw error;
}
