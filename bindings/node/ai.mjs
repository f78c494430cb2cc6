import ai from './lib/ai.js';

export const { boundTool, boundTools } = ai;
