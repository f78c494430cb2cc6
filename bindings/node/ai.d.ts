import type { Truncator, TruncatorOptions } from './index.js';

/** The same tool with its output bounded. */
export declare function boundTool<T>(tool: T, options?: { name?: string; truncator?: Truncator | TruncatorOptions }): T;
/** The same tools, by their names. */
export declare function boundTools<T extends Record<string, unknown>>(tools: T, truncator?: Truncator | TruncatorOptions): T;
