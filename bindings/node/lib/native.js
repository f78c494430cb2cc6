'use strict';
try {
  module.exports = require('../offcut.node');
} catch (error) {
  error.message = `offcut's library is not built, or not for this system: run \`npm run build\` in its folder. ${error.message}`;
  throw error;
}
