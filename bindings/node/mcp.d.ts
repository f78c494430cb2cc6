import type { Truncator, TruncatorOptions } from './index.js';

/** The same client, whose tool results are bounded. */
export declare function boundClient<T extends { callTool: (...inputs: any[]) => Promise<any> }>(
  client: T,
  truncator?: Truncator | TruncatorOptions,
): T;
/** The same handler for `server.registerTool`, whose result is bounded. */
export declare function boundHandler<T extends (...inputs: any[]) => any>(
  name: string,
  handler: T,
  truncator?: Truncator | TruncatorOptions,
): T;
