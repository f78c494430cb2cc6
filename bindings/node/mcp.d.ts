import type { Truncator, TruncatorOptions } from './index.js';

/** Bounds the tool results of a client, and returns it. */
export declare function boundClient<T extends { callTool: (...inputs: any[]) => Promise<any> }>(
  client: T,
  truncator?: Truncator | TruncatorOptions,
): T;
/**
 * Bounds the results of a handler for `server.registerTool`. Structured content has to match the schema of the tool, so it is
 * bounded only if the JSON schema is given.
 */
export declare function boundHandler<T extends (...inputs: any[]) => any>(
  name: string,
  handler: T,
  truncator?: Truncator | TruncatorOptions,
  options?: { outputSchema?: object },
): T;
