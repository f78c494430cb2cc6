import type { Truncator, TruncatorOptions } from './index.js';

/** Bounds the tool results of a client, and returns it. */
export declare function boundClient<T extends { callTool: (...inputs: any[]) => Promise<any> }>(
  client: T,
  truncator?: Truncator | TruncatorOptions,
): T;
/** Bounds the texts of a handler for `server.registerTool`; structured content stays, because it has to match a schema. */
export declare function boundHandler<T extends (...inputs: any[]) => any>(
  name: string,
  handler: T,
  truncator?: Truncator | TruncatorOptions,
): T;
