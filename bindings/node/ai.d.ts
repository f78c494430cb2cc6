import type { Truncator, TruncatorOptions } from './index.js';

/**
 * Returns a copy of the tool whose output is bounded for the model. The application gets the output as it is, except for a
 * text of a tool without `toModelOutput` and `outputSchema`: that is bounded for both.
 */
export declare function boundTool<T>(tool: T, options?: { name?: string; truncator?: Truncator | TruncatorOptions }): T;
/** The same for an object of tools. */
export declare function boundTools<T extends Record<string, unknown>>(tools: T, truncator?: Truncator | TruncatorOptions): T;
