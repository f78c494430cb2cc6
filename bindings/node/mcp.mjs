import mcp from './lib/mcp.js';

export const { boundClient, boundHandler } = mcp;
