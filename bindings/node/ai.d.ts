import type { Truncator, TruncatorOptions } from './index.js';

/** Returns a copy of the tool whose output is bounded. */
export declare function boundTool<T>(tool: T, options?: { name?: string; truncator?: Truncator | TruncatorOptions }): T;
/** The same for an object of tools. */
export declare function boundTools<T extends Record<string, unknown>>(tools: T, truncator?: Truncator | TruncatorOptions): T;
